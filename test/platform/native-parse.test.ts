/** The languages' own parsers, as they are installed. One that is missing fails here. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import {
  type NativeAnswer,
  type NativeParser,
  type NativePlace,
  nativeParser,
} from "../../scripts/platform/native-parse.ts";
import type { NativeLanguage } from "../../scripts/platform/native-tools.ts";
import { tempFolder } from "../support/temp.ts";

function parserAt(changes: Partial<NativePlace> = {}): NativeParser {
  const { PATH, HOME } = process.env;
  return nativeParser({ fs: realFileSystem, environment: { PATH, HOME }, outside: [], ...changes });
}

function ask(language: NativeLanguage, text: string, changes: Partial<NativePlace> = {}): NativeAnswer {
  const parser = parserAt(changes);
  try {
    return parser.parse(language, text);
  } finally {
    parser.close();
  }
}

/** A program of one name in a folder of its own: `body` is what `sh` runs. */
function fake(name: string, body: string): { readonly folder: string; readonly PATH: string } {
  const folder = tempFolder();
  writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(folder, name), 0o755);
  return { folder, PATH: [folder, "/usr/bin", "/bin"].join(delimiter) };
}

const whole: readonly (readonly [NativeLanguage, string])[] = [
  ["python", "def f(a, /, *, b: int = 1) -> None:\n    return (x := a)\n"],
  ["python", "# -*- coding: utf-8 -*-\nö = 'ä'\n"],
  ["ruby", "#!/usr/bin/env ruby\nclass A\n  def b = 1\nend\n"],
  ["php", "#!/usr/bin/env php\n<?php declare(strict_types=1);\necho 1;\n"],
  ["php", "<b><?= 1 ?></b>\n"],
  ["go", "package a\n\nfunc F[T any](x T) T { return x }\n"],
  ["shell", "#!/bin/sh\nif true; then echo 1; fi\n"],
  ["shell", "a=(1 2)\n[[ a == b* ]] && rm !(x)\n"],
  ["shell", "shopt -s extglob\nrm !(x)\ncase $a in +(a|b)) ;; esac\n"],
];
const broken: readonly (readonly [NativeLanguage, string, number])[] = [
  ["python", "\ndef f(:\n", 2],
  ["python", "if a:\nb\n", 2],
  ["python", "return 1\n", 1],
  ["ruby", "class A\n  def b(\n", 2],
  ["php", "<?php\necho (;\n", 2],
  ["go", "package a\n\nfunc F( {\n", 3],
  ["shell", "if true; then\n  echo 1\n", 3],
];

describe("a language's own parser", () => {
  test.each(whole)("takes %s: %s", (language, text) => {
    expect(ask(language, text)).toEqual({ is: "fine" });
  });

  test.each(broken)("refuses %s with its line: %s", (language, text, line) => {
    const answer = ask(language, text);
    expect(answer).toMatchObject({ is: "refused" });
    // Where a text ends too early, parsers differ by a line.
    expect(Math.abs((answer as { line: number }).line - line)).toBeLessThanOrEqual(1);
  });

  test("V-20: a refusal comes with the version of the grammar that refused", () => {
    for (const [language, text] of broken.filter(([name]) => name !== "go" && name !== "shell")) {
      expect(ask(language, text), text).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+$/) });
    }
  });

  test("V-20: what a second python takes is not refused because the first is older", () => {
    const { folder, PATH } = fake(
      "python3",
      'echo "Python 3.1"; echo "  File \\"input.py\\", line 1" >&2; echo "SyntaxError: no" >&2; exit 1',
    );
    expect(ask("python", "x = 1", { environment: { PATH: folder } })).toMatchObject({ is: "refused", version: "3.1" });
    writeFileSync(join(folder, "python3.12"), "#!/bin/sh\necho 'Python 3.12'\n");
    chmodSync(join(folder, "python3.12"), 0o755);
    expect(ask("python", "x = 1", { environment: { PATH } })).toEqual({ is: "fine" });
  });

  test("executes nothing of a text", () => {
    const mark = join(tempFolder(), "ran");
    const evil = join(tempFolder(), "evil.rb");
    writeFileSync(evil, `File.write(${JSON.stringify(mark)}, "x")\n`);
    const quoted = JSON.stringify(mark);
    const texts: readonly (readonly [NativeLanguage, string])[] = [
      ["python", `open(${quoted}, "w")\n`],
      ["ruby", `BEGIN { File.write(${quoted}, "x") }\nFile.write(${quoted}, "x")\n`],
      ["ruby", `#!/usr/bin/ruby -r${evil}\n1\n`],
      ["php", `<?php file_put_contents(${quoted}, "x");\n`],
      ["go", "package a\n//go:generate touch x\n"],
      ["shell", `touch ${quoted}\n$(touch ${quoted})\n`],
    ];
    for (const [language, text] of texts) expect(ask(language, text), language).toEqual({ is: "fine" });
    expect(existsSync(mark)).toBe(false);
    // The twin: as a program it would have loaded the file.
    const input = join(tempFolder(), "input.rb");
    writeFileSync(input, `#!/usr/bin/ruby -r${evil}\n1\n`);
    spawnSync("ruby", [input]);
    expect(existsSync(mark)).toBe(true);
    expect(ask("ruby", "#!/bin/any\n1\n")).toEqual({ is: "fine" });
  });

  test("starts no program of the tree or of the project, also not through a link", () => {
    const { folder } = fake("ruby", "exit 0");
    const links = tempFolder();
    symlinkSync(join(folder, "ruby"), join(links, "ruby"));
    for (const PATH of [folder, links, `relative${delimiter}.${delimiter}`]) {
      const answer = ask("ruby", "(", { environment: { PATH }, outside: [folder] });
      expect(answer).toEqual({ is: "unread", why: "ruby is not installed" });
    }
    expect(ask("ruby", "(", { environment: { PATH: links } })).toEqual({ is: "fine" });
  });

  test("gives a program its own folder, and an environment of four variables", () => {
    const out = join(tempFolder(), "out");
    const { PATH } = fake("gofmt", `{ pwd; ls; env | sed 's/=.*//' | sort; } > ${out}`);
    expect(
      ask("go", "package a", { environment: { PATH, HOME: "/nowhere", SECRET_TOKEN: "x", GOFLAGS: "x" } }),
    ).toEqual({
      is: "fine",
    });
    const [cwd, file, ...names] = readFileSync(out, "utf8").trim().split("\n");
    expect([file, ...names.filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name))]).toEqual([
      "input.go",
      "HOME",
      "LANG",
      "PATH",
      "TMPDIR",
    ]);
    expect(existsSync(cwd as string)).toBe(false);
  });

  test("leaves no folder behind", () => {
    const { TMPDIR } = process.env;
    process.env.TMPDIR = tempFolder();
    try {
      const parser = parserAt();
      parser.parse("ruby", "x");
      expect(readdirSync(tmpdir())).toHaveLength(1);
      parser.close();
      expect(readdirSync(tmpdir())).toEqual([]);
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
  });
});

