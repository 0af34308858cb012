/**
 * Report files a runner writes because its arguments or its configuration say so, and whether one more may be asked for
 * through its variable. Where a runner has reporters of its own, another one would take their place or break the run.
 */
import type { ReportFormat } from "../report-format.ts";
import type { Runner } from "../runner.ts";
import { below, inFolder, type Look } from "./following.ts";
import { readJson, record } from "./manifests.ts";
import type { OwnReports } from "./report-files.ts";
import type { Word } from "./shell-reader.ts";

interface Input {
  readonly runner: Runner;
  readonly words: readonly Word[];
  readonly assignments: readonly Word[];
  readonly cwd: string | null;
  readonly look: Look;
}

type Named = { readonly format: ReportFormat; readonly path: string };
const configCharsMax = 64 * 1024;
const argumentsCharsMax = 4096;
const variables: Partial<Record<Runner, string>> = {
  pytest: "PYTEST_ADDOPTS",
  "node-test": "NODE_OPTIONS",
  rspec: "SPEC_OPTS",
  go: "GOFLAGS",
};
const builtIn: Partial<Record<Runner, readonly string[]>> = {
  maven: ["**/target/surefire-reports/TEST-*.xml", "**/target/failsafe-reports/TEST-*.xml"],
  gradle: ["**/build/test-results/**/TEST-*.xml"],
  nextest: ["**/target/nextest/*/*.xml"],
};

export function ownReports(input: Input): OwnReports {
  const { runner, cwd, assignments } = input;
  const { named, hasReporter } = namedBy(input);
  const files = named.flatMap(({ format, path }) => {
    const at = cwd === null || path === "" ? null : below(cwd, path);
    return at === null ? [] : [{ format, glob: at.replace(/[\\*?[\]{}()!+@]/g, "\\$&") }];
  });
  const usual = (builtIn[runner] ?? []).map((glob) => ({ format: "junit" as const, glob }));
  const variable = variables[runner] ?? "";
  const isTaken = assignments.some(({ text }) => text === "-" || text.split(/\+?=/)[0] === variable);
  return { files: [...files, ...usual], isAskable: !hasReporter && !isTaken };
}

