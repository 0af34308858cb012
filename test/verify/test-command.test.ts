import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveCommand } from "../../scripts/verify/test-command.ts";

type Files = Readonly<Record<string, string>>;

function resolved(command: string, files: Files = {}) {
  const look = (path: string) => (Object.hasOwn(files, path) ? (files[path] ?? null) : null);
  return resolveCommand(command, look);
}

function told(command: string, files: Files = {}): string {
  const { runners, unresolved } = resolved(command, files);
  return [runners.join(" "), ...unresolved].join(" ! ");
}

const manifest = (scripts: Files, more: object = {}) => JSON.stringify({ scripts, ...more });

describe("V-05b: a command is judged by what it runs, not by the first script of the root", () => {
  const files = {
    "package.json": manifest({ test: "jest", "test:unit": "mocha" }),
    "pkg/package.json": manifest({ test: "vitest run" }),
  };
  test.each([
    ["npm run test:unit", "mocha"],
    ["cd pkg && npm test", "vitest"],
    ["cd pkg; npm test", "vitest"],
    ["(cd pkg && npm test) && npm test", "vitest jest"],
    ["cd pkg | true; npm test", "jest"],
    ["npm --prefix pkg test", "vitest"],
    ["npm test", "jest"],
    ["pytest; npm test", "pytest jest"],
    ["npm test || pytest", "jest pytest"],
    ["pytest | tee log.txt", "pytest"],
    ["cd pkg/src && npm test", "vitest"],
  ])("%s runs %s", (command, runners) => expect(told(command, files)).toBe(runners));

  test.each([
    ["echo '3 passed' # pytest", ""],
    ["echo pytest", ""],
    ["echo 'a\n# pytest' && true", ""],
    ["grep -r 'npm test' .", ""],
    ["true # && npm test\npytest", "pytest"],
  ])("%j: text that only looks like a runner is none", (command, runners) =>
    expect(told(command, files)).toBe(runners),
  );
});

