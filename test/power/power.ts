/**
 * npm run power: every power cut, every failing call and every fsync taken away, where the tests try what a seed chose.
 * Further words go to vitest: `-- fsync` runs the files whose name holds it. Exits as vitest does.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
const names = process.argv.slice(2).map((name) => `test/power/${name}`);
const words = [vitest, "run", ...(names.length > 0 ? names : ["test/power"])];
const env = { ...process.env, POWER: "all" };
const child = spawn(process.execPath, words, { cwd: root, env, stdio: ["inherit", "pipe", "inherit"] });

let said = "";
child.stdout.setEncoding("utf8").on("data", (text: string) => {
  process.stdout.write(text);
  said += text;
});
child.once("close", (code) => {
  const sum = (pattern: RegExp): number => [...said.matchAll(pattern)].reduce((all, [, n]) => all + Number(n), 0);
  const cuts = sum(/(\d+) power cuts, seed/g);
  const faults = sum(/(\d+) failing calls, seed/g);
  const injected = [...said.matchAll(/^\w+ \d+ E[A-Z]+: exit \d+$/gm)].length;
  const places = sum(/(\d+) of \d+ places tried/g);
  console.log(`${cuts} power cuts, ${faults} failing calls, ${injected} injected errors, ${places} fsyncs taken away`);
  process.exitCode = code ?? 1;
});
