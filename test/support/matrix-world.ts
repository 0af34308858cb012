/** A small real project with a real runner, and a change to it whose goodness each case of the matrix spoils once. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Agent, Work } from "./scripted-agents.ts";
import { signed } from "./scripted-agents.ts";
import { gitIn, type Plugin, type World } from "./scripted-run.ts";

export type Files = Readonly<Record<string, string | null>>;

export const wrong = "export function median(values) {\n  return values[Math.floor(values.length / 2)];\n}\n";
export const right = `export function median(values) {
  if (values.length === 0) throw new RangeError("no values");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
`;
export const oldTest = `import assert from "node:assert";
import { test } from "node:test";
import { median } from "../src/median.js";

test("the middle of three sorted values", () => assert.equal(median([1, 2, 3]), 2));
`;
export const newTest = `${oldTest}
test("sorts first", () => assert.equal(median([3, 1, 2]), 2));
test("an even count gives the mean of the two in the middle", () => assert.equal(median([4, 1, 3, 2]), 2.5));
test("no values are refused", () => assert.throws(() => median([]), RangeError));
`;

const project: Files = {
  "package.json": `${JSON.stringify({ name: "median", type: "module", private: true, scripts: { test: "node --test" } }, null, 2)}\n`,
  "src/median.js": wrong,
  "test/median.test.js": oldTest,
  "README.md": "# median\n",
};

export const medianRequest = {
  intent: "median() is wrong for unsorted values and for an even count: mend it, and refuse an empty list.",
  success_criteria: ["median of unsorted values is right", "an even count gives the mean", "an empty list is refused"],
  scope_paths: ["src", "test"],
  verify_cmd: "npm test",
};

/** `alone`: only the files given, without the matrix's own. */
export function matrixWorld(plugin: Plugin, folder: string, extra: Files = {}, alone = false): World {
  const root = join(folder, "project");
  write(root, alone ? extra : { ...project, ...extra });
  gitIn(root, "init", "-q", ".");
  gitIn(root, "add", "-A");
  gitIn(root, "commit", "-qm", "begin");
  return { plugin, project: root, env: { HOME: join(folder, "home"), XDG_STATE_HOME: join(folder, "state") } };
}

export const finding: Agent = (work) =>
  signed(
    work,
    JSON.stringify({
      repo_mode: "small",
      relevant_files: [],
      conventions: [],
      constraints: [],
      entry_points: [],
      conflicts: [],
      untrusted_excerpts: [],
    }),
  );

/** A coder that leaves these files; null removes one. `after` sees the tree when it is done. */
export function leaving(files: Files, after: (work: Work) => void = () => {}): Agent {
  return (work) => {
    write(work.root, files);
    after(work);
    return signed(work, "done\nSTATUS: COMPLETE");
  };
}

function write(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const at = join(root, path);
    if (text === null) {
      rmSync(at, { force: true });
      continue;
    }
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
  }
}
