/**
 * Texts given to the parsers of their languages, parse-only, each as the one file of a folder of our own. Nothing of
 * the text is executed, no program of the tree is started, and the environment is made from nothing.
 *
 * What a failure leaves behind: a killed owner leaves a folder `atlas-parse-…` in the machine's temporary folder.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { writeNew } from "./files.ts";
import { findTool, pathFolders } from "./find-tool.ts";
import type { FileSystem } from "./fs.ts";
import { type NativeAsk, type NativeLanguage, type NativeTool, nativeTools } from "./native-tools.ts";
import { removeFolderTree } from "./remove-folder.ts";

export interface NativeLimits {
  readonly fileMs: number;
  readonly allMs: number;
  readonly launchesMax: number;
  readonly textBytesMax: number;
}

export const nativeLimits: NativeLimits = {
  fileMs: 10_000,
  allMs: 60_000,
  launchesMax: 40,
  textBytesMax: 1024 * 1024,
};
const outputBytesMax = 256 * 1024;
/** Programs asked about one text. */
const asksMax = 3;

export type NativeAnswer =
  | { readonly is: "fine" }
  /** `version` as `x.y`; null where the program does not say. */
  | { readonly is: "refused"; readonly line: number | null; readonly version: string | null }
  | { readonly is: "unread"; readonly why: string };

export interface NativeParser {
  /** Never throws for a text. */
  parse(language: NativeLanguage, text: string): NativeAnswer;
  /** Removes its folder. */
  close(): void;
}

export interface NativePlace {
  readonly fs: FileSystem;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folders whose programs are never started: the tree, and the project it belongs to. */
  readonly outside: readonly string[];
  readonly limits?: Partial<NativeLimits>;
}

interface Launched {
  readonly code: number | null;
  readonly output: string;
}

/** One budget of launches and time for all texts it is given. */
export function nativeParser({ fs, environment, outside, limits: given }: NativePlace): NativeParser {
  const limits = { ...nativeLimits, ...given };
  const folders = pathFolders(fs, environment.PATH, outside);
  const versions = new Map<string, string | null>();
  let home: string | null = null;
  let launches = 0;
  let leftMs = limits.allMs;

  const folder = () => {
    if (home !== null) return home;
    const path = join(tmpdir(), `atlas-parse-${randomBytes(8).toString("hex")}`);
    fs.mkdirSync(path, 0o700);
    home = path;
    return path;
  };

  const launch = (path: string, args: readonly string[], cwd: string, input: string): Launched | "spent" => {
    if (launches >= limits.launchesMax || leftMs <= 0) return "spent";
    launches += 1;
    const begunMs = performance.now();
    const done = spawnSync(path, args, {
      cwd,
      env: scratchEnvironment(environment, folders, folder()),
      input,
      timeout: Math.max(1, Math.min(limits.fileMs, leftMs)),
      killSignal: "SIGKILL",
      maxBuffer: outputBytesMax,
      windowsHide: true,
    });
    leftMs -= performance.now() - begunMs;
    const output = `${done.stdout?.toString("utf8") ?? ""}\n${done.stderr?.toString("utf8") ?? ""}`;
    // EPIPE: it ended before it had read all of its input; its exit code says why.
    const failed = done.error !== undefined && (done.error as NodeJS.ErrnoException).code !== "EPIPE";
    return { code: failed ? null : done.status, output };
  };

  const versionOf = (tool: NativeTool, path: string, output: string): string | null => {
    const said = /^Python (\d+\.\d+)/.exec(output)?.[1];
    if (said !== undefined || tool.version === null) return said ?? null;
    if (!versions.has(path)) {
      const done = launch(path, tool.version, folder(), "");
      versions.set(path, done === "spent" ? null : (/(\d+\.\d+)/.exec(done.output)?.[1] ?? null));
    }
    return versions.get(path) ?? null;
  };

  return {
    parse(language, text) {
      if (Buffer.byteLength(text) > limits.textBytesMax) return unread("too large to be parsed");
      const tool = nativeTools[language];
      const asks = present(tool.asks, (ask) => findTool(fs, folders, ask.tool, outside));
      const [first] = tool.asks;
      if (asks.length === 0) return unread(`${first?.tool} is not installed`);
      const cwd = join(folder(), randomBytes(8).toString("hex"));
      fs.mkdirSync(cwd, 0o700);
      if (!tool.onStdin) writeNew(fs, join(cwd, tool.input), withoutOptions(language, text), false);
      let refusal: NativeAnswer | null = null;
      for (const { path, args } of asks) {
        const done = launch(path, args, cwd, tool.onStdin ? text : "");
        if (done === "spent") return unread("no time was left for its parser");
        if (done.code === 0) return { is: "fine" };
        if (done.code === null) return unread("its parser could not take it");
        // A program that cannot work, or broke over the text: the next one is asked.
        if (!done.output.includes(tool.input) || !tool.says.test(done.output)) continue;
        refusal ??= {
          is: "refused",
          line: lineOf(tool.input, done.output),
          version: versionOf(tool, path, done.output),
        };
      }
      return refusal ?? unread("its parser could not take it");
    },
    close() {
      if (home !== null) removeFolderTree(home);
      home = null;
    },
  };
}

function unread(why: string): NativeAnswer {
  return { is: "unread", why };
}

/** The programs that are there. */
function present(
  asks: readonly NativeAsk[],
  find: (ask: NativeAsk) => string | null,
): readonly { readonly path: string; readonly args: readonly string[] }[] {
  return asks
    .flatMap((ask) => {
      const path = find(ask);
      return path === null ? [] : [{ path, args: ask.args }];
    })
    .slice(0, asksMax);
}

/** Ruby takes options (`-r`, `-x`) from a first line that names it, and refuses a script whose first line does not. */
function withoutOptions(language: NativeLanguage, text: string): string {
  return language === "ruby" ? text.replace(/^#!.*/, "#") : text;
}

/** The line the program names beside the input; it is the program's word and no more. */
function lineOf(input: string, output: string): number | null {
  const name = input.replace(".", "\\.");
  const match = new RegExp(`${name}"?[:,]?\\s*(?:on )?(?:line )?(\\d{1,9})`).exec(output);
  return match === null ? null : Number(match[1]);
}

function scratchEnvironment(
  environment: NativePlace["environment"],
  folders: readonly string[],
  home: string,
): Record<string, string> {
  const { HOME, SYSTEMROOT } = environment;
  return {
    PATH: folders.join(delimiter),
    HOME: HOME ?? home,
    LANG: "C.UTF-8",
    TMPDIR: home,
    // Without it a program of Windows does not start.
    ...(process.platform === "win32" && SYSTEMROOT !== undefined ? { SYSTEMROOT } : {}),
  };
}
