/** One command in one prepared world, killed at one point after the other, and what became of the run each time. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostProcess } from "../support/host-process.ts";
import { type Plugin, type Session, sit } from "../support/scripted-run.ts";
import { type CrashWorld, crashWorld, formOf, keepWorld, makeFresh, restoreWorld } from "./crash-world.ts";
import { differences, type EndState, endStateOf } from "./end-state.ts";
import { gitKillsAt } from "./git-shim.ts";
import { type Ended, runVictim, underHost } from "./kill.ts";
import { type Blow, blowAt, type Point, weaponsOf } from "./point.ts";
import { processesOf, whenStill } from "./processes.ts";
import { type Accepted, acceptedOf, lostLines, readRuns } from "./read-runs.ts";
import { recover } from "./recovery.ts";
import type { Scenario, Victim } from "./scenario.ts";
import { countedIn, countsOf } from "./strace.ts";
import { performerKilledAt, tracedPlugin, wasKilled } from "./traced-performer.ts";

/** Who goes on after the kill. */
export type Resumer = "same owner" | "new owner";

export interface Site {
  readonly scenario: Scenario;
  readonly resumer: Resumer;
  /** What the victim does when nobody kills it; what it reads of the machine differs from run to run. */
  readonly counts: {
    readonly own: ReadonlyMap<string, number>;
    readonly performer: ReadonlyMap<string, number>;
    readonly git: number;
  };
  try(point: Point): Promise<Tried>;
}

export interface Tried {
  /** False: the victim was over before that point. */
  readonly killed: boolean;
  /** The world had the form of one from which the run was driven to its end already: nothing new to try. */
  readonly known: boolean;
  readonly faults: readonly string[];
}

interface Struck {
  readonly ended: Ended;
  readonly victim: Victim;
  /** Lines that stood when the victim was typed. */
  readonly told: Accepted;
}

const prepared = "prepared";

