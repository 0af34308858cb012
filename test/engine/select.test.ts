/** Which run a resume means, where several could be meant. */
import { chmodSync, cpSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { atlas, buildPlugin, copyOf, type Plugin } from "../support/adopted-world.ts";
import { expectedOf, worldsFolder } from "../support/kimi-atlas.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await buildPlugin();
});
afterAll(() => plugin.remove());

const many = expectedOf["select-many"];
const bySession = Object.entries(
  (many as { readonly with_session?: Readonly<Record<string, string>> }).with_session ?? {},
);
/** Same second: the graph before the single, then the id descending. */
const newestFirst = ["old-graph", "new-graph", "older-single"];

const asked = (project: string, ...more: string[]) => atlas(plugin, project, ["resume", "--dry-run", ...more]);
const chosen = (project: string, ...more: string[]) => asked(project, ...more).json.run.id;

test.each(bySession)("session %s is led to its own graph run, and adopts that one alone", (session, run) => {
  const project = copyOf("select-many");
  const { code, json } = atlas(plugin, project, ["resume", "--session", session]);
  expect({ code, run: json.run.id }).toEqual({ code: 0, run });
  const adopted = readdirSync(join(project, ".atlas")).filter((id) =>
    readdirSync(join(project, ".atlas", id)).includes("adopted"),
  );
  expect(adopted).toEqual([run]);
});

test("a session none of whose runs is here is told which there are, newest first, and nothing is adopted", () => {
  const project = copyOf("select-many");
  const { code, json } = atlas(plugin, project, ["resume", "--session", "somebody-else"]);
  expect({ code, refused: json.refused.code }).toEqual({ code: 3, refused: "resume.ambiguous" });
  expect(json.refused.reason).toContain(newestFirst.join(", "));
  expect(atlas(plugin, project, ["status"]).json.runs.map((run: { id: string }) => run.id)).toEqual(newestFirst);
});

test("--newest takes the first of the list, and a session's own run comes before it", () => {
  const project = copyOf("select-many");
  expect(chosen(project, "--newest")).toBe(newestFirst[0]);
  expect(chosen(project, "--newest", "--session", "new-graph")).toBe("new-graph");
});

test.each([
  ["only in state.json", null, '{"run_id":"bb","current_state":"EVIL"}'],
  ["as the log's last word", '{"stage":"INIT"}\n{"stage":"EVIL"}\n', null],
  ["in both", '{"stage":"INIT"}\n{"stage":"DREAM"}\n', '{"current_state":"DREAM"}'],
])("a run at a stage nobody knows (%s) is listed with the reason and is no choice", (_where, log, state) => {
  const project = copyOf("single-05-coded");
  const folder = join(project, ".atlas", "bb");
  mkdirSync(folder);
  if (log !== null) writeFileSync(join(folder, "log.jsonl"), log);
  if (state !== null) writeFileSync(join(folder, "state.json"), state);
  const why = expect.stringMatching(/^unreadable: adopt\.unknown_stage: /);
  const listed = atlas(plugin, project, ["status"]).json.runs.find((run: { id: string }) => run.id === "bb");
  expect(listed).toMatchObject({ stage: "unknown", resumable: false, why });
  expect(chosen(project, "--session", "somebody-else")).toBe("sess-a");
  expect(asked(project, "--run", "bb").json.refused.code).toBe("adopt.unknown_stage");
  const { code, json } = atlas(plugin, project, ["resume", "--run", "bb"]);
  expect([code, json.refused.code]).toEqual([3, "adopt.unknown_stage"]);
  // Alone it is named, not resumed.
  const alone = tempFolder();
  cpSync(folder, join(alone, ".atlas", "bb"), { recursive: true });
  expect(atlas(plugin, alone, ["resume"]).json.unreadable).toEqual([{ id: "bb", why }]);
});

/** The same runs, written in another order, with other times and modes: what a copy, a touch or a check-out does. */
function disturbed(order: readonly string[]): string {
  const project = tempFolder();
  mkdirSync(join(project, ".atlas"));
  for (const [at, id] of order.entries()) {
    const folder = join(project, ".atlas", id);
    cpSync(join(worldsFolder, "select-many", ".atlas", id), folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      const time = new Date(Date.UTC(2001 + at * 7, 0, 1));
      utimesSync(join(folder, name), time, time);
      chmodSync(join(folder, name), at % 2 === 0 ? 0o600 : 0o755);
    }
  }
  return project;
}

test("no touch, no mode and no order of writing changes which run is meant", () => {
  const ids = readdirSync(join(worldsFolder, "select-many", ".atlas"));
  expect(ids).toHaveLength(5);
  for (const order of [ids, [...ids].reverse(), [...ids.slice(2), ...ids.slice(0, 2)]]) {
    const project = disturbed(order);
    expect(asked(project).json.refused.reason).toContain(newestFirst.join(", "));
    expect(chosen(project, "--newest")).toBe("old-graph");
    expect(chosen(project, "--session", "new-graph")).toBe("new-graph");
  }
});

test("a node's own run is never the root, whoever asks for it and however young it is", () => {
  const project = copyOf("graph-003-nodes");
  const listed = atlas(plugin, project, ["status", "--all"]).json.runs;
  expect(listed.map((run: { id: string }) => run.id)).toEqual(["sess-g"]);
  expect(chosen(project, "--session", "n0")).toBe("sess-g");
  for (const name of ["n0", "tasks", "sess-g/tasks/n0"]) {
    const { code, json } = atlas(plugin, project, ["resume", "--run", name]);
    expect(code).toBe(3);
    expect(["run.unknown", "run.bad_id"]).toContain(json.refused.code);
  }
});

test("a finished run is chosen by no rule, not even for its own session", () => {
  const project = copyOf("select-many");
  expect(asked(project, "--session", "done-graph").json.refused.code).toBe("resume.ambiguous");
});
