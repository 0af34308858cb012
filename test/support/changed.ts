/** Changed files as the engine would read them. */
import picomatch from "picomatch";
import { defaultTestGlob } from "../../scripts/kinds/change/door-packet.ts";
import { addedLines } from "../../scripts/verify/added-lines.ts";
import type { ChangedFile } from "../../scripts/verify/changed-file.ts";

const tests = defaultTestGlob.map((glob) => picomatch(glob, { dot: true }));

/** `before` undefined: the file is new. `after` null: it is gone. */
export function changed(path: string, after: string | null, before?: string): ChangedFile {
  return {
    path,
    status: after === null ? "D" : before === undefined ? "A" : "M",
    before: before ?? null,
    after,
    isText: true,
    isTest: tests.some((matches) => matches(path)),
    isCut: false,
    added: after === null ? [] : addedLines(before ?? "", after),
  };
}

/** A file too large to be read. */
export function cut(path: string): ChangedFile {
  return { ...changed(path, ""), before: null, after: null, isText: false, isCut: true, added: [] };
}
