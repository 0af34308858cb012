/**
 * `npm run bench`: the budgets of docs/guarantees.md (Cost), measured side by side in one run against `node -e 0`.
 * Each row alternates the thing with bare node, so that a noisy machine slows both. A benchmark, not a timed test.
 */
import { spawnSync } from "node:child_process";
import { closeSync, fsyncSync, mkdirSync, openSync, readSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ORIGIN, readChain, sealLine } from "../../scripts/core/line.ts";
import { appendLine } from "../../scripts/engine/log.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { sealedLog, writeOwnRun } from "../support/ledger.ts";
import { cliEnvironment, repositoryRoot } from "../support/run-cli.ts";
import { keptFolder } from "../support/temp.ts";

interface Row {
  readonly what: string;
  readonly ratio: number;
  readonly budget: number;
  readonly ms: number;
  readonly bareMs: number;
}

const rounds = Number(process.env.ATLAS_BENCH_ROUNDS ?? 15);
const launcher = join(repositoryRoot, "hooks", "run");
const cli = join(repositoryRoot, "dist", "atlas.cjs");
const base = keptFolder("atlas-bench-");
const env = cliEnvironment({
  HOME: join(base.path, "home"),
  XDG_STATE_HOME: join(base.path, "state"),
  ATLAS_FREE_MB: "65536",
});
mkdirSync(join(base.path, "home"));

function project(name: string): string {
  const folder = join(base.path, name);
  mkdirSync(folder);
  return folder;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function timed(command: string, args: readonly string[], cwd: string, input: string): number {
  const begun = performance.now();
  const done = spawnSync(command, args, { cwd, env, input, maxBuffer: 1 << 28 });
  const ms = performance.now() - begun;
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(" ")}: ${done.status} ${done.stderr.toString("utf8")}`);
  return ms;
}

function against(what: string, budget: number, run: () => number, count = rounds): Row {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < count; round += 1) {
    bare.push(timed(process.execPath, ["-e", "0"], base.path, ""));
    ours.push(run());
  }
  return { what, budget, ratio: median(ours) / median(bare), ms: median(ours), bareMs: median(bare) };
}

function hookIn(folder: string): () => number {
  const input = JSON.stringify({
    session_id: "0fdf5484-1601-4984-a936-74e6151dcdd7",
    cwd: folder,
    hook_event_name: "SessionStart",
    source: "startup",
  });
  return () => timed("sh", [launcher, "hook", "--host", "claude", "--on", "SessionStart"], folder, input);
}

function withFinished(name: string, count: number): string {
  const folder = project(name);
  const atlas = join(folder, ".atlas");
  writeOwnRun(atlas, { stages: ["INIT", "INTENT_CAPTURED", "TRIAGED"] });
  mkdirSync(join(atlas, ".finished"), { recursive: true });
  for (let at = 0; at < count; at += 1) {
    const id = `20250101t${String(at).padStart(6, "0")}z-abcdef`;
    mkdirSync(join(atlas, id));
    writeFileSync(join(atlas, id, "log.jsonl"), "");
    writeFileSync(join(atlas, ".finished", id), "");
  }
  return folder;
}

/** A graph run of the original with `count` jobs, a third of them done and one RUNNING. */
function graphOf(name: string, count: number): string {
  const folder = project(name);
  const run = join(folder, ".atlas", "sess-g");
  mkdirSync(run, { recursive: true });
  const names = Array.from({ length: count }, (_, at) => `n${at}`);
  const dag = {
    meta: { gas_remaining: count * 3, depth_max: 4, node_max: count, next_seq: 0 },
    nodes: Object.fromEntries(
      names.map((node, at) => [
        node,
        {
          kind: "LEAF",
          depth: 0,
          deps: at > 2 ? [`n${at - 3}`] : [],
          scope_paths: [`src/${node}`],
          success_criteria_subset: ["c"],
          children: [],
        },
      ]),
    ),
    jobs: names.map((node, at) => ({
      job_id: `${node}#0`,
      node_id: node,
      kind: "LEAF",
      deps: at > 2 ? [`n${at - 3}#0`] : [],
      attempts: 0,
      ...(at < count / 3
        ? { state: "DONE" }
        : at < count / 3 + 1
          ? { state: "RUNNING", lease: `${node}#0#0` }
          : { state: "PENDING" }),
    })),
  };
  const state = {
    run_id: "sess-g",
    created_ts: "2026-11-30T17:28:02Z",
    updated_ts: "2026-11-30T17:28:02Z",
    current_state: "SCHEDULE",
    intent: "x",
    success_criteria: ["c"],
    stages: {},
    refine_passes: 0,
    draft_ref: "",
    verify_cmd: "true",
    scope_paths: ["src"],
    baseline_sha: "",
  };
  writeFileSync(join(run, "plan.dag.json"), JSON.stringify(dag, null, 2));
  writeFileSync(join(run, "state.json"), JSON.stringify(state, null, 2));
  writeFileSync(join(run, "intent.txt"), "x");
  writeFileSync(
    join(run, "log.jsonl"),
    '{"run_id": "sess-g", "stage": "DECOMPOSED", "ts": "2026-11-30T17:28:02Z"}\n{"run_id": "sess-g", "stage": "SCHEDULE", "ts": "2026-11-30T17:28:02Z", "wave": 1}\n',
  );
  return folder;
}

