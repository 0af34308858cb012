/** Stand-ins for programs that cannot be had here: they take the documented arguments, refuse others, and say what they did. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { RunId } from "../../scripts/core/ids.ts";
import type { LensInput } from "../../scripts/engine/lens-input.ts";
import { addedLines } from "../../scripts/verify/added-lines.ts";
import type { ChangedFile } from "../../scripts/verify/changed-file.ts";
import { type EngineWorld, engineAt, writeRun } from "./engine-world.ts";
import { tempFolder } from "./temp.ts";

export interface FakeTool {
  readonly bin: string;
  /** What each call was: its arguments, folder, environment and the files it saw. */
  calls(): readonly {
    readonly args: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly files: Readonly<Record<string, string>>;
  }[];
}

/** `body` is JavaScript with `args`, `files` (by relative name) and `say(code, text)`. */
export function fakeTool(name: string, body: string, bin = join(tempFolder(), "bin")): FakeTool {
  mkdirSync(bin, { recursive: true });
  const log = join(bin, `${name}.calls`);
  const program = `#!${process.execPath}
const fs = require("node:fs"), path = require("node:path");
const args = process.argv.slice(2), files = {};
const walk = (at) => { for (const one of fs.readdirSync(at || ".", { withFileTypes: true })) {
  const name = at ? at + "/" + one.name : one.name;
  if (one.isDirectory()) walk(name); else files[name] = fs.readFileSync(name, "utf8");
} };
walk("");
fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args, cwd: process.cwd(), env: process.env, files }) + "\\n");
const say = (code, text) => { fs.writeSync(1, text); process.exit(code); };
${body}
`;
  writeFileSync(join(bin, name), program);
  chmodSync(join(bin, name), 0o755);
  return {
    bin,
    calls: () =>
      existsSync(log)
        ? readFileSync(log, "utf8")
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line))
        : [],
  };
}

export function changed(path: string, before: string | null, after: string | null): ChangedFile {
  const status = before === null ? "A" : after === null ? "D" : "M";
  const added = after === null ? [] : addedLines(before ?? "", after);
  return { path, status, before, after, isText: true, isTest: false, isCut: false, added };
}

/** A lens's input in a world whose PATH is `bins` and the system's own folders. */
export function lensInput(
  world: EngineWorld,
  files: readonly ChangedFile[],
  bins: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): LensInput {
  const path = [...bins, "/usr/bin", "/bin"].join(delimiter);
  const engine = engineAt(world.project, { ...world.engine.environment, ...environment, PATH: path });
  const id = "20261130-190000-aaaaaa" as RunId;
  const loaded = {
    folder: writeRun(world, { id }),
    state: { head: { top: world.project, commonDir: world.commonDir, epoch: 1 }, trees: { all: [] } },
  };
  return { engine, loaded, packet: {}, root: world.project, files, measured: {} } as unknown as LensInput;
}
