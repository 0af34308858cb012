/** What a command of a pass is: its text, where it runs, and which reports its test runners are asked for. */
import { join } from "node:path";
import type { Packet } from "../kinds/change/door-packet.ts";
import { type ChangeState, filledKey } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import { changesBetween, treeWith } from "../platform/changes.ts";
import type { CommandRole } from "../verify/command-role.ts";
import { type ReportRequest, reportRequest } from "../verify/report-request.ts";
import type { ResolvedCommand } from "../verify/test-command.ts";
import { testMatcher } from "./changed-files.ts";
import type { Engine } from "./context.ts";
import { lookBelow } from "./discover.ts";
import { snapshotsOf, workRoot } from "./effects.ts";
import { withGoFlags } from "./go-settings.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { resolveCommand } from "./readers.ts";
import { makeScratch, scratchFolder } from "./scratch.ts";

export interface CommandFiles {
  readonly folder: string;
  readonly log: string;
  readonly reports: string;
  /** Empty; its time tells reports of this command from older ones. */
  readonly begun: string;
}

export function commandFiles(folder: RunFolder, pass: Pass, stem: string): CommandFiles {
  const commands = join(folder.ledger, "artifacts", `command.${pass}`);
  return {
    folder: commands,
    log: join(commands, `${stem}.log`),
    reports: join(commands, `${stem}.reports`),
    begun: join(commands, `${stem}.begun`),
  };
}

export interface CommandOrder {
  readonly text: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether its tests are read: a setup has none. */
  readonly isTest: boolean;
  /** The frozen command, by which its runners are told. */
  readonly frozen: string;
}

/** Makes the scratch tree of a command that runs in one. `stem` is the attempt's own name. */
export function commandOrder(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  of: CommandRole,
  packet: Packet,
  stem: string,
): CommandOrder {
  const { phase } = loaded.state;
  const tree = "tree" in phase ? phase.tree : null;
  const frozen = packet.verify_cmd;
  if (of === "setup" || of === "verify") {
    const text = of === "setup" ? (packet.setup_cmd ?? "true") : frozen;
    return { text, cwd: workRoot(loaded, tree), environment: {}, isTest: of === "verify", frozen };
  }
  const cwd = makeScratch(engine, loaded, stem, scratchTree(engine, loaded, of, packet));
  // The variables carry the commands, so that neither can end the other's quoting.
  const prepared = packet.setup_cmd === undefined ? "" : 'eval "$ATLAS_SETUP_COMMAND" && ';
  return {
    text: `${prepared}eval "$ATLAS_VERIFY_COMMAND"`,
    cwd,
    environment: {
      ATLAS_VERIFY_COMMAND: frozen,
      ...(packet.setup_cmd === undefined ? {} : { ATLAS_SETUP_COMMAND: packet.setup_cmd }),
      GIT_CEILING_DIRECTORIES: scratchFolder(loaded.folder),
    },
    isTest: true,
    frozen,
  };
}

/** The tree a command of a pass is run on, as the snapshots know it; null while there is no base. */
export function treeOfRole(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  of: CommandRole,
  packet: Packet,
): string | null {
  if (of === "setup" || of === "verify") return codedTree(loaded.state);
  return loaded.state.base === null ? null : scratchTree(engine, loaded, of, packet);
}

/** What the coder of the pass left, or what an adopted run brought along. */
export function codedTree(state: ChangeState): string | null {
  const pass = "pass" in state.phase ? state.phase.pass : 0;
  return state.filled[filledKey("coder", pass)]?.tree ?? state.checkpoint;
}

function scratchTree(engine: Engine, loaded: Loaded<ChangeState>, of: CommandRole, packet: Packet): string {
  const { base } = loaded.state;
  const coded = codedTree(loaded.state);
  if (base === null || coded === null) throw new Error("a scratch tree without a base");
  if (of === "baseline") return base;
  const snapshots = snapshotsOf(engine, loaded);
  const isTest = testMatcher(packet);
  const tests = changesBetween(snapshots, base, coded).filter(({ path, status }) => status !== "D" && isTest(path));
  return treeWith(
    snapshots,
    base,
    coded,
    tests.map(({ path }) => path),
  );
}

/** Resolved in the tree the command runs in: its scripts and makefiles say what it runs. */
export function resolvedIn(engine: Engine, order: Pick<CommandOrder, "cwd" | "frozen">): ResolvedCommand {
  return resolveCommand(order.frozen, lookBelow(engine.fs, order.cwd));
}

const nothingWanted: ReportRequest = { environment: {}, expected: [], written: [] };

export function reportsWanted(
  engine: Engine,
  order: CommandOrder,
  environment: Readonly<Record<string, string>>,
  reports: string,
): ReportRequest {
  if (!order.isTest) return nothingWanted;
  return reportRequest(resolvedIn(engine, order), withGoFlags(engine.fs, environment), reports);
}

/** The environment a command is handed, before anything is added. */
export function definedOnly(environment: Engine["environment"]): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) defined[name] = value;
  return defined;
}
