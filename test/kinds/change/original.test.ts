import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isChangeStage, isStageName } from "../../../scripts/core/stage-names.ts";
import { type OriginalRun, type ReadableOriginal, readOriginalRun } from "../../../scripts/kinds/change/original.ts";
import { isOriginalLog } from "../../../scripts/kinds/change/original-log.ts";
import {
  bytesOf,
  expectedOf,
  filesOf,
  type RunBytes,
  readRun,
  runsOf,
  worlds,
  worldsFolder,
} from "../../support/kimi-atlas.ts";

const runOf = (world: string) => runsOf(world)[0] as RunBytes;
const text = (bytes: Uint8Array | null) => new TextDecoder().decode(bytes ?? new Uint8Array());
const bytes = (value: string) => new TextEncoder().encode(value);
const codes = (run: OriginalRun) => (run.readable ? run.losses.map((loss) => loss.code) : [run.why.code]);

function readable(run: OriginalRun): ReadableOriginal {
  if (!run.readable) throw new Error(run.why.sentence);
  return run;
}

const ts = "2026-11-30T17:28:02Z";
const line = (stage: string, more = "") => `{"run_id": "sess-a", "stage": "${stage}", "ts": "${ts}"${more}}\n`;
const toVerified = ["INIT", "INTENT_CAPTURED", "TRIAGED", "GROUNDED", "CODED", "VERIFIED"].map((s) => line(s)).join("");
const stateAt = (world: string, change: Record<string, unknown> = {}) =>
  bytes(JSON.stringify({ ...JSON.parse(text(runOf(world).state)), ...change }));

function read(files: {
  state?: Uint8Array | null;
  log?: string | null;
  intent?: string | null;
  id?: string;
}): OriginalRun {
  const { state = null, log = null, intent = null, id = "sess-a" } = files;
  return readOriginalRun({
    state,
    log: log === null ? null : bytes(log),
    intent: intent === null ? null : bytes(intent),
    dag: "absent",
    idOfFolder: id,
  });
}

describe("the worlds the original wrote", () => {
  const whole = worlds.filter((world) => /^(single|graph)-/.test(world));

  test("there are fifteen", () => {
    expect(whole).toHaveLength(15);
  });

  test.each(whole)("%s: stage, refine passes and end are the original's own, and nothing is lost", (world) => {
    const expected = expectedOf[world];
    const run = readable(readRun(runOf(world)));
    expect(run.id).toBe(runOf(world).id);
    expect(run.graph).toBe(world.startsWith("graph-"));
    expect(run.stage).toBe(expected?.current_state ?? "SCHEDULE");
    expect(run.refinePasses).toBe(expected?.refine_passes ?? 0);
    expect(run.terminal).toBe(expected?.run === null);
    expect(run.losses).toEqual([]);
    expect(run.pendingRollback).toBeNull();
    expect(run.updatedTs).toBe(ts);
    expect(run.packet).toEqual({
      intent: "add a --json flag to the report command",
      successCriteria: ["report --json prints one JSON object", "existing text output is unchanged"],
      scopePaths: ["src", "test"],
      verifyCommand: "npm test",
      baseline: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    });
  });

  test("select-many: each run is told as the original tells it", () => {
    const told = runsOf("select-many").map((bytesOfRun) => {
      const run = readRun(bytesOfRun);
      return { run_id: run.id, has_dag: run.graph, state: run.stage };
    });
    expect(told).toEqual(expectedOf["select-many"]?.runs);
  });

  test("a node's sub-run is read by its folder's name, without a mismatch", () => {
    const folder = join(worldsFolder, "graph-003-nodes/.atlas/sess-g/tasks/n0");
    expect(readRun(bytesOf(folder, "n0"))).toMatchObject({ readable: true, stage: "INTENT_CAPTURED", losses: [] });
  });

  test("a trailing REFINE stays REFINE", () => {
    expect(readRun(runOf("single-07-refine"))).toMatchObject({ stage: "REFINE", terminal: false, refinePasses: 1 });
  });
});

