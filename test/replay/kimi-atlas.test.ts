/** Ledgers the original itself wrote, found, told and resumed by the real command line. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  atlas,
  buildPlugin,
  copyOf,
  fingerprint,
  ledgerLines,
  type Plugin,
} from "../support/adopted-world.ts";
import { type Expected, expectedOf, worlds } from "../support/kimi-atlas.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await buildPlugin();
});
afterAll(() => plugin.remove());

const ours = ["adopted", ".finished", ".turns"];
const single = worlds.filter((world) => world.startsWith("single-") && expectedOf[world]?.run !== null);
const graphs = worlds.filter((world) => world.startsWith("graph-"));

function listed(project: string, id: string): Answer {
  const told = atlas(plugin, project, ["status"]);
  expect(told.code).toBe(0);
  return told.json.runs.find((run: Answer) => run.id === id);
}

/** Resumes twice in one world: the second time says the same and writes nothing, and no foreign byte moves. */
function resumeTwice(project: string): Answer {
  const before = fingerprint(join(project, ".atlas"), ours);
  const first = atlas(plugin, project, ["resume"]);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  const adopted = join(project, ".atlas", first.json.run.id, "adopted");
  const lines = ledgerLines(adopted);
  const second = atlas(plugin, project, ["resume"]);
  expect(second).toMatchObject({ code: 0, stderr: "" });
  expect(second.json.did).toEqual(["reattached epoch 1"]);
  expect({ ...second.json, did: [] }).toEqual({ ...first.json, did: [] });
  expect(ledgerLines(adopted)).toEqual(lines);
  expect(fingerprint(join(project, ".atlas"), ours)).toEqual(before);
  return first.json;
}

/** What a resume of each stage asks for: the stage after the last one recorded, and never its work again. */
const nextOf: Readonly<Record<string, Answer>> = {
  "single-01-init": { do: "submit", slot: "triage" },
  "single-02-intent-captured": { do: "submit", slot: "triage" },
  "single-03-triaged": { do: "dispatch", agents: [{ slot: "scout", role: "context-scout" }] },
  "single-04-grounded": { do: "submit", slot: "plan" },
  "single-05-coded": { do: "ask", gate: "approve-command" },
  "single-06-verified": { do: "ask", gate: "output" },
  "single-07-refine": { do: "dispatch", agents: [{ slot: "coder", role: "elite-coder" }] },
  "single-08-coded": { do: "ask", gate: "approve-command" },
  "single-09-verified": { do: "ask", gate: "output" },
};

describe.each(single)("%s", (world) => {
  const expected = expectedOf[world] as Expected;

  test("status and resume tell the original's stage and passes, and go on behind it; a trailing REFINE is coded, never output", () => {
    const project = copyOf(world);
    const told = {
      id: expected.run,
      kind: "change",
      origin: "kimi-atlas",
      stage: expected.current_state,
      refine_passes: expected.refine_passes,
      terminal: false,
      resumable: true,
      losses: [],
    };
    expect(listed(project, "sess-a")).toMatchObject({ ...told, why: "adoptable", owner: null });
    const resumed = resumeTwice(project);
    expect(resumed.run).toMatchObject({ ...told, why: "unfinished", owner: { standing: "ours" } });
    expect(resumed.next).toMatchObject(nextOf[world]);
  });
});

test("a run adopted at INIT records INTENT_CAPTURED and TRIAGED once its triage is handed in", () => {
  const project = copyOf("single-01-init");
  const { claim } = atlas(plugin, project, ["resume"]).json;
  const file = join(project, "triage.json");
  writeFileSync(file, '{"archetype": "feature"}');
  const submit = ["submit", "--run", "sess-a", "--claim", claim, "--slot", "triage", "--file", file];
  const { json } = atlas(plugin, project, submit);
  expect(json.run.stage).toBe("TRIAGED");
  expect(json.next).toMatchObject({ do: "dispatch", agents: [{ slot: "scout" }] });
  const stages = ledgerLines(join(project, ".atlas", "sess-a", "adopted")).flatMap((line) => line.stage ?? []);
  expect(stages).toEqual(["INTENT_CAPTURED", "TRIAGED"]);
});

