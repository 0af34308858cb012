/** Copies of changed files for programs that look at files: of names we make, so that a path steers nobody. */
import type { ChangedFile } from "../changed-file.ts";
import { extensionOf, nameOf } from "./path-words.ts";

export interface FileCopy {
  /** `after/12/name.py`, relative to the folder of the copies. */
  readonly name: string;
  readonly side: "before" | "after";
  readonly text: string;
  readonly file: ChangedFile;
}

/** Both sides of each file, the ones that have text. */
export function copiesOf(files: readonly ChangedFile[]): readonly FileCopy[] {
  return files.flatMap((file, index) => {
    const name = `${index}/${plainName(file.path)}`;
    return (["before", "after"] as const).flatMap((side): FileCopy[] => {
      const text = file[side];
      return text === null ? [] : [{ name: `${side}/${name}`, side, text, file }];
    });
  });
}

/** Its own name where that is plain; a program may tell a file's kind by it. */
function plainName(path: string): string {
  const name = nameOf(path);
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}$/.test(name)
    ? name
    : `file${extensionOf(path).replace(/[^a-z0-9.]/g, "")}`;
}

/** A copy by the path a program printed: relative to the copies' folder or absolute in it. */
export function copyFinder(copies: readonly FileCopy[], folder: string): (path: unknown) => FileCopy | null {
  const byName = new Map(copies.map((copy) => [copy.name, copy]));
  return (path) => {
    if (typeof path !== "string") return null;
    const slashed = path.replaceAll("\\", "/");
    const root = `${folder.replaceAll("\\", "/")}/`;
    return byName.get(slashed.startsWith(root) ? slashed.slice(root.length) : slashed.replace(/^\.\//, "")) ?? null;
  };
}

/** One line's text without how it is indented and spaced; empty where there is no such line. */
export function lineText(text: string, line: number): string {
  return (text.split("\n", line)[line - 1] ?? "").trim().replace(/\s+/g, " ");
}
