/**
 * A plugin whose detached performer has itself traced before it begins, and is killed at one of its own calls. The
 * entry asks for the tracer; everything else is the shipped build.
 */
import { cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Env, Plugin } from "../support/scripted-run.ts";
import { changingCalls, injection, type OwnCall } from "./strace.ts";

const entry = `"use strict";
if (process.argv[2] === "perform-command" && process.env.CRASH_PERFORMER !== undefined) {
  const { readFileSync } = require("node:fs");
  const words = [...JSON.parse(process.env.CRASH_PERFORMER), "-p", String(process.pid)];
  require("node:child_process").spawn("strace", words, { stdio: "ignore", detached: true }).unref();
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let look = 0; !/TracerPid:\\t[1-9]/.test(readFileSync("/proc/self/status", "utf8")); look += 1) {
    if (look > 2000) process.exit(97);
    Atomics.wait(pause, 0, 0, 5);
  }
}
require("./shipped.cjs");
`;

/** In `folder`, made of `plugin`. */
export function tracedPlugin(plugin: Plugin, folder: string): Plugin {
  cpSync(plugin.root, folder, { recursive: true });
  const cli = join(folder, "dist", "atlas.cjs");
  renameSync(cli, join(folder, "dist", "shipped.cjs"));
  writeFileSync(cli, entry);
  return { root: folder, cli, remove: plugin.remove };
}

/** The environment in which the performer dies there; null: it is only traced. The trace goes to `path`. */
export function performerKilledAt(path: string, point: OwnCall | null): Env {
  const what = point === null ? ["-e", `trace=${changingCalls}`] : injection(point);
  return { CRASH_PERFORMER: JSON.stringify(["-q", "-o", path, ...what]) };
}

/** Whether the performer died of its tracer. */
export function wasKilled(path: string): boolean {
  return readFileSync(path, "utf8").includes("+++ killed by SIGKILL +++");
}
