import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { idOf, refusal, shipped } from "../support/replay.ts";
import { eventsOf, gitIn, request, sit } from "../support/scripted-run.ts";

const product = shipped();
const bom = "\ufeff";

test("C-54: a byte order mark, CRLF and a missing last newline are read over; any other coding is refused by name, with the place", async () => {
  const world = product.world();
  gitIn(world.project, "config", "core.autocrlf", "true");
  const session = sit(world, { env: { ATLAS_EXCLUSIVE: "1" } });
  const packet = join(dirname(world.project), "packet.json");
  const text = JSON.stringify(request, null, 2);
  const starts = ["start", "change", "--packet", packet, "--headless"];
  for (const [name, at, bytes] of [
    ["UTF-16LE", 0, Buffer.from(bom + text, "utf16le")],
    ["UTF-16LE without a mark", 1, Buffer.from(text, "utf16le")],
    ["Latin-1", text.indexOf("wrong") + 1, Buffer.from(text.replace("wrong", "w\u00f6rng"), "latin1")],
  ] as const) {
    writeFileSync(packet, bytes);
    const told = await session.run(...starts);
    expect(told.code, name).toBe(3);
    expect(told.refused.reason, name).toMatch(new RegExp(`packet.*UTF-8.*byte ${at} |packet.*byte ${at},.*UTF-8`));
  }
  // One request, however its file was saved.
  writeFileSync(packet, `${bom}${text.replaceAll("\n", "\r\n")}`);
  const told = await session.run(...starts);
  expect(told.next, told.stdout).toMatchObject({ do: "submit", slot: "triage" });
  const { result, then } = told.next as { readonly result: string; readonly then: string };
  writeFileSync(result, `${bom}{"archetype":\r\n"bugfix"}`);
  const taken = await session.type(then);
  expect(taken.next, taken.stdout).toMatchObject({ do: "dispatch" });
  expect(eventsOf(world, idOf(told)).filter(({ type }) => type === "filled")).toHaveLength(1);
  expect(refusal(taken)).toEqual([0, undefined]);
});