describe("damage the original loses a run by", () => {
  test.each([
    ["damaged-truncated-state", "state-torn"],
    ["damaged-empty-state", "state-empty"],
  ])("%s: the stage comes from the log, the request from intent.txt, and what is lost is named", (world, damage) => {
    const run = readable(readRun(runOf(world)));
    expect(run).toMatchObject({ stage: "CODED", terminal: false, refinePasses: 0, packet: null });
    expect(run.intent).toBe("add a --json flag to the report command");
    expect(codes(run)).toEqual([damage, "success_criteria", "scope_paths", "verify_cmd", "baseline"]);
    expect(run.stages).toEqual(["INIT", "INTENT_CAPTURED", "TRIAGED", "GROUNDED", "CODED"]);
  });

  test("damaged-torn-log: the fragment is the line the state was written after, so one pass is spent", () => {
    const run = readable(readRun(runOf("damaged-torn-log")));
    expect(run).toMatchObject({ stage: "REFINE", refinePasses: 1, terminal: false });
    expect(codes(run)).toEqual(["log-torn-line", "log-torn-tail"]);
    expect(run.packet).not.toBeNull();
  });

  test("damaged-torn-dag: unreadable because of its plan, and what the other files say is still told", () => {
    const run = readRun(runOf("damaged-torn-dag"));
    expect(run).toMatchObject({ readable: false, id: "sess-g", graph: true, stage: "SCHEDULE", updatedTs: ts });
    expect(codes(run)).toEqual(["dag.torn"]);
  });

  test("an ended graph run needs its plan no more", () => {
    const done = runsOf("select-many").find((run) => run.id === "done-graph") as RunBytes;
    expect(readRun({ ...done, dag: new Uint8Array() })).toMatchObject({ readable: true, terminal: true, graph: true });
  });

  test("a graph run whose plan is gone is unreadable, never taken for a single run", () => {
    const run = readRun({ ...runOf("graph-003-nodes"), dag: null });
    expect(run).toMatchObject({ readable: false, graph: true, why: { code: "dag.missing" } });
    const files = filesOf(runOf("graph-003-nodes"));
    expect(readOriginalRun({ ...files, dag: null })).toMatchObject({ why: { code: "dag.unreadable" } });
    expect(readOriginalRun({ ...files, dag: "unchecked" })).toMatchObject({ readable: true, graph: true });
  });

  test("without a log the state's word is taken, and said to be", () => {
    const run = readable(readRun({ ...runOf("single-08-coded"), log: null }));
    expect(run).toMatchObject({ stage: "CODED", refinePasses: 1, updatedTs: ts });
    expect(codes(run)).toEqual(["log-missing"]);
  });

  test("without a stage in any file a run is unreadable, because of its state", () => {
    expect(codes(read({ intent: "x" }))).toEqual(["state.missing"]);
    expect(codes(read({ state: new Uint8Array() }))).toEqual(["state.empty"]);
    expect(codes(read({ state: bytes('{"a') }))).toEqual(["state.torn"]);
    for (const shape of ["[]", "5", "null", '"CODED"', "{}", '{"current_state":["CODED"]}']) {
      expect(codes(read({ state: bytes(shape), log: "\n" }))).toEqual(["state.shape"]);
    }
  });
});