describe("V-16: each runner is known by every usual way of beginning it", () => {
  const scripts = {
    test: "npm run unit",
    unit: "vitest run",
    e2e: "playwright test",
    all: "run-s unit e2e",
    both: "vitest && playwright test",
    args: "npm run unit -- --reporter=dot",
  };
  const files = {
    "package.json": manifest(scripts),
    "manage.py": "import django",
    "composer.json": JSON.stringify({ scripts: { test: ["@unit"], unit: "phpunit" } }),
    "deno.json": '{ "tasks": { "check": "deno test -A", }, }',
    "bin/ci": "#!/usr/bin/env bash\nset -euo pipefail\n\ngo test ./...\n",
    "test/plain.js": 'import test from "node:test";',
    "test/other.js": "console.log('3 passed')",
    "tox.ini": "[tox]\nenvlist = py\n[testenv]\ndeps = pytest\ncommands =\n    pytest {posargs}\n[flake8]\n",
  };
  test.each([
    ["npm t", "vitest"],
    ["npm tst", "vitest"],
    ["npm run-script unit", "vitest"],
    ["pnpm test", "vitest"],
    ["pnpm unit", "vitest"],
    ["pnpm exec vitest", "vitest"],
    ["pnpm playwright test", "playwright"],
    ["yarn test", "vitest"],
    ["yarn run unit", "vitest"],
    ["yarn vitest run", "vitest"],
    ["bun run test", "vitest"],
    ["bun test", "bun"],
    ["bunx vitest", "vitest"],
    ["npm run both", "vitest playwright"],
    ["npm run all", "vitest playwright"],
    ["npm run args", "vitest"],
    ["npx vitest@3 run", "vitest"],
    ["npx -y -p typescript tsc", ""],
    ["npx --package=jest -c 'jest --ci'", "jest"],
    ["npm exec -- ava", "ava"],
    ["npm ci && npm test", "vitest"],
    ["./node_modules/.bin/mocha", "mocha"],
    ["node --experimental-vm-modules node_modules/jest/bin/jest.js", "jest"],
    ["node --test", "node-test"],
    ["node --import tsx --test test/*.ts", "node-test"],
    ["node --test-reporter tap --test", "node-test"],
    ["node test/plain.js", "node-test"],
    ["tsx --test", "node-test"],
    ["c8 --reporter lcov node --test", "node-test"],
    ["nyc mocha", "mocha"],
    ["ava", "ava"],
    ["react-scripts test --watchAll=false", "jest"],
    ["CI=1 NODE_ENV=test npx react-scripts test", "jest"],
    ["cross-env CI=1 jest", "jest"],
    ["env -u HOME CI=1 pytest -q", "pytest"],
    ["time nice -n 5 timeout -k 5 60s pytest", "pytest"],
    ["sh -c 'cd . && pytest'", "pytest"],
    ['bash -euo pipefail -c "npm test"', "vitest"],
    ["python -m pytest -q", "pytest"],
    ["python3.12 -W error -m unittest discover", "unittest"],
    ["coverage run -m pytest", "pytest"],
    ["python -m coverage run --source src -m unittest", "unittest"],
    ["poetry run pytest", "pytest"],
    ["uv run --extra dev pytest", "pytest"],
    ["uv run -m pytest", "pytest"],
    ["python manage.py test", "unittest"],
    [".venv/bin/pytest", "pytest"],
    [". .venv/bin/activate && pytest", "pytest"],
    ["tox", "pytest"],
    ["go vet ./... && go test ./...", "go"],
    ["gotestsum -- ./...", "go"],
    ["cargo +nightly test --workspace", "cargo"],
    ["cargo fmt --check && cargo clippy && cargo nextest run", "nextest"],
    ["bundle exec rspec", "rspec"],
    ["vendor/bin/phpunit", "phpunit"],
    ["composer test", "phpunit"],
    ["mvn -q -B verify", "maven"],
    ["./mvnw test", "maven"],
    ["gradle check", "gradle"],
    ["./gradlew :app:test", "gradle"],
    ["dotnet test --no-restore", "dotnet"],
    ["deno test", "deno"],
    ["deno task check", "deno"],
    ["./bin/ci", "go"],
    ["bash bin/ci", "go"],
    ["concurrently -n a,b 'npm:unit' 'pytest -q'", "vitest pytest"],
    ["pytest 2>&1 > log.txt", "pytest"],
    ["pytest \\\n  -q", "pytest"],
    ["pytest -k 'a and (b)'", "pytest"],
  ])("%s runs %s", (command, runners) => expect(told(command, files)).toBe(runners));

  test("pre and post scripts are run too", () => {
    const hooks = manifest({ pretest: "eslint .", test: "mocha", posttest: "ava" });
    expect(told("npm test", { "package.json": hooks })).toBe("mocha ava");
  });

  test.each([
    ["nothing runs", "mvn -DskipTests package", ""],
    ["nothing runs", "gradle build -x test", ""],
    ["nothing runs", "cargo test --no-run", ""],
    ["it is no test script of ours", "node test/other.js", " ! unknown-program"],
    ["the name is not known", "./run-everything", " ! unknown-program"],
    ["a variable says what runs", "$RUNNER --all", " ! variable"],
    ["a variable says which script", 'npm run "$WHICH"', " ! variable"],
    ["there is no such script", "npm run missing", " ! no-script"],
    ["a loop is no simple command", "for d in a b; do (cd $d && pytest); done", " ! shell-syntax"],
    ["a condition too", "if true; then pytest; fi", " ! shell-syntax"],
    ["so is a function", "t() { pytest; }; t", " ! shell-syntax"],
    ["a quote is open", "pytest 'a", " ! shell-syntax"],
    ["a here document", "sh <<EOF\npytest\nEOF", " ! shell-syntax"],
    ["what is in a substitution is not followed", 'echo "$(pytest)"', " ! substitution"],
    ["the folder is not known", "cd $WHERE && npm test", " ! unknown-folder"],
    ["it leads out", "cd ../other && npm test", " ! outside-the-tree ! unknown-folder"],
    ["nobody waits for it", "pytest &", "pytest ! background"],
    ["nox is a program of its own", "nox", " ! nox"],
    ["xargs", "ls | xargs pytest", " ! unknown-program"],
    ["eval", "eval pytest", " ! unknown-program"],
  ])("%s: %s", (_why, command, expected) => expect(told(command, files)).toBe(expected));

  test("a tox with several environments is not followed", () => {
    expect(told("tox", { "tox.ini": "[testenv]\ncommands = pytest\n[testenv:lint]\ncommands = ruff" })).toBe(" ! tox");
  });

  test("without a manifest below the tree the package manager would take one above it", () => {
    expect(told("npm test")).toBe(" ! no-manifest");
  });

  test("scripts that call each other end", () => {
    const circle = manifest({ test: "npm run a", a: "npm run b", b: "npm test && mocha" });
    expect(told("npm test", { "package.json": circle })).toBe("mocha ! circle");
  });

  test("scripts that grow do not", () => {
    const growing = manifest(
      Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => [`s${index}`, `npm run s${index + 1} && npm run s${index + 1}`]),
      ),
    );
    const { unresolved } = resolved("npm run s0", { "package.json": growing });
    expect(unresolved.some((word) => word === "too-deep" || word === "too-long")).toBe(true);
  });
});