/** Prepares the world once and runs the victim unkilled. Throws where that alone is not as it should be. */
export async function openSite(plugin: Plugin, base: string, scenario: Scenario, resumer: Resumer): Promise<Site> {
  const weapons = weaponsOf(scenario.name);
  const world = crashWorld(weapons.includes("performer") ? traced(plugin, base) : plugin, base);
  makeFresh(world);
  const isOwnerGone = resumer === "new owner" || scenario.ownerGone === true;
  const prepare = (session: Session): Promise<Victim> => scenario.prepare(world, session);
  const victim = isOwnerGone ? await underHost((host) => prepare(sit(world, { host }))) : await prepare(sit(world));
  keepWorld(world, prepared);
  const performerTrace = join(base, "performer-trace");
  const approach = resumer === "new owner" ? scenario.approach : undefined;
  const isNewHost = resumer === "new owner";

  async function strike(blow: Blow): Promise<Struck> {
    restoreWorld(world, prepared);
    const hit = async (host: HostProcess | null): Promise<Struck> => {
      const typed =
        approach === undefined ? victim : await approach(world, sit(world, host === null ? {} : { host }), victim);
      const told = acceptedOf(readRuns(world));
      const ended = await runVictim({ world, victim: typed, host, ...blow });
      return { ended, victim: typed, told };
    };
    return isNewHost ? await underHost(hit) : await hit(null);
  }

  /** Worlds from which the run was driven to its end, by their form and by how far the recovery was. */
  const driven = new Set<string>();

  /** Drives the run to its end and notes on the way; null: from one of these worlds on everything is known. */
  async function goOn(from: Victim, way: Way): Promise<EndState | null> {
    const isKnown = (after: string): boolean => {
      const form = formNow(world, after);
      if (form !== null && driven.has(form)) return true;
      if (form !== null) way.forms.push(form);
      return false;
    };
    const told = { world, session: sit(world), scenario, victim: from, isNewHost, isKnown };
    return (await recover(told)) ? endStateOf(world) : null;
  }

  function checkStruck({ ended, told }: Struck): void {
    const lost = lostLines(told, acceptedOf(whenStill(() => readRuns(world))));
    if (lost.length > 0) throw new Error(lost.join("; "));
    checkPrinted(world, ended);
  }

  const trace = join(base, "trace");
  const uncut = await strike({
    before: countedIn(trace),
    env: {
      ...(weapons.includes("performer") ? performerKilledAt(performerTrace, null) : {}),
      ...gitKillsAt(base, { when: "before", at: 0 }),
    },
  });
  const { code, stdout, stderr } = uncut.ended;
  if (code !== 0) throw new Error(`${scenario.name}, unkilled: ${stdout}${stderr}`);
  const counts = {
    own: countsOf(trace),
    performer: weapons.includes("performer") ? countsOf(performerTrace) : new Map<string, number>(),
    git: Number(readFileSync(join(base, "git-calls"), "utf8")),
  };
  if (counts.git > 0 && !weapons.includes("git call")) throw new Error(`${scenario.name}: it calls git`);
  checkStruck(uncut);
  const way: Way = { forms: [] };
  const whole = (await goOn(uncut.victim, way)) as EndState;
  // Three critics may be out when their owner dies.
  const allowed = {
    wastedMax: (isOwnerGone ? 3 : 0) + (scenario.wastedMax ?? 0),
    extraCommandRuns: 0,
    isWordLost: scenario.isWordLost === true,
  };
  /** What is wrong with the end; where nothing is, the way to it is known from now on. */
  const judge = (end: EndState, { forms }: Way, extraCommandRuns: number): readonly string[] => {
    const faults = differences(whole, end, { ...allowed, extraCommandRuns });
    if (faults.length === 0) for (const form of forms) driven.add(form);
    return faults;
  };
  const demand = (what: string, end: EndState, on: Way): void => {
    const found = judge(end, on, 0);
    if (found.length > 0) throw new Error(`${scenario.name}, ${what}: ${found.join("; ")}`);
  };
  demand("unkilled", whole, way);
  if (scenario.hasHalfWork === true && whole.halfWorks === 0) throw new Error(`${scenario.name}: half work is lost`);
  if (approach === undefined) {
    restoreWorld(world, prepared);
    const untyped: Way = { forms: [formOf(world.folder)] };
    const end = await goOn(victim, untyped);
    if (end !== null) demand("never typed", end, untyped);
  }

  return {
    scenario,
    resumer,
    counts,
    async try(point) {
      try {
        const struck = await strike(blowAt(point, base, performerTrace));
        const killed = point.weapon === "performer" ? wasKilled(performerTrace) : struck.ended.killed;
        if (!killed) return { killed, known: false, faults: [] };
        checkStruck(struck);
        const form = formNow(world);
        if (form !== null && driven.has(form)) return { killed, known: true, faults: [] };
        const on: Way = { forms: form === null ? [] : [form] };
        const extraCommandRuns = point.weapon === "performer" && !hasCommandResult(world) ? 1 : 0;
        const end = await goOn(struck.victim, on);
        if (end === null) return { killed, known: true, faults: [] };
        return { killed, known: false, faults: judge(end, on, extraCommandRuns) };
      } catch (error) {
        return { killed: true, known: false, faults: [error instanceof Error ? error.message : String(error)] };
      }
    },
  };
}

/** Forms the world had on the way to an end. */
interface Way {
  readonly forms: string[];
}

/** null: as long as something still works there, the world has no form. */
function formNow(world: CrashWorld, after = ""): string | null {
  return processesOf(world).length === 0 ? after + whenStill(() => formOf(world.folder)) : null;
}

function traced(plugin: Plugin, base: string): Plugin {
  const root = join(base, "traced");
  return existsSync(root) ? { ...plugin, root, cli: join(root, "dist", "atlas.cjs") } : tracedPlugin(plugin, root);
}

/** A frozen command has ended and its end is on disk: it must not run again. */
function hasCommandResult(world: CrashWorld): boolean {
  const of = ({ folder }: { readonly folder: string }): readonly string[] =>
    readdirSync(join(folder, "artifacts"), { recursive: true, encoding: "utf8" });
  return readRuns(world).some((run) => of(run).some((path) => /[/\\]e[^/\\]+\.result\.json$/.test(path)));
}

/** What a killed command had printed whole stands in the ledger: its claim, and every lease it handed out. */
function checkPrinted(world: CrashWorld, { stdout }: Ended): void {
  let said: { readonly claim?: string; readonly next?: { readonly agents?: readonly { readonly lease: string }[] } };
  try {
    said = JSON.parse(stdout);
  } catch {
    return;
  }
  const runs = readRuns(world);
  const sum = said.claim?.split(".")[1];
  if (sum !== undefined && !runs.some((run) => run.lines.some((line) => line.sum.startsWith(sum)))) {
    throw new Error(`the printed claim ${said.claim} is in no ledger`);
  }
  for (const { lease } of said.next?.agents ?? []) {
    const isLeased = runs.some((run) => run.events.some((event) => event.type === "leased" && event.lease === lease));
    if (!isLeased) throw new Error(`the printed lease ${lease} is in no ledger`);
  }
}
