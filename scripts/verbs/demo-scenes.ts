/** The play: a session is killed between a hand-out and its result, another one carries its run on to the end. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Instruction } from "../core/kind.ts";
import type { HostOrder, PlayedHost } from "./demo-child.ts";
import {
  type Facts,
  factsOf,
  fileUnder,
  ledgerFolder,
  measuredCode,
  prove,
  refsOf,
  treesOf,
  userState,
} from "./demo-facts.ts";
import type { HostLine, Printed } from "./demo-lines.ts";
import type { Narrator } from "./demo-narrator.ts";
import { type DemoWorld, FAULTY, VERIFY } from "./demo-world.ts";

export interface Stage {
  readonly world: DemoWorld;
  readonly narrator: Narrator;
  /** Starts a host, remembers it for the cleaning up. */
  play(order: Pick<HostOrder, "session" | "packet" | "hear">): PlayedHost;
}

/** What was shown, for `--json`. */
export interface Shown {
  readonly run: string;
  readonly pointer: string;
  readonly kept: string;
  readonly label: string;
  readonly reasons: readonly string[];
  readonly stages_before: number;
  readonly leases: Readonly<Record<string, number>>;
  readonly gas: number;
}

interface Killed {
  readonly run: string;
  readonly half: string;
  readonly facts: Facts;
}

/** Throws DemoFailure for the first thing that is not as it says. */
export async function perform(stage: Stage): Promise<Shown> {
  const { world } = stage;
  if (world.environment.ATLAS_EXCLUSIVE !== undefined) {
    stage.narrator.row("note", "this machine has no id to tell a dead process by: ATLAS_EXCLUSIVE=1 vouches for it");
  }
  const before = userState(world);
  const redCode = verifyIn(world, world.project);
  prove(redCode === 1, "the project's own test fails before the run");
  const killed = await killedSession(stage);
  const pointer = await resumedSession(stage, killed, before);
  const facts = factsOf(world, killed.run);
  return {
    run: killed.run,
    pointer,
    kept: facts.kept[0]?.ref ?? "",
    label: facts.label?.label ?? "",
    reasons: facts.label?.reasons ?? [],
    stages_before: killed.facts.stages.length,
    leases: Object.fromEntries(facts.leases),
    gas: facts.granted,
  };
}

async function killedSession(stage: Stage): Promise<Killed> {
  const { world, narrator } = stage;
  narrator.title("1. A run begins");
  narrator.row("project", `${FAULTY} has a fault, and "node ${VERIFY.join(" ")}" is red`);
  const first = firstRun(narrator);
  const host = stage.play({ session: randomUUID(), packet: world.packet, hear: first.hear });
  const greeted = await host.until("hook");
  prove(greeted.stdout === "", "where no run is, the hook of a session's start is silent");
  narrator.row("session 1", `process ${host.pid} plays Claude Code; its SessionStart hook has nothing to say`);
  const { path } = await host.until("half-written");
  const run = first.command().printed.run.id;
  const half = readFileSync(path, "utf8");
  const facts = factsOf(world, run);
  prove(half.length > 0 && verifyIn(world, dirname(path)) === 1, "half a file does not pass the test");
  prove(facts.leases.get("coder") === 1 && !facts.taken.has("coder"), "the coder is handed out and not handed in");
  narrator.row("", `${FAULTY} in the run's own tree is half written: ${half.length} bytes of it`);

  narrator.title(`2. SIGKILL to process ${host.pid}, between the hand-out and its result`);
  const how = await host.kill();
  prove(how === "SIGKILL", "the session's process is killed, and not ended");
  prove(factsOf(world, run).lines === facts.lines, "the killed session told the ledger nothing more");
  narrator.row("on disk", `run ${run}: ${facts.lines} lines, ${facts.stages.length} stages done`);
  return { run, half, facts };
}

async function resumedSession(stage: Stage, killed: Killed, before: string): Promise<string> {
  const { narrator } = stage;
  const { run, facts } = killed;
  narrator.title("3. Another session starts. What its host receives from the hook, byte for byte:");
  const resumed = firstRun(narrator);
  const host = stage.play({ session: randomUUID(), packet: null, hear: resumed.hear });
  const { stdout } = await host.until("hook");
  narrator.quote(stdout);
  const pointer = pointerIn(stdout);
  narrator.row("", "and what its model reads of it:");
  narrator.quote(pointer);
  prove(pointer.includes(`run=${run} stage=${facts.stages.at(-1)} `), "the pointer names the run and its stage");
  prove(pointer.includes("owner=gone") && pointer.length <= 1000, "the pointer says that its owner is gone, shortly");

  const command = /\nNow run: (.+)\n/.exec(pointer)?.[1];
  prove(command === `atlas resume --run ${run}`, "the pointer names the command that carries the run on");

  narrator.title("4. It runs what the pointer names");
  const { path } = await host.until("half-written");
  const { words, printed } = resumed.command();
  prove(words.join(" ") === command, "the session ran what the pointer names");
  proveResumed(stage, killed, printed, path);
  narrator.row("not redone", `${facts.stages.join(" ")}; triage, scout and plan keep their one result`);
  host.goOn();
  const { next } = await host.until("ended");
  proveEnded(stage, killed, next, before);
  prove((await host.ended) === "exit 0", "the second session ends by itself");
  return pointer;
}

