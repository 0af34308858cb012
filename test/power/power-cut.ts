/** Cuts the power behind every change of the disk that a script makes, and says what of it could not be mended. */
import type { FileSystem } from "../../scripts/platform/fs.ts";
import { type Luck, NO_LUCK } from "../support/disk-nodes.ts";
import type { MemoryDisk } from "../support/memory-disk.ts";
import { type Acknowledged, acknowledge, fingerprint, lossesOf, NOTHING, recoveryFaults } from "./power-check.ts";
import { freshDisk, type Machine, machine } from "./power-world.ts";

export interface Scenario {
  readonly name: string;
  readonly git: boolean;
  /** Changes a fresh disk before the power may go; durable. */
  readonly prepare?: (disk: MemoryDisk) => Promise<void>;
  /** `sit(n)`: the n-th host of this boot; every earlier one is gone by then. */
  readonly act: (sit: (host: number) => Machine) => Promise<void>;
}

/** The disk behind the n-th change, and what had been told by then. */
export interface Image {
  readonly nth: number;
  readonly call: string;
  readonly disk: MemoryDisk;
  readonly told: Acknowledged;
}

const changing: readonly (keyof FileSystem)[] = [
  "openSync",
  "writeSync",
  "fsyncSync",
  "ftruncateSync",
  "mkdirSync",
  "renameSync",
  "unlinkSync",
  "rmdirSync",
  "linkSync",
];

/** `disk`, telling of each change; opening counts where it made a file. */
function watched(disk: MemoryDisk, changed: (call: string) => void): MemoryDisk {
  const doors = changing.map((name) => [
    name,
    (...args: readonly unknown[]): unknown => {
      const path = String(args[0]);
      const isOld = name === "openSync" && disk.text(path) !== null;
      const value = (disk.fs[name] as (...all: readonly unknown[]) => unknown)(...args);
      const isFolder = name === "openSync" && disk.text(path) === null;
      if (!isOld && !isFolder) changed(`${name} ${path}`);
      return value;
    },
  ]);
  return { ...disk, fs: { ...disk.fs, ...(Object.fromEntries(doors) as Partial<FileSystem>) } };
}

/** What the product writes through; `now` counts the changes so far. */
export type Product = (fs: FileSystem, now: () => number) => FileSystem;
const plain: Product = (fs) => fs;

/** Plays a scenario and keeps the images `wanted` asks for; gives how many changes there were. */
export async function play(
  scenario: Scenario,
  wanted: (nth: number) => boolean,
  product: Product = plain,
): Promise<{ readonly images: readonly Image[]; readonly changes: number }> {
  const base = freshDisk(scenario.git);
  await scenario.prepare?.(base);
  const images: Image[] = [];
  let changes = 0;
  let told: Acknowledged = acknowledge(base);
  const disk = watched(base, (call) => {
    if (wanted(changes)) images.push({ nth: changes, call, disk: base.copy(), told });
    changes += 1;
  });
  const sit = (host: number): Machine => {
    const on = machine(
      disk,
      { boot: 1, host },
      product(disk.fs, () => changes),
    );
    return {
      ...on,
      async run(...words) {
        const outcome = await on.run(...words);
        if (outcome.exit === 0) told = acknowledge(base);
        return outcome;
      },
      hook(event, payload) {
        on.hook(event, payload);
        told = acknowledge(base);
      },
    };
  };
  await scenario.act(sit);
  images.push({ nth: changes, call: "the end", disk: base.copy(), told });
  return { images, changes };
}

export type Random = () => number;

