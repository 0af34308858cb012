/** One command in one prepared world, killed at one point after the other, and what became of the run each time. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostProcess } from "../support/host-process.ts";
import { type Plugin, type Session, sit } from "../support/scripted-run.ts";
import { type CrashWorld, crashWorld, formOf, keepWorld, makeFresh, restoreWorld } from "./crash-world.ts";
import { differences, type EndState, endStateOf } from "./end-state.ts";
import { gitKillsAt } from "./git-shim.ts";
import { type Ended, runVictim, underHost } from "./kill.ts";
import { type Blow, blowAt, type Point, weaponsOf } from "./point.ts";
import { processesOf } from "./processes.ts";
import { type Accepted, acceptedOf, lostLines, readRuns } from "./read-runs.ts";
import { recover } from "./recovery.ts";
import type { Scenario, Victim } from "./scenarios.ts";
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

  async function goOn(struck: Struck): Promise<EndState> {
    const lost = lostLines(struck.told, acceptedOf(readRuns(world)));
    if (lost.length > 0) throw new Error(lost.join("; "));
    checkPrinted(world, struck.ended);
    await recover({ world, session: sit(world), scenario, victim: struck.victim, isNewHost });
    return endStateOf(world);
  }

  const driven = new Set<string>();
  const trace = join(base, "trace");
  const uncut = await strike({
    before: countedIn(trace),
    env: {
      ...(weapons.includes("performer") ? performerKilledAt(performerTrace, null) : {}),
      ...(weapons.includes("git call") ? gitKillsAt(base, { when: "before", at: 0 }) : {}),
    },
  });
  const { code, stdout, stderr } = uncut.ended;
  if (code !== 0) throw new Error(`${scenario.name}, unkilled: ${stdout}${stderr}`);
  const counts = {
    own: countsOf(trace),
    performer: weapons.includes("performer") ? countsOf(performerTrace) : new Map<string, number>(),
    git: weapons.includes("git call") ? Number(readFileSync(join(base, "git-calls"), "utf8")) : 0,
  };
  const whole = await goOn(uncut);
  // Three critics may be out when their owner dies.
  const allowed = { wastedMax: (isOwnerGone ? 3 : 0) + (scenario.wastedMax ?? 0), extraCommandRuns: 0 };
  const compare = (what: string, end: EndState): void => {
    const found = differences(whole, end, allowed);
    if (found.length > 0) throw new Error(`${scenario.name}, ${what}: ${found.join("; ")}`);
  };
  compare("unkilled", whole);
  if (scenario.hasHalfWork === true && whole.halfWorks === 0) throw new Error(`${scenario.name}: half work is lost`);
  if (approach === undefined) {
    restoreWorld(world, prepared);
    driven.add(formOf(world.folder));
    await recover({ world, session: sit(world), scenario, victim, isNewHost });
    compare("never typed", endStateOf(world));
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
        // As long as something of the victim's still works there, the world has no form.
        const form = processesOf(world).length === 0 ? formOf(world.folder) : null;
        if (form !== null && driven.has(form)) return { killed, known: true, faults: [] };
        const extraCommandRuns = point.weapon === "performer" ? 1 : 0;
        const faults = differences(whole, await goOn(struck), { ...allowed, extraCommandRuns });
        if (form !== null && faults.length === 0) driven.add(form);
        return { killed, known: false, faults };
      } catch (error) {
        return { killed: true, known: false, faults: [error instanceof Error ? error.message : String(error)] };
      }
    },
  };
}

function traced(plugin: Plugin, base: string): Plugin {
  const root = join(base, "traced");
  return existsSync(root) ? { ...plugin, root, cli: join(root, "dist", "atlas.cjs") } : tracedPlugin(plugin, root);
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