/** The half-written tree is kept, whole, and replaced; nothing finished is done again. */
function proveResumed({ world, narrator }: Stage, killed: Killed, printed: Printed, path: string): void {
  const { run, half } = killed;
  const facts = factsOf(world, run);
  prove(printed.run.id === run && printed.epoch === 2, "the run that was named is claimed, in epoch 2");
  prove(same(facts.stages, killed.facts.stages), "no stage is completed twice");
  for (const slot of ["triage", "scout", "plan"]) prove(facts.taken.get(slot) === 1, `${slot} is handed in once`);
  prove(facts.leases.get("scout") === 1 && facts.leases.get("coder") === 2, "only the coder is handed out again");
  const [kept] = facts.kept;
  prove(kept !== undefined && refsOf(world, run).includes(kept.ref), "the half-written tree is kept under a ref");
  prove(fileUnder(world, kept.ref, FAULTY) === half, "the ref holds the bytes that were half written");
  prove(facts.removed.includes(kept.name) && treesOf(world, run).length === 1, "its folder is replaced by a fresh one");
  prove(path.includes("e2."), "the coder works in a tree of the new epoch");
  narrator.row("kept", `the half-written tree: ${half.length} bytes of ${FAULTY}, under`);
  narrator.row("", kept.ref);
}

function proveEnded({ world, narrator }: Stage, killed: Killed, next: Instruction, before: string): void {
  narrator.title("5. The end");
  const facts = factsOf(world, killed.run);
  const [tree = ""] = treesOf(world, killed.run);
  const { evidence, label } = facts;
  prove(evidence !== null && measuredCode(world, killed.run, evidence) === 0, "the run measured that the test passes");
  prove(verifyIn(world, join(ledgerFolder(world, killed.run), "worktree", tree)) === 0, "the change passes the test");
  narrator.row("verify", "red before, green now: measured by the run, and once more by this demo");
  prove(facts.isEnded && label !== null, "the run has ended with a durable label");
  prove(label.label !== "UNVERIFIED" || label.reasons.length > 0, "an UNVERIFIED run says why");
  prove(
    next.do === "report" && next.status === label.label.toLowerCase(),
    "the session is told the label that is recorded",
  );
  narrator.row("label", [label.label, ...label.reasons].join(", "));
  prove(new Set(facts.stages).size === facts.stages.length, "every stage is completed once");
  const again = [...facts.leases].filter(([, count]) => count > 1).map(([slot]) => slot);
  prove(again.join() === "coder", "the coder alone was leased twice");
  prove(facts.issued <= facts.granted, "no more leases than gas");
  narrator.row(
    "counted",
    `${facts.issued} leases of ${facts.granted} gas; leased twice: ${again.join()}; stages redone: 0`,
  );
  prove(userState(world) === before, "the user's own files and HEAD are as they were");
  prove(
    next.artifact !== null && readFileSync(next.artifact, "utf8").includes(FAULTY),
    "the change lies there as a patch",
  );
  narrator.row("untouched", `the user's own files; the change lies beside them as ${basename(next.artifact)}`);
}

/** Narrates, and remembers the first command of a session. */
function firstRun(narrator: Narrator) {
  let first: Extract<HostLine, { say: "ran" }> | null = null;
  return {
    hear(line: HostLine): void {
      if (line.say === "ran") first ??= line;
      narrator.hear(line);
    },
    command() {
      prove(first !== null, "the session ran a command of atlas");
      return first;
    },
  };
}

/** The `additionalContext` of a hook's answer. */
function pointerIn(stdout: string): string {
  prove(stdout !== "", "the hook has something to say");
  const answer = JSON.parse(stdout) as {
    hookSpecificOutput?: { hookEventName?: unknown; additionalContext?: unknown };
  };
  const { hookEventName, additionalContext } = answer.hookSpecificOutput ?? {};
  prove(hookEventName === "SessionStart" && typeof additionalContext === "string", "it is in the form the host reads");
  return additionalContext;
}

/** Exit code of the project's test in that folder, run by the demo itself. */
function verifyIn(world: DemoWorld, cwd: string): number | null {
  return spawnSync(process.execPath, [...VERIFY], { cwd, env: world.environment, timeout: 20_000 }).status;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.join() === b.join();
}