/** A resume begins anew each time: what it adopted is taken away. */
function resumeOf(folder: string): () => number {
  return () => {
    rmSync(join(folder, ".atlas", "sess-g", "adopted"), { recursive: true, force: true });
    return timed(process.execPath, [cli, "resume"], folder, "");
  };
}

/** One durable append against a raw write, fsync and read of as many bytes, both in this process. */
function appendRow(lines: number): Row {
  const folder = project(`append-${lines}`);
  const id = "20261130t190000z-1a2b3c";
  const log = sealedLog(
    id,
    Array.from({ length: lines }, () => ({ events: [{ type: "noted" }] })),
  );
  writeFileSync(join(folder, "log.jsonl"), log);
  let { tip } = readChain(Buffer.from(log), sha256, ORIGIN);
  const raw = join(folder, "raw");
  writeFileSync(raw, log);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < 60; round += 1) {
    const body = {
      v: 1,
      seq: tip.seq + 1,
      prev: tip.sum,
      ts: "2026-11-30T19:00:00.000Z",
      run_id: id,
      by: { verb: "x", pid: 1, session: null, epoch: 1 },
      events: [{ type: "noted" }],
    };
    const sealed = sealLine(body, sha256);
    const bytes = Buffer.from(`\n${sealed.text}\n`);
    const rawBegun = performance.now();
    const fd = openSync(raw, "a+");
    writeSync(fd, bytes);
    fsyncSync(fd);
    readSync(fd, Buffer.alloc(bytes.length), 0, bytes.length, Buffer.byteLength(log));
    closeSync(fd);
    bare.push(performance.now() - rawBegun);
    const begun = performance.now();
    const appended = appendLine(realFileSystem, folder, tip, { ...sealed, last: false });
    ours.push(performance.now() - begun);
    if (appended === "lost" || appended.won === null) throw new Error("the append lost to nobody");
    tip = appended.won;
  }
  return {
    what: `one durable append behind ${lines} lines, against raw write and fsync`,
    budget: 2,
    ratio: median(ours) / median(bare),
    ms: median(ours),
    bareMs: median(bare),
  };
}

/** Peak resident memory of a process, by the system's own account; null where python3 is not there to ask for it. */
function peakKb(command: readonly string[], cwd: string, input: string): number | null {
  const script =
    "import resource,subprocess,sys\nsubprocess.run(sys.argv[1:],stdin=sys.stdin,stdout=subprocess.DEVNULL)\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
  const done = spawnSync("python3", ["-c", script, ...command], { cwd, env, input, encoding: "utf8" });
  return done.status === 0 ? Number(done.stdout.trim()) : null;
}

function memoryRow(folder: string): Row | null {
  const input = JSON.stringify({
    session_id: "0fdf5484-1601-4984-a936-74e6151dcdd7",
    cwd: folder,
    hook_event_name: "SessionStart",
    source: "startup",
  });
  const hook = peakKb(["sh", launcher, "hook", "--host", "claude", "--on", "SessionStart"], folder, input);
  const bare = peakKb([process.execPath, "-e", "0"], folder, "");
  if (hook === null || bare === null) return null;
  return {
    what: "peak memory of a hook (MB in place of ms)",
    budget: 1.4,
    ratio: hook / bare,
    ms: hook / 1024,
    bareMs: bare / 1024,
  };
}

try {
  const empty = project("empty");
  const one = withFinished("one", 0);
  const many = withFinished("many", 10_000);
  const rows: (Row | null)[] = [
    against("hook, no .atlas/", 1.2, hookIn(empty)),
    against("hook, one unfinished run", 1.35, hookIn(one)),
    against("hook, 10,000 finished runs and one unfinished", 1.6, hookIn(many)),
    against("status --json, the same folder", 2, () => timed(process.execPath, [cli, "status", "--json"], many, "")),
    against("resume of a 1,000-node graph run", 2.5, resumeOf(graphOf("graph-1000", 1000))),
    // The original: 5.4 s where bare node took 0.07 s.
    against("resume of a 100,000-job plan.dag.json", 5.4 / 0.07 / 3, resumeOf(graphOf("graph-100000", 100_000)), 3),
    appendRow(100),
    appendRow(20_000),
    memoryRow(many),
  ];
  const held = rows.filter((row) => row !== null);
  for (const { what, ratio, budget, ms, bareMs } of held) {
    const verdict = ratio <= budget ? "holds" : "OVER";
    console.log(
      `${verdict.padEnd(6)} ${ratio.toFixed(2).padStart(6)} of ${budget.toFixed(2).padStart(5)}  ${ms.toFixed(1)} / ${bareMs.toFixed(1)}  ${what}`,
    );
  }
  console.log(JSON.stringify(held));
} finally {
  base.remove();
}
