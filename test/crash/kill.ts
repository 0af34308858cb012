/** Running what is to be killed: by this process as the host, or by one that dies with it. */
import { spawnSync } from "node:child_process";
import { type HostProcess, startHost } from "../support/host-process.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import type { Env } from "../support/scripted-run.ts";
import type { CrashWorld } from "./crash-world.ts";
import type { Victim } from "./scenario.ts";

export interface Ended {
  readonly killed: boolean;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Order {
  readonly world: CrashWorld;
  readonly victim: Victim;
  /** Program and words before node's own. */
  readonly before: readonly string[];
  readonly env: Env;
  /** null: this process. */
  readonly host: HostProcess | null;
}

export async function runVictim({ world, victim, before, env, host }: Order): Promise<Ended> {
  const [program, ...args] = [...before, process.execPath, world.plugin.cli, ...victim.words] as [string, ...string[]];
  const cwd = world.project;
  const environment = cliEnvironment({ ...world.env, ...env });
  const { input } = victim;
  const done =
    host === null
      ? spawned(spawnSync(program, args, { cwd, env: environment, input, encoding: "utf8", timeout: 120_000 }))
      : await host.call({ program, args, cwd, env: environment, input });
  const { code, signal, stdout, stderr } = done;
  return { killed: signal === "SIGKILL", code, stdout, stderr };
}

function spawned(done: ReturnType<typeof spawnSync>) {
  return { code: done.status, signal: done.signal, stdout: String(done.stdout), stderr: String(done.stderr) };
}

/** Runs `use` under a host of its own, which is dead when this settles. */
export async function underHost<T>(use: (host: HostProcess) => Promise<T>): Promise<T> {
  const host = startHost();
  try {
    return await use(host);
  } finally {
    await host.kill();
  }
}