describe("the log is the truth", () => {
  test("a tampered pass count or stage in the state changes nothing but the list of losses", () => {
    const log = toVerified + line("REFINE") + line("CODED");
    const run = readable(read({ state: stateAt("single-10-output", { refine_passes: 99 }), log }));
    expect(run).toMatchObject({ stage: "CODED", refinePasses: 1, terminal: false });
    expect(codes(run)).toEqual(["state-differs"]);
  });

  test("killed between log and state, the log's stage counts, once", () => {
    const run = readable(read({ state: stateAt("single-06-verified"), log: toVerified + line("REFINE") }));
    expect(run).toMatchObject({ stage: "REFINE", refinePasses: 1 });
  });

  test("cut anywhere inside its last line, the state that was written after it is believed", () => {
    const log = toVerified + line("REFINE");
    for (let length = toVerified.length; length < log.length - 2; length += 1) {
      const run = readable(read({ state: runOf("single-07-refine").state, log: log.slice(0, length) }));
      const isCutBetween = log[length - 1] === "\n";
      expect([run.stage, run.refinePasses]).toEqual(isCutBetween ? ["VERIFIED", 0] : ["REFINE", 1]);
      expect(codes(run)).toContain(isCutBetween ? "state-differs" : "log-torn-line");
    }
  });

  test("cut anywhere inside its last line before the state was written, the line has not happened", () => {
    for (let length = 1; length < line("REFINE").length - 2; length += 1) {
      const log = toVerified + line("REFINE").slice(0, length);
      const run = readable(read({ state: stateAt("single-06-verified"), log }));
      expect([run.stage, run.refinePasses]).toEqual(["VERIFIED", 0]);
    }
  });

  test("a fragment of another stage's line proves nothing about the state's stage", () => {
    const log = `${toVerified}{"run_id": "sess-a", "stage": "OUT`;
    expect(read({ state: stateAt("single-07-refine"), log })).toMatchObject({ stage: "VERIFIED" });
  });

  test("with a line torn, the larger count of passes binds, by one pass a damaged line", () => {
    const log = toVerified + line("REFINE") + line("CODED") + line("VERIFIED").slice(0, 60);
    const passes = (mirror: number) =>
      readable(read({ state: stateAt("single-08-coded", { refine_passes: mirror }), log }));
    expect([0, 1, 2, 99].map((mirror) => passes(mirror).refinePasses)).toEqual([1, 1, 2, 2]);
  });

  test("a pass hidden in a fragment that the next line was appended to is not given a second time", () => {
    const log = toVerified + line("REFINE").slice(0, 50) + line("CODED");
    const run = readable(read({ state: stateAt("single-08-coded"), log }));
    expect(run).toMatchObject({ stage: "CODED", refinePasses: 1 });
    expect(codes(run)).toEqual(["log-torn-line"]);
    expect(read({ state: stateAt("single-08-coded", { refine_passes: 9 }), log })).toMatchObject({ refinePasses: 1 });
    expect(read({ state: stateAt("single-08-coded", { refine_passes: 0 }), log })).toMatchObject({ refinePasses: 0 });
  });

  test("CRLF, a byte order mark, blank lines and NULs around a line cost no record", () => {
    const log = `\uFEFF${toVerified.replaceAll("\n", "\r\n\r\n")}${"\0".repeat(512)}${line("REFINE")}${"\0".repeat(512)}`;
    const run = readable(read({ state: stateAt("single-07-refine"), log }));
    expect(run).toMatchObject({ stage: "REFINE", refinePasses: 1 });
    expect(run.stages).toHaveLength(7);
  });

  test("a torn multi-byte character costs its text, not the lines around it", () => {
    const torn = [...bytes('{"run_id": "sess-a", "stage": "REFINE", "agent": "'), 0xe2, 0x82, ...bytes('"}\n')];
    const log = Uint8Array.from([...bytes(toVerified), ...torn, ...bytes(line("CODED"))]);
    const run = readOriginalRun({ ...filesOf(runOf("single-08-coded")), log });
    expect(run).toMatchObject({ stage: "CODED", refinePasses: 1 });
    expect(codes(run)).toEqual(["log-torn-line"]);
  });

  test("after a completed rollback the run stands at its target; an open one is told, the last if there are two", () => {
    const rollback = (event: string, sha: string) =>
      line("ROLLBACK", `, "event": "${event}", "target_sha": "${sha}", "target_stage": "CODED"`);
    const open = toVerified + rollback("rollback_intent", "aaaaaaa") + rollback("rollback_intent", "bbbbbbb");
    expect(read({ log: open })).toMatchObject({
      stage: "VERIFIED",
      pendingRollback: { targetSha: "bbbbbbb", targetStage: "CODED" },
    });
    const closed = open + rollback("rollback_complete", "bbbbbbb");
    expect(read({ log: closed })).toMatchObject({ stage: "CODED", pendingRollback: null, refinePasses: 0 });
  });

  test("a rollback whose line is torn is still known from the state", () => {
    const pending = { rollback_pending: { target_sha: "abcdef0", target_stage: "VERIFIED" } };
    const state = stateAt("single-06-verified", pending);
    const torn = toVerified + line("ROLLBACK").slice(0, 40);
    expect(read({ state, log: torn })).toMatchObject({ pendingRollback: { targetSha: "abcdef0" } });
    expect(read({ state, log: toVerified })).toMatchObject({ pendingRollback: null });
  });
});

