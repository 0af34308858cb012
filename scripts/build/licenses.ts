/** The licences of the packages whose code stands in a bundle, collected in one file beside it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const packagePath = /^(.*?(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const licenceFile = /^(licen[cs]e|copying|notice)(\.(md|txt|markdown))?$/i;

/** Folders (relative to the root, `/` between segments) of the packages among a bundle's inputs. */
export function bundledPackages(inputs: readonly string[]): readonly string[] {
  const folders = inputs.map((path) => lastPackage(path)).filter((folder) => folder !== null);
  return [...new Set(folders)];
}

/** A nested package counts as itself, not as the one that holds it. */
function lastPackage(path: string): string | null {
  const at = path.lastIndexOf("node_modules/");
  if (at < 0) return null;
  const match = packagePath.exec(path.slice(at));
  return match === null ? null : path.slice(0, at) + match[1];
}

/** One text for all. Throws when a bundled package brings no licence text: then it must not be shipped. */
export function licenseText(root: string, folders: readonly string[]): string {
  const parts = new Map<string, string>();
  for (const folder of folders) {
    const path = join(root, folder);
    const facts = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as {
      name: string;
      version: string;
      license?: string;
      author?: string;
    };
    const files = existsSync(path) ? readdirSync(path).filter((name) => licenceFile.test(name)) : [];
    const first = files.sort()[0];
    const standard = facts.license === "ISC" && facts.author !== undefined ? iscText(facts.author) : null;
    if (first === undefined && standard === null) {
      throw new Error(`bundled package ${facts.name} brings no licence text`);
    }
    const text =
      first === undefined ? standard : readFileSync(join(path, first), "utf8").replaceAll("\r\n", "\n").trim();
    parts.set(`${facts.name}@${facts.version}`, `${facts.name} ${facts.version} (${facts.license})\n\n${text}\n`);
  }
  const rule = `\n${"-".repeat(72)}\n\n`;
  const sorted = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  return ["The bundles in this folder hold code of these packages.\n", ...sorted].join(rule);
}

/** Some packages name their licence and leave its text out; the ISC licence has one text for everybody. */
function iscText(author: string): string {
  return `Copyright (c) ${author}

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`;
}
