/** Every parser that runs in this process. The packages behind it are large: it is loaded when a change is judged. */
import type { OwnLanguage } from "./language.ts";
import { parseJson, parseJsonc, parseToml, parseYaml } from "./parse-data.ts";
import { parseScript } from "./parse-script.ts";
import type { Parsed } from "./parsed.ts";

/** Never throws, whatever the text. Executes nothing of it. */
export function parseOwn(language: OwnLanguage, path: string, text: string): Parsed {
  if (language === "script") return parseScript(path, text);
  if (language === "json") return parseJson(text);
  if (language === "jsonc") return parseJsonc(text);
  return language === "toml" ? parseToml(text) : parseYaml(text);
}
