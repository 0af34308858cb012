/**
 * Records what a human chose in the host's own question. It stands in the session's record, outside any repository;
 * which gate it answers, if any, is for the engine to see.
 */
import { isChosenAnswer, readSession, stateFolder, writeSession } from "../platform/sessions.ts";
import { shortSha256 } from "../platform/short-hash.ts";
import type { Reply } from "./event.ts";
import { blankRecord, nothing, type Occasion } from "./occasion.ts";
import type { Choice } from "./question.ts";
import { hostIdentity, type Surroundings } from "./world.ts";

export function onChoice(around: Surroundings, occasion: Occasion, { nonce, choice, shown }: Choice): Reply {
  const identity = hostIdentity(around, occasion.host);
  const answer = { nonce, choice, asked: shortSha256(shown), ...identity };
  if (!isChosenAnswer(answer)) return nothing;
  const state = stateFolder(around.env);
  const before = readSession(around.fs, state, occasion.session) ?? { ...blankRecord(occasion), ...identity };
  writeSession(around.fs, state, { ...before, chosen: [...before.chosen, answer] });
  return nothing;
}