describe("V-16: workspaces", () => {
  const workspace = {
    "package.json": manifest({ test: "npm test --workspaces --if-present" }, { workspaces: ["packages/*"] }),
    "package-lock.json": JSON.stringify({
      packages: { "": {}, "packages/a": {}, "packages/b": {}, "node_modules/a": { link: true } },
    }),
    "packages/a/package.json": manifest({ test: "mocha", build: "tsc" }, { name: "@x/a" }),
    "packages/b/package.json": manifest({ test: "jest" }, { name: "@x/b" }),
    "packages/b/project.json": JSON.stringify({ targets: { e2e: { executor: "@nx/playwright:playwright" } } }),
  };
  test.each([
    ["npm test", "mocha jest"],
    ["npm test -ws", "mocha jest"],
    ["npm test -w @x/b", "jest"],
    ["npm test --workspace=packages/a", "mocha"],
    ["npm -w packages/a run test", "mocha"],
    ["pnpm -r test", "mocha jest"],
    ["pnpm --filter @x/a test", "mocha"],
    ["yarn workspace @x/b test", "jest"],
    ["yarn workspaces foreach -A run test", "mocha jest"],
    ["turbo run test", "mocha jest"],
    ["npx turbo test --filter=@x/a", "mocha"],
    ["lerna run test", "mocha jest"],
    ["nx run-many -t test", "mocha jest"],
    ["nx e2e b", "playwright"],
    ["npm test -w missing", " ! workspaces"],
    ["pnpm --filter '...[main]' test", " ! workspaces"],
    ["nx lint b", " ! nx"],
  ])("%s runs %s", (command, runners) => expect(told(command, workspace)).toBe(runners));

  test("members behind a glob are not known without a lockfile, those named are", () => {
    const { "package-lock.json": _lock, ...unlocked } = workspace;
    expect(told("npm test -ws", unlocked)).toBe(" ! workspaces");
    const named = manifest({}, { workspaces: ["packages/a"] });
    expect(told("npm test -ws", { ...unlocked, "package.json": named })).toBe("mocha");
  });

  test.each([
    [
      "pnpm",
      {
        "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
        "pnpm-lock.yaml":
          "importers:\n\n  .:\n    a: 1\n\n  packages/a:\n    dependencies:\n      x: 1\n\npackages:\n  y:\n",
      },
    ],
    [
      "yarn",
      {
        "yarn.lock":
          '__metadata:\n  version: 8\n\n"@x/a@workspace:packages/a":\n  version: 0\n  resolution: "@x/a@workspace:packages/a"\n',
      },
    ],
    ["bun", { "bun.lock": '{ "workspaces": { "": {}, "packages/a": { "name": "@x/a", }, }, }' }],
  ])("the lockfile of %s names them", (manager, lock) => {
    const own = { ...workspace, ...lock } as Record<string, string>;
    delete own["package-lock.json"];
    if (manager === "pnpm") own["package.json"] = manifest({});
    const commands: Record<string, string> = {
      pnpm: "pnpm -r test",
      yarn: "yarn workspaces foreach -A run test",
      bun: "bun run --filter '*' test",
    };
    expect(told(commands[manager] ?? "", own)).toBe("mocha");
  });
});

