import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeOwnRun } from "../support/ledger.ts";
import { heardBy, shipped } from "../support/replay.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-16: a documented setting makes every start silent and moves the pointer to the prompt", async () => {
  const world = product.world();
  writeOwnRun(join(world.project, ".atlas"));
  const session = sit(world, { env: { ATLAS_POINTER: "prompt" } });
  for (const source of ["startup", "resume", "clear", "compact"]) {
    expect(await session.hook("claude", "SessionStart", { source }), source).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "",
    });
  }
  expect(heardBy("claude", await session.hook("claude", "UserPromptSubmit", { prompt: "go on" }))).toContain(
    "Now run: atlas resume",
  );
});

/** Set by the program for its own children, or by the build. */
const internal = new Set([
  "ATLAS_BUILD",
  "ATLAS_VERSION",
  "ATLAS_COMMAND_NONCE",
  "ATLAS_FOUND",
  "ATLAS_NODE_OPTIONS",
  "ATLAS_NODE_PATH",
  "ATLAS_SESSION_ID",
]);

test("C-16: every setting that the program reads from the environment is documented", () => {
  const files = ["scripts", "hooks", "bin"].flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
  );
  const read = new Set(files.flatMap((text) => [...text.matchAll(/\bATLAS_[A-Z_]+\b/g)].map(([name]) => name)));
  const readme = readFileSync(join(repositoryRoot, "README.md"), "utf8");
  const settings = [...read].filter((name) => !internal.has(name));
  expect(settings).toContain("ATLAS_POINTER");
  expect(settings.filter((name) => !readme.includes(`\`${name}`))).toEqual([]);
});