describe("what a parser cannot say", () => {
  const spent = { is: "unread", why: "no time was left for its parser" };
  const odd = { is: "unread", why: "its parser could not take it" };

  test("is unread where it takes too long, prints too much, or fails without naming the text", () => {
    const cases = {
      "exec sleep 30": odd,
      "head -c 400000 /dev/zero": odd,
      "echo 'internal error' >&2; exit 1": odd,
      "echo 'input.go: cannot be opened' >&2; exit 1": odd,
      "kill -9 $$": odd,
    };
    for (const [body, answer] of Object.entries(cases)) {
      const { PATH } = fake("gofmt", body);
      expect(ask("go", "x", { environment: { PATH }, limits: { fileMs: 1000 } }), body).toEqual(answer);
    }
  });

  test("a no that names another file than the text is no refusal", () => {
    const { folder } = fake("python3", "echo 'SyntaxError: of its own' >&2; exit 1");
    expect(ask("python", "x", { environment: { PATH: folder } })).toEqual(odd);
    const named = fake(
      "python3",
      "echo '  File \"input.py\", line 7' >&2; echo 'SyntaxError: of the text' >&2; exit 1",
    );
    const refusal = { is: "refused", line: 7, version: null };
    expect(ask("python", "x", { environment: { PATH: named.folder } })).toEqual(refusal);
  });

  test("V-27: any bytes and any depth give an answer, never an exception", () => {
    for (const text of ["\0", "\ufffd\ud800", "(".repeat(100_000), `a${".b".repeat(50_000)}`, ""]) {
      for (const language of ["python", "ruby", "php", "go", "shell"] as const) {
        expect(["fine", "refused", "unread"]).toContain(ask(language, text).is);
      }
    }
    expect(ask("python", `x = ${"-".repeat(100_000)}1`).is).toBe("unread");
  });

  test("V-13: is unread above the limits of bytes, launches and time, each of which is said", () => {
    expect(ask("python", "#".repeat(1024 * 1024 + 1))).toEqual({ is: "unread", why: "too large to be parsed" });
    const { PATH } = fake("gofmt", "exit 0");
    const parser = parserAt({ environment: { PATH } });
    for (let at = 0; at < 40; at += 1) expect(parser.parse("go", "x")).toEqual({ is: "fine" });
    expect(parser.parse("go", "x")).toEqual(spent);
    parser.close();
    const slow = fake("gofmt", "sleep 0.2");
    const short = parserAt({ environment: { PATH: slow.PATH }, limits: { allMs: 100 } });
    short.parse("go", "x");
    expect(short.parse("go", "x")).toEqual(spent);
    short.close();
  });

  test("an absent program is said by its name", () => {
    mkdirSync(join(tempFolder(), "bin"));
    for (const [language, tool] of [
      ["python", "python3"],
      ["ruby", "ruby"],
      ["php", "php"],
      ["go", "gofmt"],
      ["shell", "bash"],
    ] as const) {
      expect(ask(language, "x", { environment: { PATH: tempFolder() } })).toEqual({
        is: "unread",
        why: `${tool} is not installed`,
      });
    }
  });
});