/** Every luck that takes or spares one thing alone, and `more` that a seed draws. */
export function lucksFor(disk: MemoryDisk, more: number, random: Random): readonly Luck[] {
  const all: Luck = { entry: () => true, bytes: (_path, young) => young };
  const paths = disk.young().filter((path) => !/\/(state|snapshot)\.json$/.test(path));
  const singles = paths.flatMap((path): Luck[] => [
    { entry: (other) => other !== path, bytes: all.bytes },
    { entry: () => true, bytes: (other, young) => (other === path ? 0 : young) },
    { entry: () => true, bytes: (other, young) => (other === path ? Math.floor(young / 2) : young) },
    { entry: (other) => other === path, bytes: (other, young) => (other === path ? young : 0) },
  ]);
  const drawn = Array.from({ length: more }, (): Luck => {
    const share = random();
    return {
      entry: () => random() < share,
      bytes: (_path, young) => {
        const draw = random();
        return draw < share / 2 ? young : draw < 0.7 ? Math.floor(random() * (young + 1)) : 0;
      },
    };
  });
  return [NO_LUCK, all, ...singles, ...drawn];
}

export interface Cut {
  readonly lucks: number;
  readonly random: Random;
  /** Look at what is there, resume nothing: many cuts in little time. */
  readonly reads?: true;
  /** Follow each recovered run to its end, not only to its next instruction. */
  readonly whole: boolean;
  /** Also kill first, let another process go on, and cut then. */
  readonly twice: boolean;
  readonly product?: Product;
  /** Stop at the first fault. */
  readonly first?: boolean;
  /** How many lucks a point gets at most; the first ones are the plainest. */
  readonly lucksMax?: number;
}

export interface Swept {
  readonly cuts: number;
  readonly faults: readonly string[];
}

export async function sweep(images: readonly Image[], cut: Cut, seen: Set<string> = new Set()): Promise<Swept> {
  const faults: string[] = [];
  let cuts = 0;
  const judge = async (disk: MemoryDisk, told: Acknowledged, where: string): Promise<void> => {
    const lucks = lucksFor(disk, cut.lucks, cut.random);
    const chosen = cut.lucksMax === undefined ? lucks : sampled(lucks, cut.lucksMax, cut.random);
    for (const luck of chosen) {
      const after = disk.afterPowerLoss(luck);
      const print = `${fingerprint(after)} ${told.files.size} ${[...told.lines.values()].map((sums) => sums.length)}`;
      if (seen.has(print)) continue;
      seen.add(print);
      cuts += 1;
      let found = lossesOf(after, disk, told);
      if (found.length === 0 && cut.reads !== true)
        found = await recoveryFaults(after, { boot: 2, host: 1 }, cut.whole);
      faults.push(...found.map((fault) => `${where}: ${fault}`));
      if (faults.length > 0 && cut.first === true) return;
    }
  };
  for (const image of images) {
    const where = `behind change ${image.nth} (${image.call})`;
    await judge(image.disk, image.told, where);
    if (cut.twice && !(faults.length > 0 && cut.first === true)) {
      const other = await wentOn(image, cut.product ?? plain);
      if (typeof other === "string") faults.push(`killed ${where}: ${other}`);
      else if (other !== null) await judge(other.disk, other.told, `killed ${where}, and another went on`);
    }
    if (faults.length > 0 && cut.first === true) break;
  }
  return { cuts, faults };
}

function sampled<T>(list: readonly T[], count: number, random: Random): readonly T[] {
  const left = [...list];
  const chosen = left.splice(0, 2);
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(Math.floor(random() * left.length), 1));
  return chosen;
}

/** The process is killed there, the machine is not: the next host of the same boot resumes what it finds. */
async function wentOn(image: Image, product: Product): Promise<Pick<Image, "disk" | "told"> | string | null> {
  const disk = image.disk.copy();
  const on = machine(
    disk,
    { boot: 1, host: 50 },
    product(disk.fs, () => 0),
  );
  const before = acknowledge(disk);
  if (before.lines.size === 0) return null;
  try {
    for (const id of before.lines.keys()) await on.run("resume", "--run", id);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return { disk, told: { ...acknowledge(disk), files: image.told === NOTHING ? new Map() : image.told.files } };
}
