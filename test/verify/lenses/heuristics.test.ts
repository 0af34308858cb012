import { describe, expect, it } from "vitest";
import { defaultDebugTokens } from "../../../scripts/kinds/change/door-packet.ts";
import type { ChangedFile } from "../../../scripts/verify/changed-file.ts";
import { lenses } from "../../../scripts/verify/defect.ts";
import { lensNames } from "../../../scripts/verify/lens.ts";
import { buildRewroteLens } from "../../../scripts/verify/lenses/build-rewrote.ts";
import { criteriaOverlapLens } from "../../../scripts/verify/lenses/criteria-overlap.ts";
import { debugTokensLens } from "../../../scripts/verify/lenses/debug-tokens.ts";
import { pathClaims } from "../../../scripts/verify/lenses/path-claims.ts";
import { pathGroundingLens } from "../../../scripts/verify/lenses/path-grounding.ts";
import { testsChangedLens } from "../../../scripts/verify/lenses/tests-changed.ts";
import { changed, cut } from "../../support/changed.ts";

const tokens = (...files: readonly ChangedFile[]) => debugTokensLens(files, defaultDebugTokens);

describe("debug tokens", () => {
  it("V-07: a debug token on an added line is found, with the tokens a packet has by itself", () => {
    const file = changed("src/a.js", "a();\nconsole.log(a); // TODO\nb();\n", "a();\nb();\n");
    expect(tokens(file)).toEqual({
      status: "ran",
      defects: [
        expect.objectContaining({
          id: "LD1",
          category: "CODE-QUALITY",
          severity: "MEDIUM",
          location: "src/a.js:2",
          fix: expect.stringContaining('"TODO"'),
        }),
      ],
    });
  });

  it("V-07: one that stood there before, or in a file that went, is none", () => {
    const old = "console.log(1);\n";
    expect(tokens(changed("a.js", `b();\n${old}`, old)).defects).toEqual([]);
    expect(tokens(changed("a.js", null, old)).defects).toEqual([]);
  });

  it.each([
    ["a.py", "print(a)"],
    ["a.py", "  breakpoint()"],
    ["a.py", "import pdb; pdb.set_trace()"],
    ["a.js", "debugger;"],
    ["a.js", "window.console.log(1)"],
    ["a.rs", "let a = dbg!(b);"],
    ["a.go", 'fmt.Println("x")'],
    ["a.js", "// FIXME: later"],
    ["a.md", "TODO write this"],
    ["test/a.test.js", "// TODO"],
  ])("is one in %s: %s", (path, line) => {
    expect(tokens(changed(path, line)).defects).toHaveLength(1);
  });

  it.each([
    ["a.py", "pprint(a)"],
    ["a.py", "fingerprint(a)"],
    ["a.js", "printer.print(a)"],
    ["a.py", "def print(self):"],
    ["a.js", "const debuggers = 1; debuggerEnabled = 2;"],
    ["a.js", "this.debugger = 1"],
    ["a.sh", "mktemp /tmp/a.XXXXXX"],
    ["a.js", "const TODOS = []; müTODO"],
    ["a.md", "Call `console.log(x)`."],
    ["test/a.test.js", "console.log(1)"],
    ["test_a.py", "print(1)"],
  ])("is none in %s: %s", (path, line) => {
    expect(tokens(changed(path, line)).defects).toEqual([]);
  });

  it("names twenty and counts the rest; without tokens it does not look; a file that was not read is said", () => {
    const file = changed("a.js", "debugger;\n".repeat(50));
    expect(tokens(file).defects).toHaveLength(21);
    expect(tokens(file).defects.at(-1)?.fix).toBe("30 more added lines hold debug tokens.");
    expect(debugTokensLens([file], [])).toMatchObject({ status: "skipped" });
    expect(tokens(cut("a.js"))).toMatchObject({ status: "ran", reason: "1 file: too large to be read" });
  });
});

describe("changed tests", () => {
  const source = changed("src/a.ts", "1");
  const test = changed("test/a.test.ts", "1");

  it("is MEDIUM where a source changed and no test did", () => {
    expect(testsChangedLens([source])).toEqual({
      status: "ran",
      defects: [expect.objectContaining({ category: "TEST-ADEQUACY", severity: "MEDIUM" })],
    });
    expect(testsChangedLens([source, test])).toEqual({ status: "ran", defects: [] });
  });

  it("V-09: a deleted test is no changed test", () => {
    expect(testsChangedLens([source, changed("test/a.test.ts", null, "1")]).defects).toHaveLength(1);
  });

  it.each(["README.md", "docs/a.rst", "docs/a.png", "LICENSE", ".gitignore"])("wants none for %s alone", (path) => {
    expect(testsChangedLens([changed(path, "1")])).toMatchObject({ status: "skipped", defects: [] });
    expect(testsChangedLens([changed(path, "1"), source]).defects).toHaveLength(1);
  });
});

