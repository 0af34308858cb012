/** The sources as a graph: who imports whom, and which names a file uses. */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { sourceFiles } from "../../scripts/build/inputs.ts";
import { repositoryRoot } from "./run-cli.ts";

export interface SourceFile {
  /** Relative to the root, for example `scripts/core/line.ts`. */
  readonly path: string;
  readonly text: string;
  /** Static, type-only, dynamic and re-exported imports alike: `node:fs`, `zod`, or a path as above. */
  readonly imports: readonly string[];
}

export function readSources(root: string = repositoryRoot, folder = "scripts"): readonly SourceFile[] {
  return sourceFiles(join(root, folder)).map((path) =>
    sourceFile(relative(root, path).replaceAll("\\", "/"), readFileSync(path, "utf8")),
  );
}

export function sourceFile(path: string, text: string): SourceFile {
  const found = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  const imports = found.map((name) => (name.startsWith(".") ? join(dirname(path), name).replaceAll("\\", "/") : name));
  return { path, text, imports };
}

/** Clock, randomness and the process: what a pure floor may not name. */
export function impureNames(file: SourceFile): readonly string[] {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const name = impureName(node);
    if (name !== null) found.push(name);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

const globals = new Set([
  "process",
  "performance",
  "crypto",
  "require",
  "globalThis",
  "fetch",
  "console",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
]);

function impureName(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node)) {
    const text = `${node.expression.getText()}.${node.name.text}`;
    if (text === "Date.now" || text === "Math.random") return text;
  }
  if (ts.isNewExpression(node) && node.expression.getText() === "Date" && (node.arguments?.length ?? 0) === 0)
    return "new Date()";
  if (ts.isCallExpression(node) && node.expression.getText() === "Date") return "Date()";
  if (ts.isIdentifier(node) && globals.has(node.text) && isReference(node)) return node.text;
  return null;
}

/** Not the `x` of `a.x`, of `{ x: … }` or of a type's member. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  return !(ts.isPropertySignature(parent) || ts.isMethodSignature(parent) || ts.isImportSpecifier(parent));
}

export function hasDefaultExport(file: SourceFile): boolean {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  return tree.statements.some(
    (statement) =>
      ts.isExportAssignment(statement) ||
      (ts.canHaveModifiers(statement) &&
        ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) === true) ||
      (ts.isExportDeclaration(statement) &&
        statement.exportClause !== undefined &&
        ts.isNamedExports(statement.exportClause) &&
        statement.exportClause.elements.some(({ name }) => name.text === "default")),
  );
}

/** The first cycle found, as a path that ends where it begins; null when there is none. */
export function importCycle(files: readonly SourceFile[]): readonly string[] | null {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const walk = (path: string, trail: readonly string[]): readonly string[] | null => {
    const at = trail.indexOf(path);
    if (at >= 0) return [...trail.slice(at), path];
    if (finished.has(path)) return null;
    for (const next of byPath.get(path)?.imports ?? []) {
      const cycle = byPath.has(next) ? walk(next, [...trail, path]) : null;
      if (cycle !== null) return cycle;
    }
    finished.add(path);
    return null;
  };
  for (const { path } of files) {
    const cycle = walk(path, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
