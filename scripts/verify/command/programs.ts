/** Programs that are test runners, or become one by their arguments. */
import type { Runner } from "../runner.ts";
import { type Following, literal, moved, type Place } from "./following.ts";
import type { Word } from "./shell-reader.ts";
import { afterOptions } from "./wrappers.ts";

const always: Readonly<Record<string, Runner>> = {
  pytest: "pytest",
  "py.test": "pytest",
  jest: "jest",
  mocha: "mocha",
  _mocha: "mocha",
  ava: "ava",
  rspec: "rspec",
  phpunit: "phpunit",
  gotestsum: "go",
  "cargo-nextest": "nextest",
};

const subCommands: Readonly<Record<string, Readonly<Record<string, Runner>>>> = {
  playwright: { test: "playwright" },
  deno: { test: "deno" },
  dotnet: { test: "dotnet", vstest: "dotnet" },
  "react-scripts": { test: "jest" },
  "react-app-rewired": { test: "jest" },
  craco: { test: "jest" },
  hatch: { test: "pytest" },
};

const javaTools: Readonly<Record<string, { readonly runner: Runner; readonly valued: string }>> = {
  mvn: { runner: "maven", valued: "-f --file -P --activate-profiles -pl --projects -s --settings -T --threads -gs -l" },
  gradle: {
    runner: "gradle",
    valued: "-x --exclude-task --tests -p --project-dir -b --build-file -c -g -I --init-script --max-workers --console",
  },
};
const mavenPhases = new Set("test package verify install deploy integration-test prepare-package".split(" "));

const nodeValued =
  "-r --require --import --loader --experimental-loader -C --conditions --env-file --env-file-if-exists --test-reporter " +
  "--test-reporter-destination --test-name-pattern --test-skip-pattern --test-concurrency --test-timeout --test-shard " +
  "--test-coverage-include --test-coverage-exclude --input-type --stack-trace-limit --title --watch-path";

/** Follows a program that is a runner, or a language's own command. False: it is neither. */
export function followRunner(following: Following, words: readonly Word[], place: Place): boolean {
  const [program, ...rest] = words;
  if (program === undefined) return false;
  const name = program.text;
  const begin = (runner: Runner): true => {
    following.begin(runner, rest, place);
    return true;
  };
  if (Object.hasOwn(always, name)) return begin(always[name] as Runner);
  const first = rest.find(({ text }) => !text.startsWith("-"))?.text ?? "";
  if (name === "vitest") {
    if (first === "list" || first === "init" || first === "bench") return true;
    return begin("vitest");
  }
  const sub = Object.hasOwn(subCommands, name) ? subCommands[name] : undefined;
  if (sub !== undefined && Object.hasOwn(sub, first)) return begin(sub[first] as Runner);
  if (name === "deno" && first === "task") return false;
  if (sub !== undefined && name !== "hatch") return true;
  if (name === "go") {
    if (first === "test") return begin("go");
    if (first === "run" || first === "generate") following.fault("unknown-program");
    return true;
  }
  if (name === "cargo" || name === "cross") return followCargo(following, rest, place);
  if (name === "node" || name === "tsx" || name === "nodejs") return followNode(following, rest, place);
  if (/^(python|python[23](\.\d+)?|pypy3?)$/.test(name)) return followPython(following, rest, place);
  if (name === "php") {
    const script = rest.find(({ text }) => !text.startsWith("-"));
    if (script !== undefined && /(^|\/)(vendor\/bin\/)phpunit$/.test(script.text)) return begin("phpunit");
    following.fault("unknown-program");
    return true;
  }
  return followJava(following, words, place);
}

function followCargo(following: Following, words: readonly Word[], place: Place): boolean {
  const behind = words.filter(({ text }, index) => !(index === 0 && text.startsWith("+")));
  const rest = afterOptions(behind, { valued: "--config -Z --color -C", refused: "-C" });
  const [sub, next] = rest ?? [];
  const isNextest = (word: Word | undefined) => word?.text === "run" || word?.text === "r";
  if (rest === null || sub === undefined) following.fault("unknown-option");
  else if (sub.text === "test" || sub.text === "t") {
    if (!rest.some(({ text }) => text === "--no-run")) following.begin("cargo", rest, place);
  } else if (sub.text === "nextest") {
    if (isNextest(next)) following.begin("nextest", rest, place);
  } else if (sub.text === "llvm-cov") {
    if (next?.text === "nextest") following.begin("nextest", rest, place);
    else if (next === undefined || next.text === "test" || next.text.startsWith("-")) {
      following.begin("cargo", rest, place);
    }
  } else if (
    !/^(build|b|check|c|clippy|fmt|doc|d|fetch|clean|update|generate-lockfile|tree|deny|audit)$/.test(sub.text)
  ) {
    following.fault("unknown-program");
  }
  return true;
}

