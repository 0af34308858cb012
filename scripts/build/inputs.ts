/** What a build reads: the sources and the lockfile. Their hash is the build id both bundles carry. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** 16 hex digits; equal sources and lockfile give equal ids on every machine and in every folder. */
export function buildId(root: string): string {
  const hash = createHash("sha256");
  for (const path of [...sourceFiles(join(root, "scripts")), join(root, "package-lock.json")]) {
    const bytes = readFileSync(path);
    hash.update(`${relative(root, path).split(sep).join("/")}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}

/** Every TypeScript file below a folder, in one order everywhere. */
export function sourceFiles(folder: string): readonly string[] {
  const files: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...sourceFiles(path));
    else if (entry.name.endsWith(".ts")) files.push(path);
  }
  return files.sort((a, b) => (a < b ? -1 : 1));
}

export interface PackageFacts {
  readonly name: string;
  readonly version: string;
}

export function packageFacts(root: string): PackageFacts {
  const { name, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as PackageFacts;
  return { name, version };
}
