/** What a hook and a look at the runs cost, as a host starts them: through the launcher, in a process of their own. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mark } from "../../scripts/platform/finished.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { writeOwnRun } from "../support/ledger.ts";
import { againstNode, type Bench, type Measured, type Row, timed } from "./measure.ts";

const finishedRuns = 10_000;
const settledMs = 1200;

export const hookRows: readonly Row[] = [
  {
    what: "hook, no .atlas/",
    budget: 1.2,
    measure: (bench) => againstNode(bench, hookIn(bench, bench.project("empty"))),
  },
  {
    what: "hook, one unfinished run",
    budget: 1.35,
    measure: (bench) => againstNode(bench, hookIn(bench, withFinished(bench, "one", 0))),
  },
  {
    what: "hook, 10,000 finished runs and one unfinished",
    budget: 1.6,
    measure: (bench) => againstNode(bench, hookIn(bench, withFinished(bench, "many", finishedRuns))),
  },
  {
    what: "status --json, the same folder",
    budget: 2,
    measure: (bench) => {
      const folder = withFinished(bench, "status", finishedRuns);
      return againstNode(bench, () => timed(bench, "sh", [bench.launcher, "status", "--json"], folder));
    },
  },
  {
    what: "peak memory of a hook",
    budget: 1.4,
    measure: (bench) => peakMemory(bench, withFinished(bench, "memory", finishedRuns)),
  },
];

const hookWords = ["hook", "--host", "claude", "--on", "SessionStart"];

/** A session of its own for each folder: its record names the places it has seen. */
function sessionStart(folder: string): string {
  const session = createHash("sha256").update(folder).digest("hex");
  return JSON.stringify({
    session_id: session,
    cwd: folder,
    hook_event_name: "SessionStart",
    source: "startup",
  });
}

function hookIn(bench: Bench, folder: string): () => number {
  return () => timed(bench, "sh", [bench.launcher, ...hookWords], folder, sessionStart(folder));
}

function withFinished(bench: Bench, name: string, count: number): string {
  const folder = bench.project(name);
  const atlas = join(folder, ".atlas");
  writeOwnRun(atlas, { stages: ["INIT", "INTENT_CAPTURED", "TRIAGED"] });
  for (let at = 0; at < count; at += 1) {
    const id = `20250101t${String(at).padStart(6, "0")}z-abcdef`;
    mkdirSync(join(atlas, id));
    writeFileSync(join(atlas, id, "log.jsonl"), "");
    // As the engine leaves them: most packed, the last ones files of their own.
    mark(realFileSystem, atlas, id);
  }
  // As a start-up finds it: the last run did not end this very second.
  if (count > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, settledMs);
  return folder;
}

function peakMemory(bench: Bench, folder: string): Measured | null {
  const ours = peakMegabytes(bench, ["sh", bench.launcher, ...hookWords], folder, sessionStart(folder));
  const theirs = peakMegabytes(bench, [process.execPath, "-e", "0"], folder, "");
  return ours === null || theirs === null ? null : { unit: "MB", ours, theirs };
}

/** By the system's own account; null where python3 is not there to ask for it. */
function peakMegabytes(bench: Bench, command: readonly string[], cwd: string, input: string): number | null {
  const script =
    "import resource,subprocess,sys\nsubprocess.run(sys.argv[1:],stdin=sys.stdin,stdout=subprocess.DEVNULL)\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
  const done = spawnSync("python3", ["-c", script, ...command], { cwd, env: bench.env, input, encoding: "utf8" });
  return done.status === 0 ? Number(done.stdout.trim()) / 1024 : null;
}
