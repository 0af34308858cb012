import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cliEnvironment, repositoryRoot } from "../support/run-cli.ts";
import { tempFolder } from "../support/temp.ts";

test("a test file sees an empty home and nothing of the session that started it", () => {
  const folder = tempFolder();
  const seen = spawnSync(
    join(repositoryRoot, "node_modules", ".bin", "vitest"),
    ["run", "test/house/support.test.ts", "-t", "the scrubbed environment"],
    {
      cwd: repositoryRoot,
      env: {
        ...process.env,
        CLAUDE_CODE_SESSION_ID: "x",
        KIMI_CODE_HOME: folder,
        ATLAS_POINTER: "prompt",
        GIT_DIR: folder,
        NODE_PATH: folder,
      },
    },
  );
  expect(seen.stdout.toString()).toMatch(/1 passed/);
  expect(seen.status).toBe(0);
});

test("the scrubbed environment", () => {
  const names = Object.keys(process.env).filter((name) => /^(CLAUDE|KIMI|ATLAS|GIT)_|^NODE_(OPTIONS|PATH)$/.test(name));
  expect(names.sort()).toEqual(["ATLAS_FREE_MB", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"]);
  expect(homedir()).toMatch(/atlas-home-/);
  expect(readdirSync(homedir()).every((name) => name.startsWith("."))).toBe(true);
  for (const name of ["XDG_STATE_HOME", "XDG_CONFIG_HOME"]) expect(existsSync(process.env[name] ?? "")).toBe(true);
  const author = spawnSync("git", ["var", "GIT_AUTHOR_IDENT"]).stdout.toString();
  expect(author).toContain("Test <test@example.invalid>");
  expect([process.env.TZ, process.env.LC_ALL]).toEqual(["UTC", "C.UTF-8"]);
});

test("a child gets that environment cut down, plus what it is given", () => {
  const environment = cliEnvironment({ ATLAS_POINTER: "prompt", PATH: undefined });
  expect(environment).toMatchObject({ HOME: homedir(), ATLAS_POINTER: "prompt", TZ: "UTC" });
  expect(Object.keys(environment).filter((name) => /^(PATH|VITEST|npm_)/.test(name))).toEqual([]);
});
