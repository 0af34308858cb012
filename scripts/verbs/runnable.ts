import { delimiter, join } from "node:path";
import type { Engine } from "../engine/context.ts";
import { entryKind } from "../platform/files.ts";

/** Where `atlas` is not on PATH, printed commands name the program that just ran. JSON keeps the short form. */
export function runnable(engine: Engine, text: string): string {
  const folders = (engine.environment.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const names = process.platform === "win32" ? ["atlas.cmd", "atlas.exe"] : ["atlas"];
  const found = folders.some((folder) => names.some((name) => entryKind(engine.fs, join(folder, name)) !== "absent"));
  if (found) return text;
  const program = `node ${JSON.stringify(join(engine.pluginRoot, "dist", "atlas.cjs"))}`;
  return text.replace(
    /^((?:\s*(?:then|run|fix|Now run|if the agent is gone): )|\s*)atlas (?=[a-z])/gm,
    (whole, lead: string) =>
      // Words the human types into a prompt are no command: `atlas <nonce> <choice>`.
      /^[0-9a-f]{8} /.test(text.slice(text.indexOf(whole) + whole.length)) ? whole : `${lead}${program} `,
  );
}
