/**
 * `demo [kind]`: a real run, in a world of its own, killed and resumed before the user's eyes.
 *
 * What a failure leaves behind: nothing, and SIGINT, SIGTERM and SIGHUP leave nothing either. Only a SIGKILL of the
 * demo itself leaves its temporary folder; its children then end by themselves.
 */
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { EnvironmentFailure, ok, type Result, UsageError } from "../core/result.ts";
import type { Arguments } from "./arguments.ts";
import { endAll, hostProgram, type PlayedHost, playHost } from "./demo-child.ts";
import { narratorTo, put } from "./demo-narrator.ts";
import { perform, type Stage } from "./demo-scenes.ts";
import { makeFolderForWorld, makeWorld, removeWorld } from "./demo-world.ts";

/** More is a hang; a slow machine needs a quarter of it. */
const timeoutMs = 120_000;
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

class Stopped extends Error {
  readonly signal: (typeof signals)[number];
  constructor(signal: (typeof signals)[number]) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}

/**
 * Shows the demo and gives the exit code: 0, 1 where something it says did not hold, 128 + n for a signal.
 * Throws UsageError `usage.kind`, and EnvironmentFailure `install.broken`, `demo.no_folder`, `git.*`.
 */
export async function demo(given: Arguments): Promise<number> {
  const [kind = "change"] = given.rest;
  if (given.rest.length > 1 || kind !== "change") {
    throw new UsageError("demo knows one kind: change", "atlas demo change", "usage.kind");
  }
  if (!existsSync(hostProgram)) {
    throw new EnvironmentFailure("install.broken", `${hostProgram} is missing`, "reinstall the atlas plugin");
  }
  const stop = new AbortController();
  const release = listen(stop);
  try {
    return await show(given.json, stop.signal);
  } finally {
    release();
  }
}

async function show(json: boolean, stop: AbortSignal): Promise<number> {
  const begunMs = performance.now();
  const fd = json ? 2 : 1;
  const root = makeFolderForWorld();
  const hosts: PlayedHost[] = [];
  const played = await attempt(stop, async () => {
    put(fd, "atlas demo: a run is killed in the middle, and another session carries it on\n");
    const narrator = narratorTo(fd);
    narrator.row("in", `${root}, with its own home, settings and repository`);
    const world = makeWorld(root);
    const play: Stage["play"] = (order) => {
      const host = playHost({ ...order, world, stop });
      hosts.push(host);
      return host;
    };
    return await perform({ world, narrator, play });
  });
  const left = await cleanUp(root, hosts);
  if (left !== null) return failed(json, left);
  if (!played.ok) return ended(json, played.error);
  const seconds = ((performance.now() - begunMs) / 1000).toFixed(1);
  put(fd, `\nRemoved: the folder and all in it; no process is left. ${seconds} s\n`);
  if (json) put(1, `${JSON.stringify({ demo: played.value })}\n`);
  return 0;
}

async function attempt<T>(stop: AbortSignal, play: () => Promise<T>): Promise<Result<T, unknown>> {
  try {
    return ok(await play());
  } catch (error) {
    // A signal may be what made it fail; its handler runs with the next turn of the loop.
    await new Promise((resolve) => setImmediate(resolve));
    return { ok: false, error: stop.aborted ? stop.reason : error };
  }
}

/** Null: nothing is left; else what is. */
async function cleanUp(root: string, hosts: readonly PlayedHost[]): Promise<string | null> {
  await endAll(hosts);
  const living = await endAll(hosts);
  try {
    removeWorld(root);
  } catch {
    // What stays is told below.
  }
  if (existsSync(root)) return `${root} could not be removed`;
  return living === 0 ? null : `${living} processes could not be ended`;
}

function ended(json: boolean, error: unknown): number {
  if (error instanceof Stopped) {
    put(2, `atlas demo: stopped by ${error.signal}; nothing is left\n`);
    return 128 + constants.signals[error.signal];
  }
  if (error instanceof EnvironmentFailure) throw error;
  return failed(json, error instanceof Error ? error.message : String(error));
}

function failed(json: boolean, reason: string): number {
  const fix = "atlas doctor";
  if (json) put(1, `${JSON.stringify({ error: { code: "demo.failed", reason, fix } })}\n`);
  put(2, `atlas: demo.failed: ${reason}\nfix: ${fix}\n`);
  return 1;
}

/** Turns signals and the deadline into one word of stopping, until it is released. */
function listen(stop: AbortController): () => void {
  const heard = signals.map((signal) => ({ signal, hear: () => stop.abort(new Stopped(signal)) }));
  for (const { signal, hear } of heard) process.on(signal, hear);
  const late = new Error(`it took more than ${timeoutMs / 1000} s`);
  const timer = setTimeout(() => stop.abort(late), timeoutMs);
  return () => {
    clearTimeout(timer);
    for (const { signal, hear } of heard) process.off(signal, hear);
  };
}
