import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { editRefusal } from "../../scripts/hosts/edit-guard.ts";
import { toolEvent } from "../../scripts/hosts/event.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { RUN, writeOwnRun } from "../support/ledger.ts";
import { tempFolder } from "../support/temp.ts";

function project(): string {
  const folder = tempFolder();
  const { home } = writeOwnRun(join(folder, ".atlas"));
  mkdirSync(join(home, "results"));
  mkdirSync(join(home, "worktree", "e1"), { recursive: true });
  writeFileSync(join(home, "results", "plan.0.1.submit"), "{}");
  const mark = (tree: string) => JSON.stringify({ role: "elite-coder", tree: join(home, "worktree", tree) });
  writeFileSync(join(home, "results", "coder.1.1.lease"), mark("e1"));
  mkdirSync(join(home, "worktree", "e0"), { recursive: true });
  mkdirSync(join(home, "adopted", "results"), { recursive: true });
  writeFileSync(join(home, "adopted", "results", "coder.1.1.lease"), mark("e1"));
  symlinkSync(home, join(home, "worktree", "e1", "up"));
  symlinkSync(home, join(folder, "inside"));
  symlinkSync("loop", join(folder, "loop"));
  return folder;
}

test.each([
  ["src/a.ts"],
  [".atlasrc"],
  ["a.atlas/x"],
  ["loop/x"],
  [`.atlas/${RUN}/worktree/e1/src/a.ts`],
  [`.atlas/${RUN}/worktree/e1/new/deep/a.ts`],
  [`.atlas/${RUN}/adopted/worktree/e1/a.ts`],
  [`.atlas/${RUN}/results/plan.0.1.out`],
  [`.atlas/${RUN}/results/coder.1.1.out`],
])("%s may be edited, by its whole path or from the cwd", (path) => {
  const folder = project();
  expect(editRefusal(realFileSystem, folder, [path])).toBeNull();
  expect(editRefusal(realFileSystem, "/", [`${folder}/${path}`])).toBeNull();
});

test.each([
  [`.atlas/${RUN}/log.jsonl`],
  [`.atlas/${RUN}/adopted/log.jsonl`],
  [`.atlas/${RUN}/state.json`],
  [`.atlas/${RUN}/results/scout.1.1.out`],
  [`.atlas/${RUN}/results/coder.1.1.lease`],
  [`.atlas/${RUN}/results/new.lease`],
  [`.atlas/${RUN}/worktree/e1`],
  [`.atlas/${RUN}/worktree/e0/src/a.ts`],
  [`.atlas/${RUN}/worktree/e2/src/a.ts`],
  [`.atlas/${RUN}/adopted/worktree/e0/a.ts`],
  [`.atlas/${RUN}/worktree/e1/../../log.jsonl`],
  [`.atlas/${RUN}/worktree/e1/up/log.jsonl`],
  [`.atlas/${RUN}/worktree/e1/.atlas/x/log.jsonl`],
  ["inside/log.jsonl"],
  [".ATLAS/x"],
  [".atlas/.finished/x"],
  [".atlas/.gitignore"],
  [".atlas/../.atlas/x"],
])("%s may not be edited, by its whole path or from the cwd", (path) => {
  const folder = project();
  expect(editRefusal(realFileSystem, folder, [path])).not.toBeNull();
  expect(editRefusal(realFileSystem, "/", ["fine.ts", `${folder}/${path}`])).not.toBeNull();
});

test("every editing tool is judged under every name of its path, and no other tool", () => {
  for (const tool_name of ["Write", "Edit", "MultiEdit", "NotebookEdit"]) {
    for (const key of ["file_path", "notebook_path", "path"]) {
      const event = toolEvent({ tool_name, tool_input: { [key]: "/x" } });
      expect(event).toEqual({ on: "edit", paths: ["/x"] });
    }
  }
  for (const tool_name of ["Read", "Bash", "AskUserQuestion", undefined]) expect(toolEvent({ tool_name })).toBeNull();
});

test("a tree that no live lease was handed out for may not be edited any more: it is judged, or was given up", () => {
  const folder = project();
  const tree = `.atlas/${RUN}/worktree/e1/src/a.ts`;
  expect(editRefusal(realFileSystem, folder, [tree])).toBeNull();
  rmSync(join(folder, ".atlas", RUN, "results", "coder.1.1.lease"));
  expect(editRefusal(realFileSystem, folder, [tree])).not.toBeNull();
  writeFileSync(join(folder, ".atlas", RUN, "results", "coder.1.1.lease"), "{}");
  expect(editRefusal(realFileSystem, folder, [tree])).not.toBeNull();
});
