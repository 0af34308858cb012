/**
 * The verbs' bundle: argv in, exit code out. Exit: 0 done, 1 a bug, 2 usage, 3 refused, 4 the environment.
 * With `--json` stdout is exactly one JSON object.
 */
import { mkdtempSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EnvironmentFailure, UsageError } from "../core/result.ts";
import { failure, isDiskError } from "../platform/files.ts";
import { performCommand } from "../platform/performer.ts";
import { abandon } from "./abandon.ts";
import { answer } from "./answer.ts";
import { type Arguments, readArguments } from "./arguments.ts";
import { clean } from "./clean.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { openEngine } from "./engine.ts";
import { forkVerb } from "./fork.ts";
import { graph } from "./graph.ts";
import { help } from "./help.ts";
import { next } from "./next.ts";
import type { Outcome } from "./outcome.ts";
import { ping } from "./ping.ts";
import { report } from "./report.ts";
import { resumeVerb } from "./resume.ts";
import { rollback } from "./rollback.ts";
import { runnable } from "./runnable.ts";
import { startVerb } from "./start.ts";
import { status } from "./status.ts";
import { submit } from "./submit.ts";
import { verify } from "./verify.ts";

declare const ATLAS_BUILD: string;

type Verb = (engine: ReturnType<typeof openEngine>, given: Arguments) => Promise<Outcome> | Outcome;

const verbs: Readonly<Record<string, Verb>> = {
  abandon,
  answer,
  clean,
  doctor,
  fork: forkVerb,
  graph,
  next,
  ping,
  report,
  resume: resumeVerb,
  rollback,
  start: startVerb,
  status,
  submit,
  verify,
};

export async function run(argv: string[], entry: { readonly build: string }): Promise<number> {
  const json = argv.includes("--json");
  try {
    if (entry.build !== ATLAS_BUILD) {
      throw new EnvironmentFailure("install.mixed", "dist/ holds parts of two builds", "reinstall the atlas plugin");
    }
    const [verb] = argv;
    if (verb === "perform-command") {
      await performCommand(argv[1] ?? "");
      return 0;
    }
    if (verb === undefined || verb === "help" || argv.includes("--help")) {
      const text = help(verb);
      put(1, json ? `${JSON.stringify({ help: text })}\n` : text);
      return verb === undefined ? 2 : 0;
    }
    const given = readArguments(argv);
    if (verb === "demo") return await demo(given);
    const engine = openEngine(given);
    const outcome = await (verbs[verb] as Verb)(engine, given);
    put(1, json ? `${JSON.stringify(outcome.json)}\n` : `${runnable(engine, outcome.text)}\n`);
    return outcome.exit;
  } catch (error) {
    return failed(error, json);
  }
}

function failed(thrown: unknown, json: boolean): number {
  // A call of node's own that no door of ours took: still the disk's failure and no bug of ours.
  const error = isDiskError(thrown) ? failure(thrown, thrown.path ?? "unknown path") : thrown;
  if (error instanceof UsageError || error instanceof EnvironmentFailure) {
    const exit = error instanceof UsageError ? 2 : 4;
    const { code, message: reason, fix } = error;
    if (json) put(1, `${JSON.stringify({ error: { code, reason, fix } })}\n`);
    put(2, `atlas: ${code}: ${reason}\nfix: ${fix}\n`);
    return exit;
  }
  const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "unknown") : String(error);
  const trace = keepTrace(error);
  const fix = trace === null ? "atlas doctor" : `report it with ${trace}`;
  if (json) put(1, `${JSON.stringify({ error: { code: "atlas.bug", reason, fix } })}\n`);
  put(2, `atlas: a bug: ${reason}; trace: ${trace ?? "could not be written"}\n`);
  return 1;
}

function keepTrace(error: unknown): string | null {
  try {
    const path = join(mkdtempSync(join(tmpdir(), "atlas-trace-")), "trace.txt");
    writeFileSync(path, error instanceof Error ? (error.stack ?? error.message) : String(error));
    return path;
  } catch {
    return null;
  }
}

/** Synchronous: the process may end right after. */
function put(fd: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") return;
    }
  }
}
