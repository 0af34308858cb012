/** A path that differs between the tree before the coder and the tree after it, with what a lens may read of it. */

export interface AddedLine {
  /** From 1, in the file as it is afterwards. */
  readonly line: number;
  /** Without its line end. Untrusted. */
  readonly text: string;
}

export interface ChangedFile {
  /** Relative to the tree, `/` between segments. Untrusted. */
  readonly path: string;
  readonly status: "A" | "M" | "D" | "T";
  /** Text at B and at T0; null where there is none, where it is no UTF-8 text, or where it was not read. */
  readonly before: string | null;
  readonly after: string | null;
  readonly isText: boolean;
  /** Matches the frozen test globs. */
  readonly isTest: boolean;
  /** Longer than what is read of a file or of all files: a lens must say that it did not look. */
  readonly isCut: boolean;
  readonly added: readonly AddedLine[];
}

/** What the engine reads for the lenses, in bytes and files. */
export const changedFileLimits = { fileBytesMax: 1024 * 1024, allBytesMax: 48 * 1024 * 1024, filesMax: 2000 } as const;
