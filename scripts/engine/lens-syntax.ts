/** The syntax floor with its parsers: those of this process, and the programs of the machine for what only they speak. */
import { join } from "node:path";
import { readBounded } from "../platform/files.ts";
import { type NativeParser, nativeParser } from "../platform/native-parse.ts";
import type { LensAnswer } from "../verify/lens.ts";
import type { Language, NativeLanguage, OwnLanguage } from "../verify/lenses/language.ts";
import { mayBeNewer } from "../verify/lenses/newer-grammar.ts";
import { type Parsed, refused, unread } from "../verify/lenses/parsed.ts";
import { parseOwn } from "../verify/lenses/parsers.ts";
import { syntaxLens } from "../verify/lenses/syntax.ts";
import { userTree } from "./effects.ts";
import type { LensInput } from "./lens-input.ts";

/** For all texts the parsers of this process are given; one text of 1 MB takes a second or two. */
const ownMsMax = 60_000;
const lookBytesMax = 256 * 1024;

export function syntaxOf({ engine, loaded, root, files }: LensInput): LensAnswer {
  const { fs, environment } = engine;
  const native = nativeParser({ fs, environment, outside: [root, userTree(loaded), loaded.folder.root] });
  const look = (path: string) => {
    const read = readBounded(fs, join(root, path), lookBytesMax);
    return read.kind === "file" ? read.bytes.toString("utf8") : null;
  };
  let leftMs = ownMsMax;
  const own = (language: OwnLanguage, path: string, text: string): Parsed => {
    if (leftMs <= 0) return unread("no time was left for its parser");
    const begunMs = performance.now();
    const parsed = parseOwn(language, path, text);
    leftMs -= performance.now() - begunMs;
    return parsed;
  };
  const parse = (language: Language, path: string, text: string): Parsed =>
    isNative(language) ? parseNative(native, language, text, look) : own(language, path, text);
  try {
    return syntaxLens(files, parse);
  } finally {
    native.close();
  }
}

function isNative(language: Language): language is NativeLanguage {
  return ["python", "ruby", "php", "go", "shell"].includes(language);
}

function parseNative(
  native: NativeParser,
  language: NativeLanguage,
  text: string,
  look: (path: string) => string | null,
): Parsed {
  const answer = native.parse(language, text);
  if (answer.is !== "refused") return answer;
  if (mayBeNewer(language, text, answer, look)) return unread(`it may need a newer ${language} than is installed`);
  return refused(answer.line);
}
