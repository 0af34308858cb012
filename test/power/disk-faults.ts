/** Fails one call of the product's file system as a disk or a limit does, and says what of it could not be gone on from. */
import { EnvironmentFailure, UsageError } from "../../scripts/core/result.ts";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import { type Call, faultyFileSystem } from "../support/faulty-fs.ts";
import { type Acknowledged, acknowledge, lossesOf, recoveryFaults } from "./power-check.ts";
import type { Scenario } from "./power-cut.ts";
import { freshDisk, type Machine, machine } from "./power-world.ts";

/** What each error is told as. */
export const toldAs: Readonly<Record<string, RegExp>> = {
  ENOSPC: /^disk\.(full|unsynced)$/,
  EIO: /^disk\.(io|unsynced)$/,
  EMFILE: /^disk\.(limit|unsynced)$/,
  EROFS: /^disk\.(readonly|unsynced)$/,
  EACCES: /^(disk\.permission|disk\.other|ledger\.\w+|artifact\.changed)$/,
  EINTR: /^$/,
};

export interface DiskFault {
  readonly errno: string;
  /** From 0, over all calls of the product in the scenario. */
  readonly nth: number;
  /** Until the command has ended; else once. */
  readonly lasting: boolean;
}

const reading = ["readSync", "fstatSync", "lstatSync", "statSync", "readdirSync", "realpathSync"];
/** Calls that a signal can end under node: it begins all others again by itself. */
const interruptible: ReadonlySet<string> = new Set(["readSync", "writeSync"]);
/** An open that asks for room: of a new file, or to write. */
const writingOpen = /\/(\.tmp-[0-9a-f]{12}|log\.jsonl|observed\.jsonl)$/;

export function isPossible(fault: DiskFault, { name, path }: Pick<Call, "name" | "path">): boolean {
  if (name === "closeSync") return false;
  switch (fault.errno) {
    case "EINTR":
      return interruptible.has(name);
    case "EMFILE":
      return name === "openSync";
    case "EACCES":
      return !["readSync", "writeSync", "fsyncSync", "fstatSync", "ftruncateSync"].includes(name);
    case "EIO":
      return true;
    default:
      return name === "openSync" ? writingOpen.test(path) : !reading.includes(name);
  }
}

/** Every call of the product in a scenario that nothing goes wrong in. */
export async function callsOf(scenario: Scenario): Promise<readonly Call[]> {
  const disk = freshDisk(scenario.git);
  await scenario.prepare?.(disk);
  const fs = faultyFileSystem(disk.fs, () => null);
  await scenario.act((host) => machine(disk, { boot: 1, host }, fs));
  return fs.calls;
}

/** Plays the scenario with the fault until a command fails, then without it: what is wrong. */
export async function faultsWith(scenario: Scenario, fault: DiskFault): Promise<readonly string[]> {
  const disk = freshDisk(scenario.git);
  await scenario.prepare?.(disk);
  let isHealed = false;
  const fs = faultyFileSystem(disk.fs, ({ name, path, nth }) => {
    const isMeant = fault.lasting ? nth >= fault.nth : nth === fault.nth;
    return isMeant && !isHealed && isPossible(fault, { name, path }) ? { errno: fault.errno } : null;
  });
  let told: Acknowledged = acknowledge(disk);
  let host = 1;
  const sit = (at: number): Machine => {
    host = at;
    const on = machine(disk, { boot: 1, host: at }, fs as FileSystem);
    return {
      ...on,
      async run(...words) {
        try {
          const outcome = await on.run(...words);
          if (outcome.exit === 0) told = { ...acknowledge(disk), files: told.files };
          return outcome;
        } finally {
          if (fs.calls.length > fault.nth) isHealed = true;
        }
      },
      hook(event, payload) {
        // A hook fails open: what it could not write is lost, and nobody was told otherwise.
        try {
          on.hook(event, payload);
        } catch {}
        if (fs.calls.length > fault.nth) isHealed = true;
      },
    };
  };
  const found: string[] = [];
  try {
    await scenario.act(sit);
  } catch (error) {
    found.push(...wordsFaults(error, fault));
  }
  isHealed = true;
  found.push(...lossesOf(disk.afterPowerLoss(), disk, told));
  found.push(...(await recoveryFaults(disk, { boot: 1, host, seed: "later" }, true)));
  return found;
}

/** A failure says which disk or limit, where, and what to do; a refusal says so too. */
function wordsFaults(error: unknown, fault: DiskFault): readonly string[] {
  if (error instanceof Error && error.message.startsWith("refused: ")) return [];
  // A file the caller named and may not read is the caller's to mend.
  if (error instanceof UsageError && error.code === "usage.file" && fault.errno === "EACCES") return [];
  if (!(error instanceof EnvironmentFailure)) {
    return [
      `no failure of the environment but ${error instanceof Error ? (error.stack ?? "").split("\n").slice(0, 4).join(" | ") : error}`,
    ];
  }
  const found: string[] = [];
  if (!(toldAs[fault.errno] as RegExp).test(error.code)) found.push(`${fault.errno} is told as ${error.code}`);
  if (!/(^|[ (])\/\S/.test(error.message)) found.push(`no place in "${error.message}"`);
  if (error.fix === "") found.push("no way out");
  return found;
}
