/**
 * The demo's world: one temporary folder with a home, a state folder, settings of git, a temporary folder of its own
 * and a small project with a fault. Nothing outside it is read or written, and nothing of the caller's environment
 * but the way to programs gets in.
 *
 * What a failure leaves behind: the folder, which whoever made it removes.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import { errno } from "../platform/files.ts";
import { type Git, must, systemGit } from "../platform/git.ts";
import { nonceVariable } from "../platform/performer-job.ts";
import { systemProcesses } from "../platform/processes.ts";

export interface DemoWorld {
  readonly root: string;
  readonly project: string;
  /** The request, as `start --packet` takes it. */
  readonly packet: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Every process of the demo carries it in its environment. */
  readonly nonce: string;
  readonly git: Git;
}

export const FAULTY = "cart.mjs";
/** Words of the command that judges the change; `node` is the one that runs the demo. */
export const VERIFY = ["--test", "cart.test.mjs"] as const;

const files: Readonly<Record<string, string>> = {
  [FAULTY]: `/** The sum of all prices in a cart. */
export function total(prices) {
  let sum = 0;
  for (let at = 0; at < prices.length - 1; at += 1) {
    sum += prices[at];
  }
  return sum;
}
`,
  "cart.test.mjs": `import { equal } from "node:assert/strict";
import { test } from "node:test";
import { total } from "./${FAULTY}";

test("the total counts every price", () => {
  equal(total([2, 3, 5]), 10);
});
`,
};

const request = {
  intent: "The total of a cart leaves out the last price. Mend it.",
  success_criteria: ["the total of 2, 3 and 5 is 10"],
  scope_paths: [FAULTY],
  verify_cmd: ["node", ...VERIFY].join(" "),
};

const gitSettings = `[user]
\tname = Demo
\temail = demo@example.invalid
[init]
\tdefaultBranch = main
`;

/** Programs, their libraries and the clock's zone; everything else of the caller stays outside. */
const passed = /^(PATH|LANG|TZ|LD_LIBRARY_PATH|LD_PRELOAD|DYLD_\w+|PREFIX|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT)$/;

/** A new empty folder, its real path. Throws EnvironmentFailure `demo.no_folder`. */
export function makeFolderForWorld(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "atlas-demo-")));
  } catch (error) {
    const reason = `no temporary folder can be made in ${tmpdir()} (${errno(error)})`;
    throw new EnvironmentFailure("demo.no_folder", reason, "set TMPDIR to a folder you may write");
  }
}

/** Fills the folder. Throws EnvironmentFailure `git.*` where git is missing or fails. */
export function makeWorld(root: string): DemoWorld {
  const project = join(root, "project");
  const home = join(root, "home");
  const packet = join(root, "packet.json");
  for (const folder of [project, home, join(root, "tmp")]) mkdirSync(folder);
  writeFileSync(join(home, ".gitconfig"), gitSettings);
  writeFileSync(packet, JSON.stringify(request));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  const nonce = `atlas-demo-${randomBytes(16).toString("hex")}`;
  const environment = environmentFor(root, home, nonce);
  const git = systemGit(environment);
  must(git, ["init", "--quiet"], { cwd: project });
  must(git, ["add", "."], { cwd: project });
  must(git, ["commit", "--quiet", "--message", "A cart"], { cwd: project });
  return { root, project, packet, environment, nonce, git };
}

/** Removes the folder, whatever it holds. Throws where something stays. */
export function removeWorld(root: string): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

function environmentFor(root: string, home: string, nonce: string): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && passed.test(name.toUpperCase())) made[name] = value;
  }
  // The command says `node`: it shall be this one, and one shall be there.
  const path = Object.keys(made).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  made[path] = [dirname(process.execPath), made[path] ?? ""].filter((part) => part !== "").join(delimiter);
  const temporary = join(root, "tmp");
  return {
    ...made,
    HOME: home,
    USERPROFILE: home,
    XDG_STATE_HOME: join(home, ".local", "state"),
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local", "share"),
    XDG_CACHE_HOME: join(home, ".cache"),
    TMPDIR: temporary,
    TMP: temporary,
    TEMP: temporary,
    GIT_CONFIG_NOSYSTEM: "1",
    // Without a machine id no owner is ever provably gone; of this folder it can be said that nobody else is there.
    ...(systemProcesses().place.machine === null ? { ATLAS_EXCLUSIVE: "1" } : {}),
    [nonceVariable]: nonce,
  };
}