describe("criteria", () => {
  const overlap = (text: string, ...criteria: readonly string[]) =>
    criteriaOverlapLens([changed("src/a.ts", text)], criteria).defects.map(({ id }) => id);

  it("names each criterion of whose words nothing was added", () => {
    const { defects } = criteriaOverlapLens([changed("src/x.ts", "clampValue(n);")], ["It clamps", "It logs errors"]);
    expect(defects).toEqual([
      {
        id: "RC2",
        category: "REQUIREMENTS-COVERAGE",
        severity: "MEDIUM",
        location: "criterion 2",
        fix: expect.stringContaining('"It logs errors"'),
      },
    ]);
  });

  it.each([
    ["parseURLPath", "the URL is read"],
    ["snake_case_name", "Snakes are fine"],
    ["größeÄndern()", "Die GRÖSSE oder die Größe"],
    ["// 加法を修正する", "加法の誤りを修正"],
    ["Валидация", "валидация входа"],
    ["naïve", "nai\u0308ve input"],
  ])("%s covers %s", (text, criterion) => {
    expect(overlap(text, criterion)).toEqual([]);
  });

  it.each([
    ["merge", "emerge"],
    ["// 加法", "減算"],
    ["a", "the widget"],
  ])("%s does not cover %s", (text, criterion) => {
    expect(overlap(text, criterion)).toEqual(["RC1"]);
  });

  it("a criterion of empty words is silent, and a change that adds no line is not judged", () => {
    expect(overlap("x", "It should not have been")).toEqual([]);
    expect(criteriaOverlapLens([changed("a.ts", null, "clamp")], ["clamp"])).toMatchObject({ status: "skipped" });
  });
});

describe("paths in prose", () => {
  const there = { paths: ["src/core/a.ts", "docs/words.md", "old/gone.ts"], nested: ["vendor/lib"] };
  const ground = (...files: readonly ChangedFile[]) => pathGroundingLens(pathClaims(files), there);
  const named = (text: string, path = "docs/words.md") => ground(changed(path, text)).defects;

  it("is MEDIUM for a path that is nowhere, and forces no further pass", () => {
    expect(ground(changed("docs/words.md", "x\nSee `src/core/b.ts:12`.\n", "x\n"))).toEqual({
      status: "ran",
      defects: [
        {
          id: "P1",
          category: "CODE-QUALITY",
          severity: "MEDIUM",
          location: "docs/words.md:2",
          fix: expect.stringContaining('"src/core/b.ts"'),
        },
      ],
    });
  });

  it.each(["src/core/a.ts", "./src/core/a.ts", "core/a.ts", "src/core/a.ts:3", "vendor/lib/x.c", "src/core/a.ts#L3"])(
    "`%s` is there",
    (path) => {
      expect(named(`See \`${path}\` and \`\`${path}\`\`.`)).toEqual([]);
    },
  );

  it("V-18: a path that a removed line named, or code, is no claim", () => {
    expect(ground(changed("docs/words.md", "x\n", "See `src/gone.ts`.\nx\n")).defects).toEqual([]);
    expect(named("const m = import(`./lazy/mod.js`);", "src/a.js")).toEqual([]);
    expect(named("See `old/gone.ts`, which is removed.")).toEqual([]);
  });

  it.each([
    "1/2.0",
    "src/*.ts",
    "src/{a,b}.ts",
    "https://example.org/a.html",
    "example.org/a.html",
    "git.host.io/user/a.html",
    "<dir>/a.ts",
    "$HOME/a.ts",
    "~/a.ts",
    "/etc/a.conf",
    "@scope/pkg.js",
    "path/to/a.ts",
    "foo/bar.ts",
    "dist/a.js",
    "../a/b.ts",
    "and/or",
    "a b/c.ts",
    "text/html",
  ])("V-18: `%s` is no claim that a file is there", (text) => {
    expect(named(`See \`${text}\`.`)).toEqual([]);
  });

  it("V-18: the twin, a plain wrong path in each kind of prose, is one", () => {
    for (const path of ["a.md", "a.rst", "a.txt"]) expect(named("See `src/nowhere.ts`.", path), path).toHaveLength(1);
  });
});

describe("the names of documents", () => {
  it("V-19: no lens judges what a document is called", () => {
    const files = ["CONTRIBUTING.md", "docs/API_Reference.md", "docs/notes.md", "docs/v1.2.md"].map((path) =>
      changed(path, "Words.\n"),
    );
    const said = [
      tokens(...files),
      testsChangedLens(files),
      criteriaOverlapLens(files, ["Words are there"]),
      pathGroundingLens(pathClaims(files), { paths: [], nested: [] }),
    ];
    expect(said.flatMap(({ defects }) => defects)).toEqual([]);
    expect(lensNames.filter((name) => /doc|nam(e|ing)$/.test(name))).toEqual([]);
    expect(lenses).not.toContain("DOCS");
  });
});

describe("what the build rewrote", () => {
  const file = (path: string, status = "M") => ({ path, status });

  it("V-12: a changed file the build rewrote is HIGH, by its quoted name", () => {
    expect(buildRewroteLens([file("src/ü.ts"), file("src/b.ts")], ["src/ü.ts", "src/other.ts"])).toEqual({
      status: "ran",
      defects: [
        expect.objectContaining({
          id: 'build-rewrote:"src/\\u00fc.ts"',
          category: "DOES-IT-RUN",
          severity: "HIGH",
          location: "src/ü.ts",
        }),
      ],
    });
  });

  it("V-12: what the change did not touch, and new files tools leave behind, are no concern of it", () => {
    expect(buildRewroteLens([file("src/a.ts")], ["src/b.ts"]).defects).toEqual([]);
    expect(buildRewroteLens([file(".coverage", "A"), file("a/__pycache__/a.pyc", "A")], [".coverage"]).defects).toEqual(
      [],
    );
    // A committed bundle is somebody's work.
    expect(buildRewroteLens([file("dist/a.js", "M")], ["dist/a.js"]).defects).toHaveLength(1);
  });

  it("names twenty and counts the rest", () => {
    const paths = Array.from({ length: 30 }, (_, index) => `src/${index}.ts`);
    const { defects } = buildRewroteLens(
      paths.map((path) => file(path)),
      paths,
    );
    expect(defects).toHaveLength(21);
    expect(defects.at(-1)).toMatchObject({
      id: "build-rewrote:more",
      severity: "HIGH",
      fix: expect.stringMatching(/^10 more/),
    });
  });
});
