/** What the demo looks up by itself, in the ledger and in git, before it says a thing. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { RunId } from "../core/ids.ts";
import type { EventBase } from "../core/kind.ts";
import { ORIGIN } from "../core/line.ts";
import { readArtifact } from "../engine/artifacts.ts";
import { readLog } from "../engine/log.ts";
import type { ChangeEvent } from "../kinds/change/events.ts";
import { realFileSystem } from "../platform/fs.ts";
import { must, mustLine } from "../platform/git.ts";
import type { Evidence } from "../verify/evidence.ts";
import type { DemoWorld } from "./demo-world.ts";

/** A claim of the demo that turned out not to be so. */
export class DemoFailure extends Error {
  override readonly name = "DemoFailure";
}

/** What the demo says is asserted first: a demo that cannot fail shows nothing. */
export function prove(holds: boolean, claim: string): asserts holds {
  if (!holds) throw new DemoFailure(`not so: ${claim}`);
}

export interface Facts {
  readonly lines: number;
  /** Completed stages, in order, as often as a line completed them. */
  readonly stages: readonly string[];
  /** Leases ever issued, by slot. */
  readonly leases: ReadonlyMap<string, number>;
  readonly issued: number;
  readonly granted: number;
  /** How often a slot's artifact was taken. */
  readonly taken: ReadonlyMap<string, number>;
  readonly epochs: readonly number[];
  readonly kept: readonly { readonly name: string; readonly ref: string }[];
  readonly removed: readonly string[];
  readonly label: { readonly label: string; readonly reasons: readonly string[] } | null;
  /** What was measured last; null: nothing yet. */
  readonly evidence: Extract<ChangeEvent, { type: "evidence" }> | null;
  readonly isEnded: boolean;
}

export function ledgerFolder(world: DemoWorld, run: string): string {
  return join(world.project, ".atlas", run);
}

/** The whole ledger, read line by line from its first. */
export function factsOf(world: DemoWorld, run: string): Facts {
  const read = readLog<EventBase>(realFileSystem, ledgerFolder(world, run), ORIGIN);
  if (read === null || "bad" in read) throw new DemoFailure(`the ledger of ${run} cannot be read`);
  const { lines, end } = read.chain;
  prove(end.at === "end", "the ledger is one whole chain");
  const events = lines.flatMap((line) => line.events as readonly ChangeEvent[]);
  const of = <T extends ChangeEvent["type"]>(type: T) =>
    events.filter((event): event is Extract<ChangeEvent, { type: T }> => event.type === type);
  const label = of("labelled").at(-1);
  return {
    lines: lines.length,
    stages: of("stage").map((event) => event.stage),
    leases: counted(of("leased").map((event) => event.slot)),
    issued: of("leased").length,
    granted: of("gas-granted").reduce((sum, event) => sum + event.amount, 0),
    taken: counted(of("filled").map((event) => event.slot)),
    epochs: of("claimed").map((event) => event.epoch),
    kept: of("tree-kept").map(({ name, ref }) => ({ name, ref })),
    removed: of("tree-removed").map((event) => event.name),
    label: label === undefined ? null : { label: label.label, reasons: label.reasons },
    evidence: of("evidence").at(-1) ?? null,
    isEnded: of("ended").length === 1,
  };
}

/** Exit code of the frozen command as the run itself measured it. */
export function measuredCode(world: DemoWorld, run: string, evidence: NonNullable<Facts["evidence"]>): number | null {
  const atlas = join(world.project, ".atlas");
  const folder = { id: run as RunId, root: world.project, atlas, ledger: ledgerFolder(world, run), adopted: false };
  const bytes = readArtifact(
    realFileSystem,
    folder,
    { slot: "evidence", pass: evidence.pass, extension: "json" },
    evidence.sha256,
  );
  return (JSON.parse(bytes.toString("utf8")) as Evidence).command.code ?? null;
}

function counted(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Refs the run made in the project's repository. */
export function refsOf(world: DemoWorld, run: string): readonly string[] {
  const listed = mustLine(world.git, ["for-each-ref", "--format=%(refname)", `refs/atlas/${run}`], at(world));
  return listed.split("\n").filter((ref) => ref !== "");
}

export function fileUnder(world: DemoWorld, ref: string, path: string): string {
  return must(world.git, ["show", `${ref}:${path}`], at(world)).toString("utf8");
}

/** HEAD and what differs from it: the part of the project that is the user's own. */
export function userState(world: DemoWorld): string {
  return [
    mustLine(world.git, ["rev-parse", "HEAD"], at(world)),
    mustLine(world.git, ["status", "-s"], at(world)),
  ].join();
}

/** The trees that lie below the run. */
export function treesOf(world: DemoWorld, run: string): readonly string[] {
  return readdirSync(join(ledgerFolder(world, run), "worktree")).sort();
}

function at(world: DemoWorld): { readonly cwd: string } {
  return { cwd: world.project };
}