describe.each(graphs)("%s", (world) => {
  const expected = expectedOf[world] as Expected;

  test("status and resume give the original's reset graph, its ready set, its wave and its gas, and hand out nothing", () => {
    const project = copyOf(world);
    const graph = {
      gas: expected.gas_remaining,
      ready: expected.ready_after,
      wave: expected.wave_after,
      terminated: expected.terminated_after,
      dag: expected.dag_after,
    };
    const told = { id: expected.run, kind: "weave", origin: "kimi-atlas", stage: "SCHEDULE", terminal: false };
    const before = listed(project, "sess-g");
    expect(before).toMatchObject({ ...told, resumable: true });
    expect(before.graph).toEqual(graph);
    const resumed = resumeTwice(project);
    expect(resumed.run).toMatchObject(told);
    expect(resumed.run.graph).toEqual(graph);
    expect(resumed.next).toEqual({ do: "nothing", why: "weave.not-yet" });
    const view = readFileSync(join(project, ".atlas", "sess-g", "adopted", "plan.dag.json"), "utf8");
    expect(JSON.parse(view)).toEqual(expected.dag_after);
  });
});

describe.each([
  ["damaged-truncated-state", "state-torn"],
  ["damaged-empty-state", "state-empty"],
])("%s", (world, lostState) => {
  const losses = [lostState, "success_criteria", "scope_paths", "verify_cmd", "baseline"];

  test("the run is found by its log, what no file holds any more is named, and the packet is asked for first", () => {
    const project = copyOf(world);
    expect(listed(project, "sess-a")).toMatchObject({ stage: "CODED", resumable: true, losses, refine_passes: 0 });
    const resumed = resumeTwice(project);
    expect(resumed.run).toMatchObject({ stage: "CODED", refine_passes: 0, losses: [...losses, "packet"] });
    expect(resumed.next).toMatchObject({ do: "submit", slot: "packet" });
    const foreign = join(project, ".atlas", "sess-a");
    expect(readFileSync(join(foreign, "adopted", "intent.txt"))).toEqual(readFileSync(join(foreign, "intent.txt")));
  });

  test("once the packet is handed in again, baseline included, the run goes on from the stage its log proves", () => {
    const project = copyOf(world);
    const { claim, next } = atlas(plugin, project, ["resume"]).json;
    const packet = {
      intent: "add a --json flag to the report command",
      success_criteria: ["report --json prints one JSON object"],
      scope_paths: ["src"],
      verify_cmd: "npm test",
      baseline: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    };
    writeFileSync(next.result, JSON.stringify(packet));
    const { code, json } = atlas(plugin, project, next.then.split(" ").slice(1));
    expect(code).toBe(0);
    expect(json).toMatchObject({ claim, run: { stage: "CODED" }, next: { do: "ask", gate: "approve-command" } });
    const [, set] = ledgerLines(join(project, ".atlas", "sess-a", "adopted")).flatMap((line) =>
      line.events.filter((event: Answer) => ["adopted", "packet-set"].includes(event.type)),
    );
    expect(set).toMatchObject({ type: "packet-set", baseline: packet.baseline, hasCommand: true });
  });
});

test("a torn last line that begins the stage the state shows is that stage: REFINE, one pass, the loss named", () => {
  const project = copyOf("damaged-torn-log");
  const losses = ["log-torn-line", "log-torn-tail"];
  const told = { stage: "REFINE", refine_passes: 1, losses };
  expect(listed(project, "sess-a")).toMatchObject(told);
  const resumed = resumeTwice(project);
  expect(resumed.run).toMatchObject(told);
  expect(resumed.next).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
});

test("a graph whose DAG is torn is listed with its reason, resumed by nobody, and left as it is", () => {
  const project = copyOf("damaged-torn-dag");
  const before = fingerprint(project);
  const told = listed(project, "sess-g");
  expect(told).toMatchObject({ stage: "SCHEDULE", resumable: false });
  expect(told.why).toMatch(/^unreadable: dag\.torn: /);
  expect(atlas(plugin, project, ["resume"])).toMatchObject({
    code: 0,
    json: { run: null, unreadable: [{ id: "sess-g", why: told.why }] },
  });
  expect(atlas(plugin, project, ["resume", "--run", "sess-g"])).toMatchObject({
    code: 3,
    json: { refused: { code: "dag.torn" } },
  });
  expect(fingerprint(project)).toEqual(before);
});

test("a finished run is not resumed: it is counted, marked, and not opened again", () => {
  const project = copyOf("single-10-output");
  expect(atlas(plugin, project, ["resume"])).toMatchObject({ code: 0, json: { run: null } });
  expect(existsSync(join(project, ".atlas", ".finished", "sess-a"))).toBe(true);
  expect(existsSync(join(project, ".atlas", "sess-a", "adopted"))).toBe(false);
  rmSync(join(project, ".atlas", "sess-a"), { recursive: true });
  expect(atlas(plugin, project, ["status"]).json).toMatchObject({ finished: 0, runs: [] });
});
