import { UsageError } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import { halfTheMachine } from "../engine/memory.ts";
import { start } from "../engine/start.ts";
import { check } from "../kinds/change/doors.ts";
import { parseRequestText } from "../kinds/change/request-text.ts";
import type { Arguments } from "./arguments.ts";
import { readGiven } from "./given-file.ts";
import { type Outcome, refused } from "./outcome.ts";
import { showRun } from "./shown.ts";

/** Opens a run of kind `change` from a packet file, or from a request text whose clauses are parsed here. */
export async function startVerb(engine: Engine, given: Arguments): Promise<Outcome> {
  const [kind] = given.rest;
  if (given.rest.length !== 1 || kind !== "change") {
    throw new UsageError(
      "start takes a kind; this release opens runs of kind change",
      "atlas start change --packet FILE",
      "usage.kind",
    );
  }
  const packet = given.text("packet");
  const text = given.text("text");
  if ((packet === null) === (text === null))
    throw new UsageError("start needs --packet FILE or --text FILE, one of them");
  let bytes = readGiven(engine, packet ?? text ?? "");
  if (text !== null) {
    const request = parseRequestText(bytes.toString("utf8"));
    if (!request.ok) return refused(request.error);
    bytes = Buffer.from(JSON.stringify(request.value), "utf8");
  }
  const context = {
    exists: () => true,
    memoryBytes: halfTheMachine(),
    recovered: false,
    again: "atlas start change --packet FILE",
  };
  const checked = check("packet", bytes, context);
  if (!checked.ok) return refused(checked.error);
  const started = await start(engine, checked.value, bytes, given.flag("headless"));
  return started.ok ? showRun(engine, started.value) : refused(started.error);
}
