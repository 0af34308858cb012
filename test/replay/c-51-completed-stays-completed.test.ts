import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sealLine } from "../../scripts/core/line.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { ended, idOf, seat, shipped } from "../support/replay.ts";
import { runFolder } from "../support/scripted-run.ts";

const product = shipped();

test("C-51: no number stands twice in a log, and nothing that comes later overturns a finished run", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const end = await ended(session);
  const log = join(runFolder(world), "log.jsonl");
  const lines = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(lines.map((_, at) => at + 1));

  const last = JSON.parse(lines.at(-1) as string);
  const { sum: _sum, ...body } = last;
  const failed = [{ type: "lease-ended", lease: "scout#1@1", why: "error" }];
  const late = [
    lines.at(-1) as string,
    sealLine({ ...body, ts: "2027-01-01T00:00:00.000Z", events: failed }, sha256).text,
    '{"status":"FAILED"}',
    "\u0000\u0000",
  ];
  appendFileSync(log, late.map((line) => `\n${line}\n`).join(""));
  for (const verb of ["next", "resume"]) {
    const told = await session.run(verb, "--run", idOf(end));
    expect([told.code, told.next], verb).toEqual([0, end.next]);
  }
  const { runs } = (await session.run("status", "--all")).json;
  expect(runs).toMatchObject([{ id: idOf(end), terminal: true, why: "finished" }]);
});