function followNode(following: Following, words: readonly Word[], place: Place): boolean {
  const rest = afterOptions(words, { valued: nodeValued }) ?? [];
  const options = words.slice(0, words.length - rest.length);
  if (options.some(({ text }) => text === "--test")) following.begin("node-test", words, place);
  else if (options.some(({ text }) => /^(-[ep]|-pe|--eval|--print|-c|--check|-v|--version)$/.test(text))) return true;
  else {
    const [script, ...more] = rest;
    if (script === undefined || !script.isLiteral) following.fault("variable");
    else followNodeScript(following, script, more, place);
  }
  return true;
}

function followNodeScript(following: Following, script: Word, more: readonly Word[], place: Place): void {
  // A package's own program, called by its file.
  const packaged = /(?:^|\/)node_modules\/(?:\.bin\/([\w.-]+)|((?:@[\w.-]+\/)?[\w.-]+)\/)/.exec(script.text);
  if (packaged !== null) {
    const name = (packaged[1] ?? packaged[2] ?? "").replace(/^@playwright\/test$/, "playwright");
    following.program([literal(name), ...more], place);
    return;
  }
  const path = place.cwd === null ? null : moved({ ...following, fault: () => {} }, place, script).cwd;
  const source = path === null ? null : following.look(path);
  if (source !== null && /(?:from\s*|require\(\s*|import\s*)["'](?:node:)test["']/.test(source)) {
    following.begin("node-test", [script, ...more], place);
  } else following.fault("unknown-program");
}

function followPython(following: Following, words: readonly Word[], place: Place): boolean {
  let at = 0;
  for (; at < words.length; at += 1) {
    const text = words[at]?.text ?? "";
    if (text === "-m") break;
    if (!text.startsWith("-") || text === "-c" || text === "-") break;
    if (text === "-X" || text === "-W") at += 1;
  }
  const [head, module, ...rest] = words.slice(at);
  if (head?.text === "-m" && module !== undefined) {
    if (module.text === "unittest") following.begin("unittest", rest, place);
    else if (module.text === "django" && rest[0]?.text === "test") following.begin("unittest", rest, place);
    else if (!/^(pip|venv|build|compileall|ensurepip)$/.test(module.text)) following.program([module, ...rest], place);
    return true;
  }
  const isDjango = head?.text.replace(/^\.\//, "") === "manage.py" && module?.text === "test";
  const path = place.cwd === null || place.cwd === "" ? "manage.py" : `${place.cwd}/manage.py`;
  if (isDjango && place.cwd !== null && /\bdjango\b/.test(following.look(path) ?? "")) {
    following.begin("unittest", rest, place);
  } else following.fault("unknown-program");
  return true;
}

function followJava(following: Following, [program, ...rest]: readonly Word[], place: Place): boolean {
  const name = (program?.text ?? "")
    .replace(/^(.*\/)?mvnw(\.cmd)?$/, "mvn")
    .replace(/^(.*\/)?gradlew(\.bat)?$/, "gradle");
  const tool = Object.hasOwn(javaTools, name) ? javaTools[name] : undefined;
  if (tool === undefined) return false;
  const valued = new Set(tool.valued.split(" "));
  const goals = rest.filter(({ text }, index) => !text.startsWith("-") && !valued.has(rest[index - 1]?.text ?? ""));
  const tasks = goals.map(({ text }) => text);
  if (tool.runner === "maven") {
    const skips = rest.some(({ text }) => /^-D(skipTests|maven\.test\.skip)(=true)?$/.test(text));
    const tests = tasks.some((task) => mavenPhases.has(task) || /^(surefire:test|failsafe:)/.test(task));
    if (tests && !skips) following.begin("maven", rest, place);
    return true;
  }
  const excluded = rest.flatMap(({ text }, index) => (text === "-x" ? [rest[index + 1]?.text ?? ""] : []));
  const tests = tasks.some((task) => /(^|:)(check|build|test\w*|\w+Test)$/.test(task));
  if (tests && !excluded.includes("test")) following.begin("gradle", rest, place);
  return true;
}