describe("the packet", () => {
  test("two different requests are told apart; line ends and a last newline are no difference", () => {
    const state = stateAt("single-05-coded", { intent: "one\ntwo" });
    expect(codes(read({ state, log: toVerified.slice(0, -line("VERIFIED").length), intent: "one\r\ntwo\n" }))).toEqual(
      [],
    );
    const run = readable(read({ state, log: toVerified, intent: "an earlier request" }));
    expect(codes(run)).toContain("intent-mismatch");
    expect(run.packet?.intent).toBe("one\ntwo");
  });

  test("fields of another type are lost, each by name, and a packet is never made up from the rest", () => {
    const state = stateAt("single-06-verified", {
      success_criteria: [1],
      scope_paths: "src",
      verify_cmd: null,
      intent: 7,
    });
    const run = readable(read({ state, log: toVerified }));
    expect(codes(run)).toEqual(["intent", "success_criteria", "scope_paths", "verify_cmd"]);
    expect(run.packet).toBeNull();
  });

  test("no commit was found is not the same as the commit is lost", () => {
    const none = readable(read({ state: stateAt("single-06-verified", { baseline_sha: "" }), log: toVerified }));
    expect([none.packet?.baseline, codes(none)]).toEqual([null, []]);
    for (const bad of ["--upload-pack=x", "HEAD", 5, "abc\n"]) {
      const lost = readable(read({ state: stateAt("single-06-verified", { baseline_sha: bad }), log: toVerified }));
      expect([lost.packet?.baseline, codes(lost)]).toEqual([null, ["baseline"]]);
    }
  });
});

describe("hostile files", () => {
  /** Everything a caller may print without a fence. */
  const speakable = (run: OriginalRun) =>
    JSON.stringify({ ...run, packet: null, intent: null, losses: run.readable ? run.losses : run.why });

  test("a name that is none of the seed's never passes for a stage, wherever it stands", () => {
    const order = "run rm -rf /";
    const log = `${toVerified}${line(order)}`;
    const state = stateAt("single-06-verified", { current_state: order, stages: { [order]: {} }, run_id: order });
    for (const run of [read({ log }), read({ state }), read({ log, state, id: "sess-a" })]) {
      expect(run).toMatchObject({ readable: true, stage: "unknown", terminal: false });
      expect(speakable(run)).not.toContain("rm -rf");
    }
    const rollback = line(
      "ROLLBACK",
      `, "event": "rollback_intent", "target_sha": "${order}", "target_stage": "${order}"`,
    );
    expect(read({ log: rollback + toVerified })).toMatchObject({
      pendingRollback: { targetSha: null, targetStage: "unknown" },
    });
  });

  test("a time that is no time is passed over for the last one that is", () => {
    const log = `${toVerified}{"run_id": "sess-a", "stage": "CODED", "ts": "now; rm -rf /"}\n`;
    expect(read({ log })).toMatchObject({ updatedTs: ts });
    const state = stateAt("single-06-verified", { updated_ts: "now; rm -rf /" });
    expect(read({ state })).toMatchObject({ updatedTs: null });
  });

  test("a folder whose name is no run id is unreadable, and its name goes no further", () => {
    for (const id of ["", "..", "../x", "a/b", "a\nrun rm -rf /", "a".repeat(129), "-x"]) {
      const run = read({ ...{ log: toVerified }, id });
      expect(run).toMatchObject({ readable: false, id: "", why: { code: "id.invalid" } });
      expect(speakable(run)).not.toContain("rm -rf");
    }
  });

  test("a ledger copied under another name is read under its folder's name, and that is said", () => {
    const run = readable(readRun({ ...runOf("single-05-coded"), id: "copy" }));
    expect([run.id, codes(run)]).toEqual(["copy", ["id-mismatch"]]);
  });

  test("a weave's stage without a plan is no stage of a single run", () => {
    const state = stateAt("single-06-verified", { current_state: "SCHEDULE", stages: {} });
    expect(read({ state })).toMatchObject({ readable: false, why: { code: "dag.missing" } });
    expect(read({ log: line("OUTPUT") })).toMatchObject({
      readable: true,
      graph: false,
      stage: "OUTPUT",
      terminal: true,
    });
  });

  test("the word DONE ends a run as the original's readers take it", () => {
    expect(read({ log: toVerified + line("DONE") })).toMatchObject({ stage: "unknown", terminal: true });
    expect(read({ log: toVerified + line("DONE") + line("CODED") })).toMatchObject({ stage: "CODED", terminal: false });
  });

  test("a million levels of nesting, and 64 MB of rubbish lines, are answered at once", () => {
    const begin = performance.now();
    const deep = `${'{"a":'.repeat(1_000_000)}`;
    const nested = readable(read({ state: bytes(deep), log: `${toVerified}{"run_id": ${"[".repeat(1_000_000)}\n` }));
    expect([nested.stage, codes(nested).slice(0, 2)]).toEqual(["VERIFIED", ["state-torn", "log-torn-line"]]);
    const size = 64 * 1024 * 1024;
    for (const pattern of ["\n", "{x}\n", "{}\n", "\0", "{", '{"run_id":']) {
      const log = Buffer.alloc(size, pattern);
      const run = readOriginalRun({ state: null, log, intent: null, dag: "absent", idOfFolder: "sess-a" });
      expect(run.readable).toBe(false);
    }
    expect(performance.now() - begin).toBeLessThan(6 * 2000);
  });
});

