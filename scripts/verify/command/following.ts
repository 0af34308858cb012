/** What every reader of a part of a command is handed: how to look, how to go on, and how to say what was found. */
import type { Runner } from "../runner.ts";
import type { OwnReports } from "./report-files.ts";
import type { ShellFault, Word } from "./shell-reader.ts";

/** Text of a file below the command's tree; null: absent, too large or no text. */
export type Look = (path: string) => string | null;

/** Why a part of a command could not be followed, in fixed words. */
export type CommandFault =
  | ShellFault
  | "variable"
  | "unknown-program"
  | "unknown-option"
  | "unknown-folder"
  | "outside-the-tree"
  | "no-manifest"
  | "no-script"
  | "no-makefile"
  | "no-target"
  | "workspaces"
  | "makefile-syntax"
  | "tox"
  | "nox"
  | "nx"
  | "circle"
  | "too-deep"
  | "too-long";

/** A test runner as the command begins it. */
export interface BegunRunner {
  readonly runner: Runner;
  readonly words: readonly Word[];
  readonly assignments: readonly Word[];
  /** Below the tree, "" for its root; null: not known. */
  readonly cwd: string | null;
  readonly own: OwnReports;
}

export interface Place {
  readonly cwd: string | null;
  readonly depth: number;
  /** The scripts and targets this stands in. */
  readonly trail: readonly string[];
  /** What variables are set to on the way; a word "-" says that the environment is not passed on. */
  readonly assignments: readonly Word[];
}

export interface Following {
  readonly look: Look;
  /** Follows shell text. */
  text(source: string, place: Place): void;
  /** Follows one program with its arguments. */
  program(words: readonly Word[], place: Place): void;
  begin(runner: Runner, words: readonly Word[], place: Place): void;
  fault(fault: CommandFault): void;
}

/** `path` seen from `cwd`, both below the tree; null: it leads out of the tree. */
export function below(cwd: string, path: string): string | null {
  if (path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)) return null;
  const parts = cwd === "" ? [] : cwd.split("/");
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join("/");
}

export function inFolder(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** The place a folder further; null, with its fault said, where that cannot be told. */
export function moved(following: Following, place: Place, folder: Word): Place {
  const { cwd } = place;
  if (!folder.isLiteral || cwd === null || folder.text === "-") {
    following.fault("unknown-folder");
    return { ...place, cwd: null };
  }
  const to = below(cwd, folder.text);
  if (to === null) following.fault("outside-the-tree");
  return { ...place, cwd: to };
}

/** The place inside a script or target; null, with its fault said, where it is in itself already. */
export function inside(following: Following, place: Place, key: string): Place | null {
  if (place.trail.includes(key)) {
    following.fault("circle");
    return null;
  }
  return { ...place, depth: place.depth + 1, trail: [...place.trail, key] };
}

/** The place where a variable's value, or with "-" the whole environment, does not come from outside. */
export function apart(place: Place, name: string): Place {
  return { ...place, assignments: [...place.assignments, literal(name)] };
}

export function literal(text: string): Word {
  return { text, raw: `'${text.replaceAll("'", "'\\''")}'`, isLiteral: true };
}
