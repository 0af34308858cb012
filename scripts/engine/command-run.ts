/**
 * The frozen command of a pass: begun once, by a detached performer that outlives us, and recorded from its result
 * file by whoever holds the claim. Killed anywhere, it is found running, found finished, or found lost.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { EnvironmentFailure, type Refusal, type Result, refuse } from "../core/result.ts";
import type { EffectOutcome } from "../kinds/change/decide.ts";
import { type ChangeState, effectKey, filledKey } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import { makeFolder, syncFolder } from "../platform/files.ts";
import { sha256 } from "../platform/hash.ts";
import { type BegunCommand, preparePerformer, waitForResult } from "../platform/performer-client.ts";
import type { CommandResult } from "../platform/performer-result.ts";
import { type CommandEvidence, thinEvidence } from "../verify/evidence.ts";
import { writeArtifact } from "./artifacts.ts";
import { decideAs } from "./change-run.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf, workRoot } from "./effects.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { readPacket } from "./packets.ts";
import type { Transaction } from "./transact.ts";

/** A command that was lost this often is not begun again. */
export const LOSSES_MAX = 3;
const pollMs = 100;

export type CommandStanding = { readonly is: "running" } | { readonly is: "ended"; readonly outcome: EffectOutcome };

/** Begins the command of the pass in phase `verify`: the line first, then "go". */
export async function beginCommand(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  claim: string | null,
  timeoutMs: number | null,
): Promise<Result<Transaction<ChangeState>, Refusal>> {
  const { phase } = loaded.state;
  const packet = readPacket(engine, loaded);
  if (phase.at !== "verify" || packet === null) {
    return refuse("verify.not_now", "there is nothing to verify now", "atlas next");
  }
  const attempt = phase.losses + 1;
  const folder = commandFolder(loaded.folder, phase.pass);
  makeFolder(engine.fs, folder);
  syncFolder(engine.fs, join(folder, ".."));
  const stem = `e${loaded.state.head.epoch}.a${attempt}.${randomBytes(4).toString("hex")}`;
  const nonce = `atlas-${randomBytes(16).toString("hex")}`;
  const prepared = await preparePerformer({
    fs: engine.fs,
    entry: [process.execPath, join(engine.pluginRoot, "dist", "atlas.cjs"), "perform-command"],
    jobPath: join(folder, `${stem}.job.json`),
    job: {
      v: 1,
      nonce,
      text: packet.verify_cmd,
      cwd: workRoot(loaded, phase.tree),
      timeMs: timeoutMs ?? packet.limits.timeMs,
      memoryBytes: packet.limits.memoryBytes,
      outputBytes: packet.limits.outputBytes,
      log: join(folder, `${stem}.log`),
      result: join(folder, `${stem}.${sha256(nonce).slice(0, 12)}.result.json`),
      environment: definedOnly(engine.environment),
    },
  });
  const begun = decideAs(engine, loaded.folder, claim, {
    do: "begin",
    key: effectKey({ effect: "run-command", pass: phase.pass }),
    performer: prepared.performer,
    ticket: { ...prepared.ticket, file: stem },
    ...(prepared.group === null ? {} : { group: prepared.group }),
  });
  if (begun.ok && begun.value.recorded) prepared.go();
  else prepared.giveUp();
  return begun;
}

/** One look at the begun command, or a wait of up to `waitMs`. */
export async function lookAtCommand(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  waitMs: number,
): Promise<CommandStanding> {
  const { state } = loaded;
  const { phase, effect } = state;
  if (phase.at !== "verify" || effect === null) throw new Error("no command is begun");
  const command = begunCommand(loaded, phase.pass);
  const { fs, processes, exclusive } = engine;
  const settled = await waitForResult({ fs, processes, command, exclusive, everyMs: pollMs, waitMs });
  if (settled.kind === "running") return { is: "running" };
  if (settled.kind === "result") {
    return { is: "ended", outcome: recordEvidence(engine, loaded, phase.pass, settled.result, phase.losses + 1) };
  }
  if (phase.losses + 1 < LOSSES_MAX) return { is: "ended", outcome: { of: "lost" } };
  return { is: "ended", outcome: recordEvidence(engine, loaded, phase.pass, null, phase.losses + 1) };
}

/** Evidence of a pass that has no command to run. */
export function evidenceWithoutCommand(engine: Engine, loaded: Loaded<ChangeState>, pass: Pass): EffectOutcome {
  return recordEvidence(engine, loaded, pass, "none", 1);
}

function recordEvidence(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  pass: Pass,
  result: CommandResult | null | "none",
  attempt: number,
): EffectOutcome {
  const { state } = loaded;
  const packet = readPacket(engine, loaded);
  const tree = state.phase.at === "verify" ? state.phase.tree : null;
  const built = snapshotsOf(engine, loaded).take(workRoot(loaded, tree)).tree;
  const coded = state.filled[filledKey("coder", pass)]?.tree ?? state.checkpoint ?? built;
  const command = commandEvidence(result, packet?.verify_cmd ?? "", workRoot(loaded, tree));
  const evidence = thinEvidence({
    pass,
    attempt,
    tree: { before: state.base ?? built, coded, built },
    command,
    leftovers: result === null || result === "none" ? "none" : result.leftovers,
  });
  const bytes = Buffer.from(`${JSON.stringify(evidence, null, 2)}\n`, "utf8");
  const hash = writeArtifact(engine.fs, loaded.folder, { slot: "evidence", pass, extension: "json" }, bytes);
  return { of: "run-command", sha256: hash, ending: command.ending };
}

function commandEvidence(result: CommandResult | null | "none", text: string, cwd: string): CommandEvidence {
  const nothing = { text, cwd, ms: 0, peakBytes: 0, log: { sha256: "", bytes: 0, tail: "" } };
  if (result === null) return { ...nothing, ending: "lost" };
  if (result === "none") return { ...nothing, ending: "unstarted" };
  return {
    text,
    cwd,
    ending: result.ending,
    ...(result.ending === "exited" ? { code: result.code } : {}),
    ...(result.ending === "signalled" ? { signal: result.signal } : {}),
    ms: result.ms,
    peakBytes: result.peakBytes ?? 0,
    log: result.log,
  };
}

function commandFolder(folder: RunFolder, pass: Pass): string {
  return join(folder.ledger, "artifacts", `command.${pass}`);
}

function begunCommand(loaded: Loaded<ChangeState>, pass: Pass): BegunCommand {
  const { effect } = loaded.state;
  if (effect?.ticket === undefined) {
    throw new EnvironmentFailure("ledger.malformed", "a begun command without its ticket", "atlas doctor");
  }
  const { nonce, seal, file } = effect.ticket;
  const name = `${file}.${sha256(nonce).slice(0, 12)}.result.json`;
  return {
    performer: effect.performer,
    group: effect.group ?? null,
    ticket: { nonce, seal },
    resultPath: join(commandFolder(loaded.folder, pass), name),
  };
}

function definedOnly(environment: Engine["environment"]): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) defined[name] = value;
  return defined;
}
