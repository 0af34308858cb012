/**
 * Runs before every test file: the machine's own settings must neither help nor hurt a test. Git, the hosts and
 * atlas see an empty home, and nothing of the session that started the tests.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach } from "vitest";

const askedSeed = Number.parseInt(process.env.ATLAS_SEED ?? "", 10);
const seed = Number.isInteger(askedSeed) ? askedSeed : Math.floor(Math.random() * 0x7fffffff);

const foreign = /^(CLAUDE|KIMI|ATLAS|GIT|ANTHROPIC)_|^(NODE_OPTIONS|NODE_PATH|CLAUDECODE|AI_AGENT)$/;
for (const name of Object.keys(process.env)) if (foreign.test(name)) delete process.env[name];

const home = mkdtempSync(join(tmpdir(), "atlas-home-"));
const gitConfig = join(home, ".gitconfig");
writeFileSync(
  gitConfig,
  "[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n",
);
Object.assign(process.env, {
  HOME: home,
  XDG_STATE_HOME: join(home, ".local", "state"),
  XDG_CONFIG_HOME: join(home, ".config"),
  XDG_DATA_HOME: join(home, ".local", "share"),
  XDG_CACHE_HOME: join(home, ".cache"),
  GIT_CONFIG_GLOBAL: gitConfig,
  GIT_CONFIG_NOSYSTEM: "1",
  // What the machine happens to have free must not decide how many agents go out.
  ATLAS_FREE_MB: "100000",
  TZ: "UTC",
  LC_ALL: "C.UTF-8",
});
for (const name of ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"])
  mkdirSync(process.env[name] as string, { recursive: true });

fc.configureGlobal({ seed });

afterEach((context) => {
  if (context.task.result?.state === "fail")
    console.error(`seed of "${context.task.name}": repeat with ATLAS_SEED=${seed}`);
});

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
