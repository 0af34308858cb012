/**
 * A whole world in one folder: project, home, state and temporary files. It is put back between two kills by copying a
 * kept folder to the same absolute path, because git's working trees name each other by absolute paths.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cliEnvironment } from "../support/run-cli.ts";
import type { Plugin, World } from "../support/scripted-run.ts";
import { endProcesses } from "./processes.ts";

export interface CrashWorld extends World {
  /** Holds the world and what is kept of it. */
  readonly base: string;
  readonly folder: string;
}

const config =
  "[user]\n\tname = Test\n\temail = test@example.invalid\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n[commit]\n\tgpgSign = false\n";
/** Every run of the frozen command leaves a mark outside of every tree. */
const check = `require("node:fs").appendFileSync(process.env.HOME + "/ran", "x");
const sum = require("./src/add.js")(1, 2);
console.log("sum", sum);
process.exit(sum === 3 ? 0 : 1);
`;

/** Where the world lies; nothing is made yet. */
export function crashWorld(plugin: Plugin, base: string): CrashWorld {
  const folder = join(base, "world");
  const env = {
    HOME: join(folder, "home"),
    XDG_STATE_HOME: join(folder, "state"),
    TMPDIR: join(folder, "tmp"),
    GIT_CONFIG_GLOBAL: join(folder, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
    TZ: "UTC",
    CLAUDE_ENV_FILE: join(folder, "home", "shell-variables"),
  };
  return { plugin, base, folder, project: join(folder, "project"), env };
}

/** A project whose sum is wrong, with something of the user's lying about. */
export function makeFresh(world: CrashWorld): void {
  rmSync(world.folder, { recursive: true, force: true });
  for (const name of ["home", "state", "tmp", "project/src"]) mkdirSync(join(world.folder, name), { recursive: true });
  writeFileSync(join(world.folder, "gitconfig"), config);
  const file = (name: string, text: string): void => writeFileSync(join(world.project, name), text);
  file("src/add.js", "module.exports = (a, b) => a - b;\n");
  file("check.js", check);
  file(".gitignore", "*.log\n");
  gitOf(world, "init", "-q", ".");
  gitOf(world, "add", "-A");
  gitOf(world, "commit", "-qm", "begin");
  file("mine.txt", "the user's own, not added\n");
}

export function gitOf(world: CrashWorld, ...args: readonly string[]): string {
  const env = cliEnvironment(world.env);
  const done = spawnSync("git", args, { cwd: world.project, env, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
  return done.stdout.trim();
}

export function keepWorld(world: CrashWorld, name: string): void {
  copy(world.folder, join(world.base, name));
}

export function restoreWorld(world: CrashWorld, name: string): void {
  endProcesses(world);
  copy(join(world.base, name), world.folder);
}

/** With times and modes: git tells a changed file by them. */
function copy(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  const done = spawnSync("cp", ["-a", from, to], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`cp: ${done.stderr}`);
}

/** One hash over every path, mode and byte below `folder` but for `skip`. */
export function contentOf(folder: string, skip: readonly string[] = []): string {
  return hashOf(entriesOf(folder, skip, (text) => text));
}

/**
 * As `contentOf`, with everything that differs from run to run (ids, hashes, times, pids) made the same: two worlds of
 * one form are before and after calls that changed nothing. Git's indexes hold times in binary: their names must do.
 */
export function formOf(folder: string): string {
  return hashOf(entriesOf(folder, [], plain).sort());
}

function plain(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d{8}t\d{6}z/g, "<time>")
    .replace(/[0-9a-f]{6,}/g, "<hex>")
    .replace(/\d{3,}/g, "<number>");
}

function entriesOf(folder: string, skip: readonly string[], form: (text: string) => string): string[] {
  const found: string[] = [];
  const walk = (below: string): void => {
    for (const name of readdirSync(join(folder, below)).sort()) {
      if (skip.includes(name)) continue;
      const inside = join(below, name);
      const path = join(folder, inside);
      const stat = lstatSync(path);
      const entry = form(`${inside}\0${stat.mode}\0`);
      if (stat.isSymbolicLink()) found.push(entry + form(readlinkSync(path)));
      else if (!stat.isDirectory()) found.push(entry + hashOf([bytesOf(path, form)]));
      else {
        found.push(entry);
        walk(inside);
      }
    }
  };
  walk("");
  return found;
}

const indexName = /[/\\](index|index-[0-9a-f]{16}|taking-[^/\\]*)$/;

function bytesOf(path: string, form: (text: string) => string): string {
  const text = readFileSync(path, "latin1");
  return form === plain && indexName.test(path) ? "" : form(text);
}

function hashOf(texts: readonly string[]): string {
  return createHash("sha256").update(texts.join("\n"), "latin1").digest("hex");
}
