/** JavaScript and TypeScript. A text is refused only where every dialect its extension allows refuses it. */
import { type ParserOptions, type ParserPlugin, parse } from "@babel/parser";
import { fine, type Parsed, refused, unread } from "./parsed.ts";
import { extensionOf, nameOf } from "./path-words.ts";

const shared: readonly ParserPlugin[] = [
  "decoratorAutoAccessors",
  "explicitResourceManagement",
  "deprecatedImportAssert",
  "exportDefaultFrom",
  "sourcePhaseImports",
  "deferredImportEvaluation",
];

/** Where a bundler or a loader allows what the language does not, we do too: it is the build that judges those. */
const lenient: ParserOptions = {
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
  allowImportExportEverywhere: true,
  allowNewTargetOutsideFunction: true,
  allowSuperOutsideMethod: true,
  allowUndeclaredExports: true,
  attachComment: false,
  errorRecovery: false,
};

export function parseScript(path: string, text: string): Parsed {
  let last: Parsed = refused(null);
  for (const options of dialects(path)) {
    const answer = attempt(text, options);
    if (answer.is !== "refused") return answer;
    // The dialect that came furthest says best where the fault is.
    if (last.is === "refused" && (answer.line ?? 0) > (last.line ?? 0)) last = answer;
  }
  return last;
}

function dialects(path: string): readonly ParserOptions[] {
  const languages = languagesOf(path);
  const decorators: readonly ParserPlugin[] = ["decorators", "decorators-legacy"];
  const types = /\.mjs$/i.test(path) ? (["module"] as const) : (["module", "script"] as const);
  return languages.flatMap((plugins) =>
    decorators.flatMap((decorator) =>
      types.map((sourceType) => ({ ...lenient, sourceType, plugins: [...shared, decorator, ...plugins] })),
    ),
  );
}

function languagesOf(path: string): readonly (readonly ParserPlugin[])[] {
  const extension = extensionOf(path);
  if (extension === ".tsx") return [["typescript", "jsx"]];
  if (!/^\.[mc]?ts$/.test(extension)) return [["jsx"], ["jsx", "flow"], ["jsx", ["flow", { all: true }]]];
  const declares = /\.d\.([^.]+\.)?[mc]?ts$/i.test(nameOf(path));
  return declares ? [[["typescript", { dts: true }]], ["typescript"]] : [["typescript"]];
}

function attempt(text: string, options: ParserOptions): Parsed {
  try {
    parse(text, options);
    return fine;
  } catch (error) {
    const { code, loc } = error as { code?: unknown; loc?: { line?: unknown } };
    // Nested beyond the stack, or a parser that broke: no word about the text.
    if (code !== "BABEL_PARSER_SYNTAX_ERROR") return unread("its parser could not take it");
    return refused(typeof loc?.line === "number" ? loc.line : null);
  }
}
