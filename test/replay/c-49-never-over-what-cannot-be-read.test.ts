import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handedOut, idOf, seat, shipped } from "../support/replay.ts";
import { runFolder } from "../support/scripted-run.ts";

const product = shipped();

test("C-49: nothing is written over a ledger or an artifact that cannot be read, whatever command comes", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const told = await handedOut(session, "scout");
  const folder = runFolder(world);
  const packet = readdirSync(join(folder, "artifacts")).find((name) => name.startsWith("packet")) as string;
  for (const path of [join(folder, "artifacts", packet), join(folder, "log.jsonl")]) {
    const good = readFileSync(path);
    const spoilt = Buffer.from(good);
    spoilt.fill(0x23, 10, 60);
    writeFileSync(path, spoilt);
    const run = ["--run", idOf(told)];
    for (const words of [
      ["status"],
      ["resume", ...run],
      ["next", ...run, "--claim", told.claim],
      ["submit", ...run, "--claim", told.claim, "--slot", "scout", "--failed", "error"],
      ["clean"],
    ]) {
      const { code } = await session.run(...words);
      expect([0, 3, 4], words.join(" ")).toContain(code);
      expect(readFileSync(path).subarray(0, spoilt.length), words.join(" ")).toEqual(spoilt);
    }
    await session.hook("claude", "SessionEnd", { reason: "other" });
    expect(readFileSync(path).subarray(0, spoilt.length)).toEqual(spoilt);
    writeFileSync(path, Buffer.concat([good, readFileSync(path).subarray(spoilt.length)]));
  }
});
