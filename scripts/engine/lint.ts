/**
 * Linters, by bare name from PATH, on copies outside the tree, with no settings or plugins of the project; and the
 * frozen lint command on a copy of the whole tree that is thrown away. Neither can block: nothing here is above MEDIUM,
 * and what breaks is said and no more.
 */
import { secretsOf } from "../platform/command-log.ts";
import { findFirstTool, runTool, toolEnvironment, withCopies } from "../platform/tool.ts";
import { type LensAnswer, ran, ranPartly, skipped } from "../verify/lens.ts";
import { capped } from "../verify/lenses/capped.ts";
import { copiesOf, copyFinder, type FileCopy } from "../verify/lenses/copies.ts";
import {
  adviceOf,
  commandAdvice,
  gofmtHints,
  type Hint,
  isGo,
  isPython,
  isShell,
  nameDefects,
  newHints,
  numbered,
  ruffHints,
  shellcheckHints,
} from "../verify/lenses/lint.ts";
import { userTree } from "./effects.ts";
import type { LensInput } from "./lens-input.ts";
import { maskedText } from "./masked.ts";
import { dropScratch, makeScratch, scratchFolder } from "./scratch.ts";

type LintInput = Pick<LensInput, "engine" | "loaded" | "root" | "files" | "packet" | "measured">;

const toolMsMax = 30_000;
const commandMsMax = 60_000;
const outputBytesMax = 4 * 1024 * 1024;
const tailLetters = 2000;
/** What `sh` says where a program is missing or is none. */
const missingCodes = [126, 127];

interface Linter {
  readonly tool: string;
  readonly args: readonly string[];
  /** Codes of a whole look. */
  readonly codes: readonly number[];
  readonly reads: (file: LensInput["files"][number]) => boolean;
  readonly read: (text: string, copyAt: (path: unknown) => FileCopy | null) => readonly Hint[] | null;
}

const ruffArguments = ["check", "--isolated", "--no-fix", "--no-cache", "--exit-zero", "--output-format", "json"];
const names: Linter = {
  tool: "ruff",
  args: [...ruffArguments, "--select", "F821,F401,E9"],
  codes: [0],
  reads: ({ path }) => isPython(path),
  read: ruffHints,
};
const advisers: readonly Linter[] = [
  { ...names, args: [...ruffArguments, "--ignore", "F821,F401,E9"] },
  { tool: "shellcheck", args: ["--norc", "-f", "json1"], codes: [0, 1], reads: isShell, read: shellcheckHints },
  { tool: "gofmt", args: ["-l"], codes: [0], reads: ({ path }) => isGo(path), read: gofmtHints },
];

export function undefinedNamesOf(input: LintInput): LensAnswer {
  const looked = look(input, names);
  if ("why" in looked) return skipped(looked.why ?? "no Python file was changed");
  return ran(numbered(capped(nameDefects(looked.hints), { id: "", what: "undefined or unused names" }), "UND"));
}

/** Never `failed`: that would block. */
export function advisoryLintOf(input: LintInput): LensAnswer {
  const unlooked: string[] = [];
  const advice: ReturnType<typeof commandAdvice>[] = [];
  let looks = 0;
  const attempt = (name: string, work: () => string | null | "ran") => {
    let why: string | null = `${name} could not be tried`;
    try {
      why = work();
    } catch {
      // Advice is not worth a run: the sentence says that there is none.
    }
    if (why === "ran") looks += 1;
    else if (why !== null) unlooked.push(why);
  };
  for (const linter of advisers) {
    attempt(linter.tool, () => {
      const looked = look(input, linter);
      if ("why" in looked) return looked.why;
      advice.push(...newHints(looked.hints).map((hint) => adviceOf(linter.tool, hint)));
      return "ran";
    });
  }
  attempt("the lint command", () => commandLook(input, advice));
  const reason = unlooked.join("; ");
  if (looks === 0) return skipped(reason === "" ? "no linter speaks a language that was changed" : reason);
  const defects = numbered(advice, "LNT");
  const found = capped(defects, { id: `LNT${defects.length + 1}`, what: "hints of linters" });
  return reason === "" ? ran(found) : ranPartly(found, reason);
}

/** `why` null: there is nothing it could look at. */
function look(
  { engine, loaded, root, files }: LintInput,
  linter: Linter,
): { readonly hints: readonly Hint[] } | { readonly why: string | null } {
  const copies = copiesOf(files.filter(linter.reads));
  if (!copies.some(({ side }) => side === "after")) return { why: null };
  const outside = [root, userTree(loaded), loaded.folder.root];
  const path = findFirstTool(engine.fs, [linter.tool], engine.environment, outside);
  if (path === null) return { why: `${linter.tool} is not installed` };
  const broken = { why: `${linter.tool} did not look at all of it` };
  return (
    withCopies(engine.fs, copies, outside, (folder) => {
      const hints: Hint[] = [];
      // Both sides apart: a text that does not parse before the change must not hide what was made of it.
      for (const side of ["before", "after"] as const) {
        const some = copies.filter((copy) => copy.side === side);
        if (some.length === 0) continue;
        const done = runTool(path, {
          args: [...linter.args, "--", ...some.map(({ name }) => name)].filter((word) => !isGoMark(linter, word)),
          cwd: folder,
          environment: { ...toolEnvironment(engine.fs, engine.environment, outside), TMPDIR: folder },
          timeoutMs: toolMsMax,
          bytesMax: outputBytesMax,
        });
        const isWhole = done.is === "exited" && linter.codes.includes(done.code);
        const read = isWhole ? linter.read(done.stdout, copyFinder(some, folder)) : null;
        if (read === null && side === "after") return broken;
        hints.push(...(read ?? []));
      }
      return { hints };
    }) ?? { why: "there is no temp folder outside the tree" }
  );
}

/** gofmt takes no `--`; our names begin with a letter. */
function isGoMark(linter: Linter, word: string): boolean {
  return word === "--" && linter.tool === "gofmt";
}

function commandLook(
  { engine, loaded, packet, measured }: LintInput,
  advice: ReturnType<typeof commandAdvice>[],
): string | null {
  const { lint_cmd: command } = packet;
  if (command === undefined) return null;
  if (process.platform === "win32") return "the lint command needs a shell";
  const cwd = makeScratch(engine, loaded, `e${loaded.state.head.epoch}.lint`, measured.tree.coded);
  try {
    const done = runTool("/bin/sh", {
      args: ["-c", command],
      cwd,
      environment: {
        ...withoutSecrets(engine.environment),
        GIT_CEILING_DIRECTORIES: scratchFolder(loaded.folder),
      },
      timeoutMs: commandMsMax,
      bytesMax: outputBytesMax,
    });
    if (done.is !== "exited") return `the lint command did not end by itself (${done.is})`;
    if (missingCodes.includes(done.code)) return "the lint command's program is not there in a copy of the tree";
    const said = `${done.stdout}\n${done.stderr}`.trim().slice(-tailLetters);
    if (done.code !== 0)
      advice.push(commandAdvice(done.code, maskedText(said, secretsOf(engine.environment)).slice(-400)));
    return "ran";
  } finally {
    dropScratch(engine, loaded.folder);
  }
}

/** The user's own command keeps the user's own environment, but for what leads git elsewhere and what is secret. */
function withoutSecrets(environment: LintInput["engine"]["environment"]): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !name.startsWith("GIT_") && !/KEY|TOKEN|SECRET|PASS/i.test(name)) made[name] = value;
  }
  return made;
}
