/** Markdown with front matter, read the strict way: what one host forgives, the other drops. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { repositoryRoot } from "./run-cli.ts";

export interface Page {
  /** Relative to the root. */
  readonly path: string;
  /** The lines between the marks; empty when there are none. */
  readonly head: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export function page(path: string, text: string = readFileSync(join(repositoryRoot, path), "utf8")): Page {
  const match = /^---\n([\s\S]*?)\n---\n/.exec(text);
  const head = match?.[1] ?? "";
  return { path, head, fields: parse(head) ?? {}, body: text.slice(match?.[0].length ?? 0) };
}

/** Every `.md` below a folder, relative to the root, sorted. */
export function markdownBelow(folder: string): readonly string[] {
  return readdirSync(join(repositoryRoot, folder))
    .flatMap((name) => {
      const path = `${folder}/${name}`;
      if (statSync(join(repositoryRoot, path)).isDirectory()) return markdownBelow(path);
      return name.endsWith(".md") ? [path] : [];
    })
    .sort();
}

export function words(text: string): number {
  return text.split(/\s+/).filter((word) => word !== "").length;
}

/** What a reader would type: code spans and blocks that begin with a program. */
export function commandsIn(body: string): readonly string[] {
  const blocks = [...body.matchAll(/^```[a-z]*\n([\s\S]*?)^```/gm)].flatMap((match) => (match[1] ?? "").split("\n"));
  const spans = [...body.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
  return [...blocks, ...spans].filter((text) => /^(atlas|node|git|npm|npx|sh|bash|cat|ls|rm|cp|mv|cd)\s/.test(text));
}

/** A shell construct that makes one command several, or its meaning the folder's. */
export function isSimpleCommand(command: string): boolean {
  return !/[|;<>*?`&]|\$\(|\[/.test(command);
}

/** Placeholders a host would replace behind our back; only the two of Kimi's that we mean are free. */
export function strayPlaceholders(body: string): readonly string[] {
  const meant = body.replaceAll(/\$\{(KIMI_SKILL_DIR|KIMI_SESSION_ID)\}/g, "");
  return [...meant.matchAll(/\$(\d|[A-Za-z_]\w*|\{\w+\})|!`/g)].map((match) => match[0]);
}