describe("reading is total", () => {
  const check = (run: OriginalRun) => {
    expect(run.stage === "unknown" || isStageName(run.stage)).toBe(true);
    if (!run.readable) return;
    if (!run.graph) expect(run.stage === "unknown" || isChangeStage(run.stage)).toBe(true);
    expect(run.stages.every(isStageName)).toBe(true);
    expect(run.refinePasses).toBeLessThanOrEqual(2);
  };
  const parts = ["state", "log", "intent", "dag"] as const;
  const samples = worlds.map(runOf);

  test("each file of each world cut at each byte gives a run or a reason", () => {
    for (const run of samples) {
      for (const part of parts) {
        const whole = run[part];
        const step = (whole?.length ?? 0) > 10_000 ? 211 : 1;
        for (let length = 0; whole !== null && length < whole.length; length += step) {
          check(readRun({ ...run, [part]: whole.subarray(0, length) }));
        }
      }
    }
  });

  test("each byte of a run changed gives a run or a reason", () => {
    for (const run of [runOf("single-10-output"), runOf("graph-003-nodes"), runOf("damaged-torn-log")]) {
      for (const part of parts) {
        const whole = run[part] ?? new Uint8Array();
        for (let at = 0; at < whole.length; at += 1) {
          for (const byte of [0x00, 0x0a, 0x22, 0x5b, 0xff]) {
            const changed = Uint8Array.from(whole);
            changed[at] = byte;
            check(readRun({ ...run, [part]: changed }));
          }
        }
      }
    }
  });

  test("any bytes in any file, and any JSON in place of each, give a run or a reason", () => {
    const file = fc.option(fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.json().map(bytes)));
    const stages = fc.array(
      fc.constantFrom(line("INIT"), line("CODED"), line("OUTPUT"), line("\\u0000"), "{", "\0", "\n"),
    );
    const log = fc.option(
      fc.oneof(
        stages.map((lines) => bytes(lines.join(""))),
        fc.uint8Array(),
      ),
    );
    const records = fc.record({ state: file, log, intent: file, dag: file });
    fc.assert(
      fc.property(records, (files) => check(readRun({ ...files, id: "sess-a" }))),
      { numRuns: 500 },
    );
  });

  test("reading twice gives the same answer and changes no byte", () => {
    for (const run of samples) {
      const before = parts.map((part) => text(run[part]));
      expect(readRun(run)).toEqual(readRun(run));
      expect(parts.map((part) => text(run[part]))).toEqual(before);
    }
  });
});

describe("whose log it is", () => {
  test("the original's lines have no sum, ours do; the first whole line decides", () => {
    const ours = '\n{"v":1,"seq":1,"prev":"0","sum":"ab"}\n';
    expect(isOriginalLog(runOf("single-05-coded").log as Uint8Array)).toBe(true);
    expect(isOriginalLog(bytes(ours))).toBe(false);
    expect(isOriginalLog(bytes(`{"run_id": "se\n${line("CODED")}${ours}`))).toBe(true);
    expect(isOriginalLog(bytes(`{"torn\n${ours}${line("CODED")}`))).toBe(false);
  });

  test("where no line is whole, only what begins as ours is ours", () => {
    expect(isOriginalLog(bytes('\n{"v":1,"seq":1,"prev":"00'))).toBe(false);
    expect(isOriginalLog(bytes('{"run_id": "se'))).toBe(true);
    expect(isOriginalLog(new Uint8Array())).toBe(true);
  });
});
