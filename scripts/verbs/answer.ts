import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import { writeArtifact } from "../engine/artifacts.ts";
import { changeOf, decideAs, tokenOf } from "../engine/change-run.ts";
import { clarified } from "../engine/clarify.ts";
import type { Engine } from "../engine/context.ts";
import { checkDelivery } from "../engine/deliver.ts";
import { gradeOfAnswer } from "../engine/human.ts";
import type { Loaded } from "../engine/ledger.ts";
import { checkClaim } from "../engine/owning.ts";
import { proceed } from "../engine/proceed.ts";
import { shownGate } from "../engine/questions.ts";
import { refuseTreeInUse, treeHolder } from "../engine/tree-holder.ts";
import type { AnswerCommand } from "../kinds/change/decide-answer.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import type { Arguments } from "./arguments.ts";
import { readGiven } from "./given-file.ts";
import { loadNamed } from "./load.ts";
import { type Outcome, refused } from "./outcome.ts";
import { showRun } from "./shown.ts";

/** Records a human's decision with its grade. */
export async function answer(engine: Engine, given: Arguments): Promise<Outcome> {
  const gate = given.required("gate");
  const choice = given.required("choice");
  const read = loadNamed(engine, given);
  if (!read.ok) return refused(read.error);
  const run = changeOf(read.value);
  if (!run.ok) return refused(run.error);
  const claim = given.text("claim");
  // The output gate of a finished headless run may be answered by any session; its decision is still attested.
  const terminal = run.value.headline.terminal;
  const claimed = terminal && claim === null ? ok(null) : checkClaim(engine, run.value, claim);
  if (!claimed.ok) return refused(claimed.error);
  const made = answerCommand(engine, given, run.value, gate, choice);
  if (!made.ok) return refused(made.error);
  const token = terminal ? tokenOf(run.value) : claim;
  const decided = decideAs(engine, run.value.folder, token, made.value);
  if (!decided.ok) return refused(decided.error);
  const { loaded, recorded } = decided.value;
  const proceeded = await proceed(engine, loaded.folder, { claim: tokenOf(loaded), onlyNew: true });
  if (!proceeded.ok) return refused(proceeded.error);
  const did = [`${recorded ? "answered" : "already"} ${gate} ${choice}`, ...proceeded.value.did];
  const { delivery } = (proceeded.value.loaded as Loaded<ChangeState>).state;
  return showRun(engine, { ...proceeded.value, did }, gate === "output" && delivery !== null ? { delivery } : {});
}

function answerCommand(
  engine: Engine,
  given: Arguments,
  loaded: Loaded<ChangeState>,
  gate: string,
  choice: string,
): Result<AnswerCommand, Refusal> {
  const { open } = loaded.state.gates;
  // The opening the words are weighed for is the one that is answered: another one may stand when the line is written.
  const meant = given.text("nonce") ?? (open?.gate === gate ? open.nonce : null);
  const shown = open !== null && open.nonce === meant ? shownGate(open, loaded.state) : null;
  const command: AnswerCommand = {
    do: "answer",
    gate,
    choice,
    grade: gradeOfAnswer(engine, loaded.folder, meant ?? "", choice, shown),
    ...(meant === null ? {} : { nonce: meant }),
  };
  if (gate === "pre-code" && choice === "approve" && !loaded.state.isolated) {
    const holder = treeHolder(engine, loaded.folder.id, loaded);
    if (holder !== null) {
      return refuseTreeInUse(holder);
    }
  }
  if (gate === "output" && (choice === "apply" || choice === "discard") && open?.gate === "output") {
    const deliverable = checkDelivery(engine, loaded, choice);
    if (!deliverable.ok) return deliverable;
  }
  const file = given.text("text");
  if (gate !== "clarify") {
    if (choice === "adjust" && file === null && open?.gate === gate && open.options.includes(choice)) {
      return refuse(
        "gate.no_text",
        "adjust needs the human's words in a file",
        `atlas answer --gate ${gate} --choice adjust --text FILE`,
      );
    }
    if (file === null) return ok(command);
    const bytes = readGiven(engine, file);
    const name = { slot: `answer-${gate}`.replace(/[^a-z-]/g, ""), pass: 0, extension: "txt" };
    return ok({ ...command, text: writeArtifact(engine.fs, loaded.folder, name, bytes) });
  }
  if (file === null)
    return refuse(
      "gate.no_text",
      "gate clarify needs the human's words in a file",
      "atlas answer --gate clarify --choice text --text FILE",
    );
  return clarified(engine, loaded, command, readGiven(engine, file));
}