describe("V-16: make", () => {
  const make = (text: string, command = "make test") => told(command, { Makefile: text });
  test.each([
    ["a recipe", "test:\n\tpytest -q\n"],
    ["prerequisites only", "test: unit\nunit: build\n\tpytest\nbuild:\n\ttsc\n"],
    ["a blank line first", "test:\n\n\tpytest\n"],
    ["a comment first", "test:\n# say\n\t# said\n\t@pytest\n"],
    ["a recipe on the line", "test: ; pytest\n"],
    ["a target's variable first", "test: CI = 1\ntest: export PORT := 1\ntest: unit\nunit:\n\tpytest\n"],
    ["double colons", "test::\n\tpytest\n"],
    ["several targets", "check test: all\n\tpytest\nall:\n"],
    ["variables", "PY ?= python3\nRUN = $(PY) -m\ntest:\n\t$(RUN) pytest\n"],
    ["another make", "test:\n\t$(MAKE) unit\nunit:\n\tpytest\n"],
    ["a continued line", "test:\n\tpytest \\\n\t  -q\n"],
    ["signs before a command", "test:\n\t-@pytest\n"],
    ["a pattern", "test: a.test\n%.test:\n\tpytest $<\n"],
    ["a definition in between", "define x\ntest:\n\tmocha\nendef\ntest:\n\tpytest\n"],
    ["the first target", "all: test\ntest:\n\tpytest\n"],
  ])("%s", (_what, text) => expect(make(text)).toBe("pytest"));

  test.each([
    ["a variable of that name is no target", "test := x\nall:\n\tpytest\n", " ! no-target"],
    ["nor is another assignment", "test = x\n", " ! no-target"],
    ["a rule under a condition is not known", "ifdef CI\ntest:\n\tpytest\nendif\n", "pytest ! makefile-syntax"],
    ["what a shell says is not known", "R := $(shell which pytest)\ntest:\n\t$(R)\n", " ! substitution ! variable"],
    ["a circle", "test: a\na: b\nb: a\n\tpytest\n", "pytest ! circle"],
  ])("%s", (_what, text, expected) => expect(make(text)).toBe(expected));

  test("make -C reads the makefile there, a variable of the command line wins, and no target is the first one", () => {
    const files = { "sub/Makefile": "T = mocha\nall: test\ntest:\n\t$(T)\n", Makefile: "test:\n\tjest\n" };
    expect(told("make -C sub test T=ava", files)).toBe("ava");
    expect(told("make -j4 -C sub", files)).toBe("mocha");
    expect(told("cd sub && make", files)).toBe("mocha");
    expect(told("make", files)).toBe("jest");
    expect(told("make -n test", files)).toBe("");
    expect(told("make", {})).toBe(" ! no-makefile");
  });
});

describe("the reader of commands", () => {
  const pieces = fc.constantFrom(
    ..."npm test|cd |..|&&|||;|(|)|'|\"|$(|`|\n|#|\\|make |-C |pytest|npx |sh -c |${A}|<|>|2>&1|&|{|}|!| |env |A=b|--|node |--test".split(
      "|",
    ),
    " | ",
  );
  const anyText = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 40 }).map((all) => all.join("")),
    fc.array(pieces, { maxLength: 40 }).map((all) => all.join(" ")),
  );

  test("never throws, whatever the command and the files say", () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (command, script, recipe) => {
        const files = {
          "package.json": manifest({ test: script, pretest: "make all" }),
          Makefile: `all: b\n\t${recipe}\nb:\n\tnpm test\n${script}`,
        };
        const { runners, unresolved } = resolved(command, files);
        expect(new Set(runners).size).toBe(runners.length);
        expect(unresolved.every((word) => /^[a-z-]+$/.test(word))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["a manifest that is a list", { "package.json": "[]" }],
    ["scripts that are a text", { "package.json": '{"scripts":"x"}' }],
    ["a script that is a number", { "package.json": '{"scripts":{"test":3}}' }],
    ["a prototype", { "package.json": '{"scripts":{"__proto__":{"test":"mocha"}}}' }],
    ["broken JSON", { "package.json": "{" }],
  ])("%s counts as absent", (_what, files) => {
    expect(resolved("npm test; npm run constructor; npm run toString", files).runners).toEqual([]);
  });

  test.each([
    ["quotes", (n: number) => `echo ${"'a' ".repeat(n)}`],
    ["open substitutions", (n: number) => "echo $(".repeat(n)],
    ["substitutions", (n: number) => "echo $(a) ".repeat(n)],
    ["open braces", (n: number) => "${".repeat(n)],
    ["commands", (n: number) => "true;".repeat(n)],
    ["groups", (n: number) => "(".repeat(n)],
    ["backslashes", (n: number) => "\\".repeat(n)],
    ["signs", (n: number) => "a= ".repeat(n)],
  ])("%s cost time in proportion to their number", (_what, text) => {
    const ms = (length: number) => {
      const command = text(length);
      const begun = performance.now();
      resolved(command);
      return performance.now() - begun;
    };
    ms(1000);
    // Sixteen times the text; a square would be 256 times the time.
    const [small, large] = [Math.min(ms(8000), ms(8000)), Math.min(ms(128_000), ms(128_000))];
    expect(large).toBeLessThan(Math.max(small, 2) * 64);
  });

  test("a makefile whose variables multiply is read in bounded time", () => {
    const lines = Array.from({ length: 30 }, (_, index) => `V${index} = ${`$(V${index + 1}) `.repeat(50)}`);
    const begun = performance.now();
    resolved("make test", { Makefile: `${lines.join("\n")}\ntest: $(V0)\n\t$(V0)\n` });
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});
