/**
 * Stand-ins for hosts: long-lived processes that run the command line as their children. A run's owner is the nearest
 * ancestor that is no shell, so each of these is an owner of its own, and can be killed as one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { CliResult } from "./run-cli.ts";

const program = `
const { spawnSync } = require("node:child_process");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { program, args, cwd, env, input } = JSON.parse(line);
  const done = spawnSync(program ?? process.execPath, args, { cwd, env, input, encoding: "utf8", maxBuffer: 1 << 26 });
  process.stdout.write(JSON.stringify({ code: done.status, signal: done.signal, stdout: done.stdout, stderr: done.stderr }) + "\\n");
}).on("close", () => process.exit(0));
`;

export interface HostCall {
  /** Default: node. */
  readonly program?: string;
  /** Script and its words. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input: string;
}

export interface HostProcess {
  readonly pid: number;
  call(call: HostCall): Promise<Omit<CliResult, "json">>;
  /** SIGKILL; settles when the process is gone. */
  kill(): Promise<void>;
}

export function startHost(): HostProcess {
  const child: ChildProcess = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: ((text: string) => void)[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => waiting.shift()?.(line));
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    pid: child.pid as number,
    call(call) {
      return new Promise((resolve, reject) => {
        waiting.push((line) => resolve(JSON.parse(line) as Omit<CliResult, "json">));
        void gone.then(() => reject(new Error("the host is gone")));
        child.stdin!.write(`${JSON.stringify(call)}\n`);
      });
    },
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
