/** JSON as its strict readers take it, JSON with comments, TOML and YAML. */
import { type ParseError, parse as parseCommented } from "jsonc-parser";
import { parse as parseTomlText, TomlError } from "smol-toml";
import { parseAllDocuments } from "yaml";
import { fine, type Parsed, refused, unread } from "./parsed.ts";

const broken = unread("its parser could not take it");

export function parseJson(text: string): Parsed {
  try {
    JSON.parse(text);
    return fine;
  } catch (error) {
    if (!(error instanceof SyntaxError)) return broken;
    const at = /position (\d+)/.exec(error.message)?.[1];
    return refused(at === undefined ? null : lineAt(text, Number(at)));
  }
}

/** Comments and trailing commas are fine, and so is a file of one value a line. */
export function parseJsonc(text: string): Parsed {
  const errors: ParseError[] = [];
  try {
    parseCommented(text, errors, { allowTrailingComma: true, disallowComments: false, allowEmptyContent: true });
  } catch {
    return broken;
  }
  const [first] = errors;
  if (first === undefined || isJsonLines(text)) return fine;
  return refused(lineAt(text, first.offset));
}

function isJsonLines(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 1 && lines.every((line) => parseJson(line).is === "fine");
}

export function parseToml(text: string): Parsed {
  try {
    parseTomlText(text);
    return fine;
  } catch (error) {
    return error instanceof TomlError ? refused(error.line) : broken;
  }
}

/** Any number of documents, any tags. Aliases are never expanded, because no value is made. */
export function parseYaml(text: string): Parsed {
  try {
    const documents = parseAllDocuments(text, { strict: false, uniqueKeys: false, logLevel: "silent" });
    const errors = Array.isArray(documents) ? documents.flatMap((document) => document.errors) : [];
    const [first] = errors;
    if (first === undefined) return fine;
    return refused(lineAt(text, first.pos[0]));
  } catch {
    return broken;
  }
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
