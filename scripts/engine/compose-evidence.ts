/** The evidence of a pass, composed once all its commands have ended. It reads only: repeating it costs time, no more. */
import type { ChangeCommand } from "../kinds/change/decide.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import { type CommandEvidence, type Evidence, noTests } from "../verify/evidence.ts";
import { revertRed } from "../verify/revert-red.ts";
import { writeArtifact } from "./artifacts.ts";
import { codedTree } from "./command-order.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf, workRoot } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { lensesOf } from "./lenses.ts";
import { readMeasured, testsOfChange } from "./measure.ts";
import { readPacket } from "./packets.ts";

type EvidenceCommand = Extract<ChangeCommand, { do: "evidence" }>;

/** The recording command; its artifact is durable. A run without a command has evidence too: that nothing was run. */
export function composeEvidence(engine: Engine, loaded: Loaded<ChangeState>, pass: Pass): EvidenceCommand {
  const { state } = loaded;
  const { phase } = state;
  const packet = readPacket(engine, loaded);
  const root = workRoot(loaded, phase.at === "verify" ? phase.tree : null);
  const verify = readMeasured(engine, loaded, "verify", pass);
  const revert = readMeasured(engine, loaded, "revert", pass);
  const baseline = readMeasured(engine, loaded, "baseline", pass);
  const built = verify?.measure.tree.after ?? snapshotsOf(engine, loaded).take(root).tree;
  const coded = codedTree(state) ?? built;
  const tree = { before: state.base ?? built, coded, built };
  const command = verify?.measure.command ?? notStarted(packet?.verify_cmd ?? "", root);
  const measured = {
    v: 1,
    pass,
    attempt: verify?.measure.attempt ?? 1,
    tree,
    command,
    tests: verify?.measure.tests ?? noTests,
    setup: readMeasured(engine, loaded, "setup", pass)?.measure.command ?? null,
    baseline: baseline === null ? null : { command: baseline.measure.command, tests: baseline.measure.tests },
    revertRed:
      verify === null || packet === null
        ? ({ status: "not-run", reason: "no command was run" } as const)
        : revertRed(verify, revert, baseline, testsOfChange(engine, loaded, packet)),
    leftovers: verify?.measure.leftovers ?? "none",
  } as const;
  const evidence: Evidence = { ...measured, lenses: lensesOf(engine, loaded, { packet, root, ...measured }) };
  const bytes = Buffer.from(`${JSON.stringify(evidence, null, 2)}\n`, "utf8");
  const sha256 = writeArtifact(engine.fs, loaded.folder, { slot: "evidence", pass, extension: "json" }, bytes);
  return { do: "evidence", pass, sha256, ending: command.ending };
}

function notStarted(text: string, cwd: string): CommandEvidence {
  return { text, cwd, ending: "unstarted", ms: 0, peakBytes: 0, log: { sha256: "", bytes: 0, tail: "" } };
}
