/**
 * The commands of a pass: each begun once, by a detached performer that outlives us, and recorded from its result file
 * by whoever holds the claim. Killed anywhere, it is found running, found finished, or found lost.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { EnvironmentFailure, type Refusal, type Result, refuse } from "../core/result.ts";
import type { EffectOutcome } from "../kinds/change/decide.ts";
import { commandOf } from "../kinds/change/owed.ts";
import { type ChangeState, effectKey } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import { makeFolder, syncFolder, writeNew } from "../platform/files.ts";
import { sha256 } from "../platform/hash.ts";
import { type BegunCommand, preparePerformer, waitForResult } from "../platform/performer-client.ts";
import { decideAs } from "./change-run.ts";
import { commandFiles, commandOrder, definedOnly, reportsWanted } from "./command-order.ts";
import type { Engine } from "./context.ts";
import type { Loaded } from "./ledger.ts";
import { recordMeasure } from "./measure.ts";
import { readPacket } from "./packets.ts";
import type { Transaction } from "./transact.ts";

/** A command that was lost this often is not begun again. */
export const LOSSES_MAX = 3;
const pollMs = 100;

export type CommandStanding = { readonly is: "running" } | { readonly is: "ended"; readonly outcome: EffectOutcome };

/** Begins the command the pass waits for: the line first, then "go". */
export async function beginCommand(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  claim: string | null,
  timeoutMs: number | null,
): Promise<Result<Transaction<ChangeState>, Refusal>> {
  const { state, folder } = loaded;
  const { phase } = state;
  const packet = readPacket(engine, loaded);
  const wanted = commandOf(state);
  if (phase.at !== "verify" || wanted === null || packet === null) {
    return refuse("verify.not_now", "there is nothing to verify now", "atlas next");
  }
  const attempt = phase.losses + 1;
  const stem = `e${state.head.epoch}.${wanted.of}.a${attempt}.${randomBytes(4).toString("hex")}`;
  const files = commandFiles(folder, phase.pass, stem);
  makeFolder(engine.fs, files.folder);
  makeFolder(engine.fs, files.reports);
  // Reports of the tools' own making count from here on.
  writeNew(engine.fs, files.begun, "", false);
  syncFolder(engine.fs, join(files.folder, ".."));
  const order = commandOrder(engine, loaded, wanted.of, packet, stem);
  const environment = { ...definedOnly(engine.environment), ...order.environment };
  const request = reportsWanted(engine, order, environment, files.reports);
  const nonce = `atlas-${randomBytes(16).toString("hex")}`;
  const prepared = await preparePerformer({
    fs: engine.fs,
    entry: [process.execPath, join(engine.pluginRoot, "dist", "atlas.cjs"), "perform-command"],
    jobPath: join(files.folder, `${stem}.job.json`),
    job: {
      v: 1,
      nonce,
      text: order.text,
      cwd: order.cwd,
      timeMs: timeoutMs ?? packet.limits.timeMs,
      memoryBytes: packet.limits.memoryBytes,
      outputBytes: packet.limits.outputBytes,
      log: files.log,
      result: join(files.folder, `${stem}.${sha256(nonce).slice(0, 12)}.result.json`),
      environment: { ...environment, ...request.environment },
    },
  });
  const begun = decideAs(engine, folder, claim, {
    do: "begin",
    key: effectKey(wanted),
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
  const { phase, effect } = loaded.state;
  const wanted = commandOf(loaded.state);
  if (phase.at !== "verify" || effect === null || wanted === null) throw new Error("no command is begun");
  const command = begunCommand(loaded, phase.pass);
  const { fs, processes, exclusive } = engine;
  const settled = await waitForResult({ fs, processes, command, exclusive, everyMs: pollMs, waitMs });
  if (settled.kind === "running") return { is: "running" };
  const stem = effect.ticket?.file ?? "";
  const attempt = phase.losses + 1;
  if (settled.kind === "result") {
    return { is: "ended", outcome: recordMeasure(engine, loaded, { of: wanted.of, stem, attempt }, settled.result) };
  }
  if (attempt < LOSSES_MAX) return { is: "ended", outcome: { of: "lost" } };
  return { is: "ended", outcome: recordMeasure(engine, loaded, { of: wanted.of, stem, attempt }, null) };
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
    resultPath: join(commandFiles(loaded.folder, pass, file).folder, name),
  };
}
