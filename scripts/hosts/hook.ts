/**
 * `hook --host … --on …`: one host event on stdin, one reply on stdout.
 *
 * Fails closed on a session id that is missing or malformed, before anything is read or written; open on everything
 * else: no failure of ours may stop a host's session.
 */
import { writeSync } from "node:fs";
import { isAbsolute } from "node:path";
import { isSessionId } from "../core/ids.ts";
import { realFileSystem } from "../platform/fs.ts";
import { systemProcesses } from "../platform/processes.ts";
import { claude } from "./claude.ts";
import { type Host, type Output, recordOf, SILENCE } from "./event.ts";
import { kimi } from "./kimi.ts";
import { react } from "./react.ts";
import { firstValue, stdin } from "./stdin.ts";

const hosts: readonly Host[] = [claude, kimi];

/** Answers the event on stdin and gives the exit code: 0, or 1 for the failed precondition. */
export async function hook(argv: readonly string[], pluginRoot: string): Promise<number> {
  let output = SILENCE;
  // Most errors here are answers of the file system ("no such file"); their stacks are dear and nobody reads them.
  Error.stackTraceLimit = 0;
  try {
    const host = hosts.find((candidate) => candidate.name === option(argv, "--host"));
    const given = host === undefined ? null : await firstValue(stdin);
    // No object is an object without a session id.
    if (host !== undefined && given !== null)
      output = answer(host, option(argv, "--on"), recordOf(given.value), pluginRoot);
  } catch {
    output = SILENCE;
  }
  put(1, output.stdout);
  put(2, output.stderr);
  return output.exit;
}

function answer(host: Host, on: string, payload: Readonly<Record<string, unknown>>, pluginRoot: string): Output {
  const { session_id: session, cwd } = payload;
  if (!isSessionId(session)) return failedPrecondition(session);
  if (typeof cwd !== "string" || !isAbsolute(cwd) || cwd.includes("\0")) return SILENCE;
  const event = host.read(on, payload);
  if (event === null) return SILENCE;
  const around = { fs: realFileSystem, processes: systemProcesses(), env: process.env, pid: process.pid };
  return host.write(event, react(around, { host, session, cwd, event, pluginRoot }));
}

/** The value itself is not repeated: it is what is wrong. */
function failedPrecondition(session: unknown): Output {
  const what = session === undefined ? "is missing" : session === "" ? "is empty" : "is malformed";
  const stderr = `ATLAS-PRECONDITION-FAILED: session_id ${what}; atlas recorded and said nothing\n`;
  return { stdout: "", stderr, exit: 1 };
}

function option(argv: readonly string[], name: string): string {
  const at = argv.indexOf(name);
  return at < 0 ? "" : (argv[at + 1] ?? "");
}

/** Synchronous, because the process ends next; a reader that went away is its own affair. */
function put(fd: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  let done = 0;
  for (let attempt = 0; done < bytes.length && attempt < 100; attempt += 1) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") return;
    }
  }
}