function namedBy(input: Input): { readonly named: readonly Named[]; readonly hasReporter: boolean } {
  const { words, assignments } = input;
  const junit = (paths: readonly string[]) => paths.map((path): Named => ({ format: "junit", path }));
  switch (input.runner) {
    case "pytest": {
      const given = values(words, "--junitxml", "--junit-xml");
      const settings = configs(input, ["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"]);
      const set = [...settings.matchAll(/--junit-?xml[= ]["']?([^\s"',\]]+)/g)].map((match) => match[1] ?? "");
      const blocked = /no:junitxml/.test(settings) || words.some(({ text }) => text.includes("no:junitxml"));
      return { named: junit([...given, ...set]), hasReporter: blocked || given.length > 0 || set.length > 0 };
    }
    case "node-test": {
      const reporters = values(words, "--test-reporter");
      const targets = values(words, "--test-reporter-destination");
      const named = reporters.flatMap((reporter, index): Named[] => {
        const path = targets[index] ?? "";
        const isFile = path !== "" && path !== "stdout" && path !== "stderr";
        return isFile && (reporter === "junit" || reporter === "tap") ? [{ format: reporter, path }] : [];
      });
      return { named, hasReporter: reporters.length + targets.length > 0 };
    }
    case "rspec": {
      const given = words
        .map(({ text }) => text)
        .join(" ")
        .slice(0, argumentsCharsMax);
      const set = configs(input, [".rspec", ".rspec-local"]).slice(0, argumentsCharsMax).replace(/\s+/g, " ");
      const pairs = [...`${given} ${set}`.matchAll(/(?:--format|-f) ?=?(\S+) (?:--out|-o) ?=?(\S+)/g)];
      const named = pairs.map(
        (match): Named => ({ format: /junit/i.test(match[1] ?? "") ? "junit" : "rspec-json", path: match[2] ?? "" }),
      );
      const known = named.filter(
        ({ format }, index) => format === "junit" || /^j(son)?$/.test(pairs[index]?.[1] ?? ""),
      );
      return { named: known, hasReporter: /(^| )(--format|-f|--out|-o)/.test(given) || /(^| )(--out|-o)/.test(set) };
    }
    case "vitest":
      return { named: vitestReports(input), hasReporter: false };
    case "jest":
      return { named: jestReports(input), hasReporter: false };
    case "mocha": {
      const reporter = values(words, "--reporter", "-R")[0] ?? "";
      const options = values(words, "--reporter-option", "--reporter-options", "-O").join(",");
      const key = reporter === "xunit" ? "output" : "mochaFile";
      const path = new RegExp(`(?:^|,)${key}=([^,]+)`).exec(options)?.[1];
      if (reporter === "xunit") return { named: junit(path === undefined ? [] : [path]), hasReporter: false };
      const isJunit = reporter === "mocha-junit-reporter";
      return { named: junit(isJunit ? [path ?? "test-results.xml"] : []), hasReporter: false };
    }
    case "playwright": {
      const text = configs(input, ["playwright.config.ts", "playwright.config.js", "playwright.config.mjs"]);
      const set = [
        ...text.matchAll(/["'](junit|json)["']\s*,\s*\{[^{}]{0,400}?outputFile\s*:\s*["']([^"'\n]{1,400})["']/g),
      ];
      const assigned = (kind: string) => assignedTo(assignments, `PLAYWRIGHT_${kind}_OUTPUT_(?:NAME|FILE)`);
      const json = [...assigned("JSON"), ...set.filter((match) => match[1] === "json").map((match) => match[2] ?? "")];
      const xml = [...assigned("JUNIT"), ...set.filter((match) => match[1] === "junit").map((match) => match[2] ?? "")];
      return {
        named: [...junit(xml), ...json.map((path): Named => ({ format: "playwright-json", path }))],
        hasReporter: false,
      };
    }
    case "phpunit": {
      const text = configs(input, ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]);
      const set = [...text.matchAll(/<junit\s[^<>]{0,400}?outputFile="([^"\n]{1,400})"/g)].map(
        (match) => match[1] ?? "",
      );
      return { named: junit([...values(words, "--log-junit"), ...set]), hasReporter: false };
    }
    case "go": {
      const named = values(words, "--jsonfile", "-jsonfile").map((path): Named => ({ format: "go-json", path }));
      return {
        named: [...junit(values(words, "--junitfile", "-junitfile")), ...named],
        hasReporter: words.some(({ text }) => /^--?(json|jsonfile|junitfile|c|exec)(=|$)/.test(text)),
      };
    }
    case "deno":
      return { named: junit(values(words, "--junit-path")), hasReporter: false };
    case "bun":
      return { named: junit(values(words, "--reporter-outfile")), hasReporter: false };
    case "dotnet": {
      const loggers = values(words, "--logger", "-l").join(" ").slice(0, argumentsCharsMax);
      return { named: junit([/junit;.*?LogFilePath=([^;\s]+)/.exec(loggers)?.[1] ?? ""]), hasReporter: false };
    }
    default:
      return { named: [], hasReporter: false };
  }
}

function vitestReports(input: Input): readonly Named[] {
  const { words } = input;
  const kinds = values(words, "--reporter");
  const found: Named[] = [];
  const add = (kind: string, path: string) => {
    if (kind === "junit") found.push({ format: "junit", path });
    if (kind === "json") found.push({ format: "vitest-json", path });
  };
  for (const path of values(words, "--outputFile", "--output-file")) for (const kind of kinds) add(kind, path);
  for (const kind of ["junit", "json"]) for (const path of values(words, `--outputFile.${kind}`)) add(kind, path);
  const names = ["vitest.config", "vite.config"].flatMap((name) =>
    ["ts", "mts", "js", "mjs"].map((end) => `${name}.${end}`),
  );
  const text = configs(input, names);
  const one = /outputFile\s*:\s*["'`]([^"'`\n]{1,400})["'`]/.exec(text)?.[1];
  const inFile = ["junit", "json"].filter((kind) => new RegExp(`["']${kind}["']`).test(text));
  if (one !== undefined && kinds.length === 0) for (const kind of inFile) add(kind, one);
  const several = /outputFile\s*:\s*\{([^{}]{1,800})\}/.exec(text)?.[1] ?? "";
  for (const match of several.matchAll(/["']?(junit|json)["']?\s*:\s*["'`]([^"'`\n]{1,400})["'`]/g)) {
    add(match[1] ?? "", match[2] ?? "");
  }
  return found;
}

function jestReports({ words, assignments, cwd, look }: Input): readonly Named[] {
  const found: Named[] = [];
  if (words.some(({ text }) => text === "--json")) {
    found.push(...values(words, "--outputFile").map((path): Named => ({ format: "jest-json", path })));
  }
  const manifest = cwd === null ? null : look(inFolder(cwd, "package.json"));
  const isUsed = [manifest ?? "", ...words.map(({ text }) => text)].some((text) => text.includes("jest-junit"));
  if (!isUsed) return found;
  const set = record(readJson(manifest)?.["jest-junit"]);
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  const folder = assignedTo(assignments, "JEST_JUNIT_OUTPUT_DIR")[0] ?? text(set?.outputDirectory) ?? ".";
  const name = assignedTo(assignments, "JEST_JUNIT_OUTPUT_NAME")[0] ?? text(set?.outputName) ?? "junit.xml";
  const file = assignedTo(assignments, "JEST_JUNIT_OUTPUT_FILE")[0] ?? text(set?.outputFile);
  return [...found, { format: "junit", path: file ?? `${folder}/${name}` }];
}

/** The values of an option, as `--name=value` or as the next word. Words that are not literal are left out. */
function values(words: readonly Word[], ...names: readonly string[]): readonly string[] {
  return words.flatMap((word, index) => {
    const name = names.find((one) => word.text === one || word.text.startsWith(`${one}=`));
    const next = words[index + 1];
    if (name === undefined) return [];
    if (word.text !== name) return word.isLiteral ? [word.text.slice(name.length + 1)] : [""];
    return [next?.isLiteral === true ? next.text : ""];
  });
}

function assignedTo(assignments: readonly Word[], name: string): readonly string[] {
  const shape = new RegExp(`^${name}=(.+)$`, "s");
  return assignments.flatMap(({ text, isLiteral }) => (isLiteral ? (shape.exec(text)?.slice(1) ?? []) : []));
}

function configs({ look, cwd }: Input, names: readonly string[]): string {
  if (cwd === null) return "";
  const folders = cwd === "" ? [""] : [cwd, ""];
  const texts = folders.flatMap((folder) => names.map((name) => look(inFolder(folder, name)) ?? ""));
  return texts.map((text) => text.slice(0, configCharsMax)).join("\n");
}
