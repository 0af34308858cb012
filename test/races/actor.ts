/**
 * Long-lived callers of the built command line: each is the only child of a host process of its own, so the shipped
 * code takes each for another owner, and a round costs no start of node. They begin together, behind a file.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { cliEnvironment } from "../support/run-cli.ts";
import type { Session, Told, World } from "../support/scripted-run.ts";

export interface Actor {
  /** The host's: what the shipped code records as owner. */
  readonly pid: number;
  /** Ready at the barrier; `told` settles when the words have been carried out behind it. */
  ready(words: readonly string[], barrier: string): Promise<{ readonly told: Promise<Told> }>;
  /** SIGKILL for host and caller; settles when both are gone. */
  kill(): Promise<void>;
}

const caller = `
const { run } = require(process.env.ACTOR_VERBS);
const { existsSync } = require("node:fs");
const pause = new Int32Array(new SharedArrayBuffer(4));
const say = (value) => require("node:fs").writeSync(1, JSON.stringify(value) + "\\n");
let last = Promise.resolve();
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { words, barrier } = JSON.parse(line);
  last = last.then(async () => {
    say({ actor: "ready" });
    while (!existsSync(barrier)) Atomics.wait(pause, 0, 0, 1);
    say({ actor: "done", code: await run([...words, "--json"], { build: process.env.ACTOR_BUILD }) });
  });
}).on("close", () => process.exit(0));
`;

const host = `
const child = require("node:child_process").spawn(process.execPath, ["-e", process.env.ACTOR_CALLER], { stdio: "inherit" });
child.on("exit", () => process.exit(0));
`;

/** The id both bundles carry: the entry hands it to the verbs, and so must whoever stands in for it. */
function buildOf(world: World): string {
  const build = /build:\s*"([^"]+)"/.exec(readFileSync(world.plugin.cli, "utf8"))?.[1];
  if (build === undefined) throw new Error("the entry names no build");
  return build;
}

/** `before`: a program and its words that run the host, as `unshare` does. */
export function startActor(world: World, before: readonly string[] = []): Actor {
  const words = [...before, process.execPath, "-e", host];
  const child: ChildProcess = spawn(words[0] as string, words.slice(1), {
    cwd: world.project,
    stdio: ["pipe", "pipe", "inherit"],
    env: cliEnvironment({
      ...world.env,
      ACTOR_CALLER: caller,
      ACTOR_VERBS: join(world.plugin.root, "dist", "verbs.cjs"),
      ACTOR_BUILD: buildOf(world),
    }),
    detached: true,
  });
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => {
    const next = waiting.shift();
    if (next === undefined) lines.push(line);
    else next(line);
  });
  const line = (): Promise<string> => {
    const said = lines.shift();
    if (said !== undefined) return Promise.resolve(said);
    return new Promise((resolve, reject) => {
      waiting.push(resolve);
      void gone.then(() => reject(new Error("the actor is gone")));
    });
  };

  async function outcome(): Promise<Told> {
    const stdout = await line();
    const { code } = JSON.parse(await line()) as { readonly code: number };
    const json = JSON.parse(stdout) as Record<string, unknown>;
    return { ...(json as unknown as Told), code, stdout, stderr: "", json };
  }

  return {
    pid: child.pid as number,
    async ready(words, barrier) {
      child.stdin!.write(`${JSON.stringify({ words, barrier })}\n`);
      await line();
      const told = outcome();
      // Whoever awaits it later must not find the test ended by it before.
      told.catch(() => {});
      return { told };
    },
    async kill() {
      try {
        process.kill(-(child.pid as number), "SIGKILL");
      } catch {
        // Gone already.
      }
      await gone;
    },
  };
}

let barriers = 0;

/** All of them at once, each with its own words. */
export async function allAtOnce(
  world: World,
  actors: readonly Actor[],
  wordsOf: (at: number) => readonly string[],
): Promise<readonly Told[]> {
  barriers += 1;
  const barrier = join(world.project, "..", `go-${process.pid}-${barriers}`);
  const ready = await Promise.all(actors.map((actor, at) => actor.ready(wordsOf(at), barrier)));
  writeFileSync(barrier, "");
  return await Promise.all(ready.map(({ told }) => told));
}

/** One actor as a session that follows a run; its hooks never fire. */
export function seated(world: World, actor: Actor): Session {
  const run = async (...words: readonly string[]): Promise<Told> => {
    // A barrier that is there already.
    const { told } = await actor.ready(words, world.project);
    return await told;
  };
  return {
    world,
    run,
    type: (command) => run(...command.split(" ").slice(1)),
    hook() {
      throw new Error("an actor has no hooks");
    },
  };
}
