/**
 * Sessions in which every command and every event of a host is killed the first time it is typed, at a place a seed
 * chose; then the run is resumed, as a user would, and what is printed is what the caller follows.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostProcess } from "../support/host-process.ts";
import { type Env, type Session, sessionId, sit, type Told, told } from "../support/scripted-run.ts";
import type { CrashWorld } from "./crash-world.ts";
import { gitKillsAt } from "./git-shim.ts";
import { type Ended, runVictim } from "./kill.ts";
import { type Blow, blowAt, nameOf, type Point } from "./point.ts";
import { chosenCall } from "./points.ts";
import { type ReadRun, readRuns } from "./read-runs.ts";
import type { Victim } from "./scenario.ts";
import { countedIn, countsOf } from "./strace.ts";
import { performerKilledAt, wasKilled } from "./traced-performer.ts";

/** What one command does when nobody kills it. */
export interface Calls {
  readonly own: ReadonlyMap<string, number>;
  readonly git: number;
  /** Empty: it starts none. */
  readonly performer: ReadonlyMap<string, number>;
}

/** By the name of the command; filled by a life nobody kills. */
export type CallsOf = Map<string, Calls>;

export interface Strike {
  readonly name: string;
  readonly point: Point;
  readonly killed: boolean;
}

export interface Striker {
  /** A session whose commands are counted, or killed. */
  sit(host?: HostProcess): Session;
  readonly strikes: readonly Strike[];
}

export interface Aim {
  /** null: nothing is killed, and `calls` is filled. */
  readonly random: (() => number) | null;
  /** Whether the performer of a frozen command is killed instead of the command that started it. */
  readonly atPerformer: boolean;
}

export function striker(world: CrashWorld, calls: CallsOf, { random, atPerformer }: Aim): Striker {
  const strikes: Strike[] = [];
  const struck = new Set<string>();
  const trace = join(world.base, "trace");
  const performerTrace = join(world.base, "performer-trace");

  async function count(name: string, victim: Victim, host: HostProcess | null): Promise<Told> {
    const isCommand = name === "verify";
    const env: Env = {
      ...gitKillsAt(world.base, { when: "before", at: 0 }),
      ...(isCommand ? performerKilledAt(performerTrace, null) : {}),
    };
    const ended = await runVictim({ world, victim, host, before: countedIn(trace), env });
    calls.set(name, {
      own: countsOf(trace),
      git: Number(readFileSync(join(world.base, "git-calls"), "utf8")),
      performer: isCommand ? countsOf(performerTrace) : new Map(),
    });
    return told(ended);
  }

  function choose(name: string, next: () => number): Point | null {
    const made = calls.get(name);
    if (made === undefined) return null;
    if (made.performer.size > 0 && atPerformer) {
      return { weapon: "performer", own: chosenCall(made.performer, next) };
    }
    const isGit = next() < 0.5 || !strikes.some(({ point }) => point.weapon === "git call");
    if (made.git === 0 || !isGit) return { weapon: "own call", own: chosenCall(made.own, next) };
    const when = next() < 0.5 ? "before" : "after";
    return { weapon: "git call", git: { when, at: 1 + Math.floor(next() * made.git) } };
  }

  /** null: it was killed. */
  async function strike(name: string, victim: Victim, host: HostProcess | null): Promise<Ended | null> {
    const point = struck.has(name) || random === null ? null : choose(name, random);
    struck.add(name);
    const blow: Blow = point === null ? { before: [], env: {} } : blowAt(point, world.base, performerTrace);
    const ended = await runVictim({ world, victim, host, ...blow });
    if (point === null) return ended;
    const killed = point.weapon === "performer" ? wasKilled(performerTrace) : ended.killed;
    strikes.push({ name: `${name} at ${nameOf(point)}`, point, killed });
    // Whoever asked a performer that is dead says so, or is already told to wait.
    return ended.killed || (killed && ended.code !== 0) ? null : ended;
  }

  function sitDown(host?: HostProcess): Session {
    const plain = sit(world, host === undefined ? {} : { host });
    const by = host ?? null;

    /** What a user does after a kill. */
    async function resume(): Promise<Told> {
      const resumed = await plain.run("resume");
      // Over: there is nothing to resume, and what it came to is asked for by its id.
      const last = readRuns(world).at(-1);
      if (resumed.json.run === null && last !== undefined) return await plain.run("next", "--run", last.id);
      // Nobody works while a command is typed: an agent that said nothing by now is gone.
      return resumed.next?.do === "await" ? await plain.type(resumed.next.lost) : resumed;
    }

    async function run(...words: readonly string[]): Promise<Told> {
      const victim = { words: [...words, "--json"], input: "" };
      const name = nameOfWords(words);
      if (random === null) return calls.has(name) ? await plain.run(...words) : await count(name, victim, by);
      const before = readRuns(world);
      const ended = await strike(name, victim, by);
      if (ended !== null && ended.code === 0) return told(ended);
      if (ended !== null && ended.code !== 3) throw new Error(`${words.join(" ")}: ${ended.stdout}${ended.stderr}`);
      // What needs an answer of a host that was killed is refused, and asked again.
      const resumed = await resume();
      return isUndone(name, before, readRuns(world)) ? await plain.run(...words) : resumed;
    }

    return {
      world,
      run,
      type: (command) => run(...command.split(" ").slice(1)),
      async hook(at, on, payload) {
        const event = { session_id: sessionId(1), cwd: world.project, hook_event_name: on, ...payload };
        const victim = { words: ["hook", "--host", at, "--on", on], input: JSON.stringify(event) };
        const name = `hook ${on}`;
        if (random === null) return calls.has(name) ? await plain.hook(at, on, payload) : await count(name, victim, by);
        // A host goes on whatever became of its hook.
        return told((await strike(name, victim, by)) ?? { code: 0, stdout: "", stderr: "" });
      },
    };
  }

  return { sit: sitDown, strikes };
}

function nameOfWords(words: readonly string[]): string {
  const named = words.findIndex((word) => word === "--slot" || word === "--gate");
  return named < 0 ? String(words[0]) : `${words[0]} ${words[named + 1]}`;
}

/** Whether a killed command has to be typed again because no ledger says it was. */
function isUndone(name: string, before: readonly ReadRun[], now: readonly ReadRun[]): boolean {
  if (name === "clean") return true;
  if (name === "start" || name === "fork") return now.length === before.length;
  return name === "abandon" && countOf(now, "abandoned") === countOf(before, "abandoned");
}

function countOf(runs: readonly ReadRun[], type: string): number {
  return runs.flatMap((run) => run.events).filter((event) => event.type === type).length;
}
