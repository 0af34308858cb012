/** Small real projects made for this: an honest change to each, and the same change with its source spoilt. */
import type { Files } from "../support/matrix-world.ts";

export interface Project {
  /** Command that must be there to run its tests. */
  readonly tool: string;
  readonly files: Files;
  /** The honest change. */
  readonly change: Files;
  /** What is laid over the change in its broken twin. */
  readonly spoilt: Files;
  readonly verify: string;
  readonly setup?: string;
  readonly scope?: readonly string[];
  readonly criteria: readonly string[];
}

const nodePackage = (scripts: Readonly<Record<string, string>>, more: object = {}): string =>
  `${JSON.stringify({ name: "p", version: "1.0.0", private: true, scripts, ...more }, null, 2)}\n`;

const nodeTest = (body: string): string =>
  `const assert = require("node:assert");\nconst { test } = require("node:test");\n${body}`;

export const projects: Readonly<Record<string, Project>> = {
  "node:test, a feature": {
    tool: "node",
    files: {
      "package.json": nodePackage({ test: "node --test" }),
      "lib/slug.js": "exports.slug = (title) => title.toLowerCase().replaceAll(' ', '-');\n",
      "test/slug.test.js": nodeTest(
        'const { slug } = require("../lib/slug.js");\ntest("spaces", () => assert.equal(slug("A b"), "a-b"));\n',
      ),
    },
    change: {
      "lib/slug.js":
        "exports.slug = (title) =>\n  title\n    .normalize('NFKD')\n    .replace(/[\\u0300-\\u036f]/g, '')\n    .toLowerCase()\n    .replaceAll(' ', '-');\n",
      "test/slug.test.js": nodeTest(
        'const { slug } = require("../lib/slug.js");\ntest("spaces", () => assert.equal(slug("A b"), "a-b"));\ntest("accents", () => assert.equal(slug("É à"), "e-a"));\n',
      ),
    },
    spoilt: {
      "lib/slug.js": "exports.slug = (title) => title.normalize('NFKD').toLowerCase().replaceAll(' ', '-');\n",
    },
    verify: "npm test",
    criteria: ["accents are dropped from a slug"],
  },
  "npm workspaces and a script that calls a script": {
    tool: "node",
    files: {
      "package.json": nodePackage(
        { test: "npm run test:all", "test:all": "npm test --workspaces" },
        { workspaces: ["packages/*"] },
      ),
      "package-lock.json": `${JSON.stringify({
        name: "p",
        version: "1.0.0",
        lockfileVersion: 3,
        requires: true,
        packages: {
          "": { name: "p", version: "1.0.0", workspaces: ["packages/*"] },
          "node_modules/one": { resolved: "packages/one", link: true },
          "packages/one": { version: "1.0.0" },
        },
      })}\n`,
      ".gitignore": "node_modules/\n",
      "packages/one/package.json": `${JSON.stringify({ name: "one", version: "1.0.0", scripts: { test: "node --test" } })}\n`,
      "packages/one/index.js": "exports.clamp = (n, low, high) => Math.max(n, low);\n",
      "packages/one/one.test.js": nodeTest(
        'const { clamp } = require("./index.js");\ntest("low", () => assert.equal(clamp(1, 2, 3), 2));\n',
      ),
    },
    change: {
      "packages/one/index.js": "exports.clamp = (n, low, high) => Math.min(Math.max(n, low), high);\n",
      "packages/one/one.test.js": nodeTest(
        'const { clamp } = require("./index.js");\ntest("low", () => assert.equal(clamp(1, 2, 3), 2));\ntest("high clamp", () => assert.equal(clamp(9, 2, 3), 3));\n',
      ),
    },
    spoilt: { "packages/one/index.js": "exports.clamp = (n, low, high) => Math.min(n, high);\n" },
    verify: "npm test",
    criteria: ["clamp obeys the high bound"],
  },
  "a refactoring with a rename, a binary file and CRLF": {
    tool: "node",
    files: {
      "package.json": nodePackage({ test: "node --test" }),
      "src/helpers.js": "exports.pad = (n) => (n < 10 ? `0${n}` : `${n}`);\n",
      "src/clock.js": 'const { pad } = require("./helpers.js");\r\nexports.clock = (h, m) => `${pad(h)}:${m}`;\r\n',
      "test/clock.test.js": nodeTest(
        'const { clock } = require("../src/clock.js");\ntest("hours", () => assert.equal(clock(1, 30), "01:30"));\n',
      ),
    },
    change: {
      "src/helpers.js": null,
      "src/pad.js": "exports.pad = (n) => String(n).padStart(2, '0');\n",
      "src/clock.js": 'const { pad } = require("./pad.js");\r\nexports.clock = (h, m) => `${pad(h)}:${pad(m)}`;\r\n',
      "src/icon.bin": "\u0000\u0001\u0002",
      "test/clock.test.js": nodeTest(
        'const { clock } = require("../src/clock.js");\ntest("hours", () => assert.equal(clock(1, 30), "01:30"));\ntest("clock pads minutes", () => assert.equal(clock(1, 3), "01:03"));\n',
      ),
    },
    spoilt: { "src/pad.js": "exports.pad = (n) => String(n).padEnd(2, '0');\n" },
    verify: "npm test",
    criteria: ["the clock pads minutes"],
  },
  "mocha, set up by npm ci": {
    tool: "npm",
    files: {
      "package.json": nodePackage({ test: "mocha" }, { devDependencies: { mocha: "10.8.2" } }),
      ".gitignore": "node_modules/\n",
      "src/cents.js": "exports.cents = (text) => Number(text) * 100;\n",
      "test/cents.js":
        'const assert = require("node:assert");\nconst { cents } = require("../src/cents.js");\ndescribe("cents", () => { it("whole", () => assert.equal(cents("3"), 300)); });\n',
    },
    change: {
      "src/cents.js": "exports.cents = (text) => Math.round(Number(text) * 100);\n",
      "test/cents.js":
        'const assert = require("node:assert");\nconst { cents } = require("../src/cents.js");\ndescribe("cents", () => {\n  it("whole", () => assert.equal(cents("3"), 300));\n  it("rounds cents", () => assert.equal(cents("1.15"), 115));\n});\n',
    },
    spoilt: { "src/cents.js": "exports.cents = (text) => Math.floor(Number(text) * 100);\n" },
    verify: "npm test",
    setup: "npm install --no-audit --no-fund --no-package-lock",
    scope: ["src", "test"],
    criteria: ["cents are rounded"],
  },
  "pytest, a bug": {
    tool: "pytest",
    files: {
      "shop/__init__.py": "",
      "shop/cart.py": "def total(prices, discount=0):\n    return sum(prices) - discount\n",
      "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_sum():\n    assert total([1, 2]) == 3\n",
      "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
      ".gitignore": "__pycache__/\n.pytest_cache/\n",
    },
    change: {
      "shop/cart.py": "def total(prices, discount=0):\n    return max(0, sum(prices) - discount)\n",
      "tests/test_cart.py":
        "from shop.cart import total\n\n\ndef test_sum():\n    assert total([1, 2]) == 3\n\n\ndef test_total_is_never_negative():\n    assert total([1], discount=5) == 0\n",
    },
    spoilt: { "shop/cart.py": "def total(prices, discount=0):\n    return min(0, sum(prices) - discount)\n" },
    verify: "pytest -q",
    criteria: ["a total is never negative"],
  },
  "make that runs pytest": {
    tool: "pytest",
    files: {
      Makefile: "# how it is tested\n\n.PHONY: test check\ntest: check\n\ncheck:\n\tpython3 -m pytest -q\n",
      "words.py": "def count(text):\n    return len(text.split(' '))\n",
      "test_words.py": "from words import count\n\n\ndef test_two():\n    assert count('a b') == 2\n",
      ".gitignore": "__pycache__/\n.pytest_cache/\n",
    },
    change: {
      "words.py": "def count(text):\n    return len(text.split())\n",
      "test_words.py":
        "from words import count\n\n\ndef test_two():\n    assert count('a b') == 2\n\n\ndef test_blanks_between_words_count_once():\n    assert count('a   b') == 2\n",
    },
    spoilt: { "words.py": "def count(text):\n    return len(text)\n" },
    verify: "make test",
    criteria: ["blanks between words count once"],
  },
  unittest: {
    tool: "python3",
    files: {
      "roman.py": "def roman(n):\n    return 'I' * n\n",
      "test_roman.py":
        "import unittest\n\nfrom roman import roman\n\n\nclass Roman(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(roman(2), 'II')\n",
      ".gitignore": "__pycache__/\n",
    },
    change: {
      "roman.py":
        "NUMERALS = [(10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')]\n\n\ndef roman(n):\n    text = ''\n    for value, numeral in NUMERALS:\n        while n >= value:\n            text += numeral\n            n -= value\n    return text\n",
      "test_roman.py":
        "import unittest\n\nfrom roman import roman\n\n\nclass Roman(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(roman(2), 'II')\n\n    def test_roman_four_and_nine(self):\n        self.assertEqual([roman(4), roman(9)], ['IV', 'IX'])\n",
    },
    spoilt: { "roman.py": "def roman(n):\n    return 'V' * n\n" },
    verify: "python3 -m unittest",
    criteria: ["four and nine are right roman numerals"],
  },
  go: {
    tool: "go",
    files: {
      "go.mod": "module example.com/pair\n\ngo 1.19\n",
      "pair.go": "package pair\n\n// Max returns the larger of two numbers.\nfunc Max(a, b int) int {\n\treturn a\n}\n",
      "pair_test.go":
        'package pair\n\nimport "testing"\n\nfunc TestFirst(t *testing.T) {\n\tif Max(2, 1) != 2 {\n\t\tt.Fatal("first")\n\t}\n}\n',
    },
    change: {
      "pair.go":
        "package pair\n\n// Max returns the larger of two numbers.\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
      "pair_test.go":
        'package pair\n\nimport "testing"\n\nfunc TestFirst(t *testing.T) {\n\tif Max(2, 1) != 2 {\n\t\tt.Fatal("first")\n\t}\n}\n\nfunc TestSecondIsTheLarger(t *testing.T) {\n\tif Max(1, 2) != 2 {\n\t\tt.Fatal("second")\n\t}\n}\n',
    },
    spoilt: { "pair.go": "package pair\n\n// Max is spoilt.\nfunc Max(a, b int) int {\n\treturn 0\n}\n" },
    verify: "go test ./...",
    criteria: ["the larger second number is found"],
  },
  cargo: {
    tool: "cargo",
    files: {
      "Cargo.toml": '[package]\nname = "gcd"\nversion = "0.1.0"\nedition = "2018"\n',
      "Cargo.lock":
        '# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 3\n\n[[package]]\nname = "gcd"\nversion = "0.1.0"\n',
      "src/lib.rs": "pub fn gcd(a: u64, b: u64) -> u64 {\n    a.min(b)\n}\n",
      "tests/gcd.rs": "use gcd::gcd;\n\n#[test]\nfn same() {\n    assert_eq!(gcd(4, 4), 4);\n}\n",
      ".gitignore": "target/\n",
    },
    change: {
      "src/lib.rs":
        "pub fn gcd(a: u64, b: u64) -> u64 {\n    if b == 0 {\n        a\n    } else {\n        gcd(b, a % b)\n    }\n}\n",
      "tests/gcd.rs":
        "use gcd::gcd;\n\n#[test]\nfn same() {\n    assert_eq!(gcd(4, 4), 4);\n}\n\n#[test]\nfn gcd_of_different_numbers() {\n    assert_eq!(gcd(12, 18), 6);\n}\n",
    },
    spoilt: { "src/lib.rs": "pub fn gcd(a: u64, b: u64) -> u64 {\n    a.max(b)\n}\n" },
    verify: "cargo test --offline",
    criteria: ["gcd of different numbers"],
  },
  rspec: {
    tool: "rspec",
    files: {
      "lib/stack.rb":
        "class Stack\n  def initialize\n    @items = []\n  end\n\n  def push(item)\n    @items.push(item)\n  end\n\n  def pop\n    @items.shift\n  end\nend\n",
      "spec/stack_spec.rb":
        "require_relative '../lib/stack'\n\nRSpec.describe Stack do\n  it 'gives one item back' do\n    stack = Stack.new\n    stack.push(1)\n    expect(stack.pop).to eq(1)\n  end\nend\n",
    },
    change: {
      "lib/stack.rb":
        "class Stack\n  def initialize\n    @items = []\n  end\n\n  def push(item)\n    @items.push(item)\n  end\n\n  def pop\n    @items.pop\n  end\nend\n",
      "spec/stack_spec.rb":
        "require_relative '../lib/stack'\n\nRSpec.describe Stack do\n  it 'gives one item back' do\n    stack = Stack.new\n    stack.push(1)\n    expect(stack.pop).to eq(1)\n  end\n\n  it 'pops the last item first' do\n    stack = Stack.new\n    stack.push(1)\n    stack.push(2)\n    expect(stack.pop).to eq(2)\n  end\nend\n",
    },
    spoilt: {
      "lib/stack.rb":
        "class Stack\n  def initialize\n    @items = []\n  end\n\n  def push(item)\n    @items.push(item)\n  end\n\n  def pop\n    nil\n  end\nend\n",
    },
    verify: "rspec",
    criteria: ["the last item is popped first"],
  },
  phpunit: {
    tool: "phpunit",
    files: {
      "src/Greeting.php": "<?php\n\nfunction greeting(string $name): string\n{\n    return 'Hello ' . $name;\n}\n",
      "tests/GreetingTest.php":
        "<?php\n\nuse PHPUnit\\Framework\\TestCase;\n\nrequire_once __DIR__ . '/../src/Greeting.php';\n\nfinal class GreetingTest extends TestCase\n{\n    public function testName(): void\n    {\n        $this->assertSame('Hello Ada', greeting('Ada'));\n    }\n}\n",
      ".gitignore": ".phpunit.result.cache\n",
    },
    change: {
      "src/Greeting.php":
        "<?php\n\nfunction greeting(string $name): string\n{\n    return 'Hello ' . (trim($name) === '' ? 'you' : $name);\n}\n",
      "tests/GreetingTest.php":
        "<?php\n\nuse PHPUnit\\Framework\\TestCase;\n\nrequire_once __DIR__ . '/../src/Greeting.php';\n\nfinal class GreetingTest extends TestCase\n{\n    public function testName(): void\n    {\n        $this->assertSame('Hello Ada', greeting('Ada'));\n    }\n\n    public function testNobodyIsGreetedAsYou(): void\n    {\n        $this->assertSame('Hello you', greeting(' '));\n    }\n}\n",
    },
    spoilt: {
      "src/Greeting.php": "<?php\n\nfunction greeting(string $name): string\n{\n    return 'Bye ' . $name;\n}\n",
    },
    verify: "phpunit tests",
    criteria: ["a blank name is greeted as you"],
  },
  "two runners in one command": {
    tool: "pytest",
    files: {
      "package.json": nodePackage({ test: "node --test" }),
      "web/page.js": "exports.page = (n) => `page ${n}`;\n",
      "web/page.test.js": nodeTest(
        'const { page } = require("./page.js");\ntest("one", () => assert.equal(page(1), "page 1"));\n',
      ),
      "api/page.py": "def page(n):\n    return f'page {n}'\n",
      "api/test_page.py": "from page import page\n\n\ndef test_one():\n    assert page(1) == 'page 1'\n",
      ".gitignore": "__pycache__/\n.pytest_cache/\n",
    },
    change: {
      "web/page.js": "exports.page = (n) => `page ${Math.max(1, n)}`;\n",
      "web/page.test.js": nodeTest(
        'const { page } = require("./page.js");\ntest("one", () => assert.equal(page(1), "page 1"));\ntest("pages begin with one", () => assert.equal(page(0), "page 1"));\n',
      ),
      "api/page.py": "def page(n):\n    return f'page {max(1, n)}'\n",
      "api/test_page.py":
        "from page import page\n\n\ndef test_one():\n    assert page(1) == 'page 1'\n\n\ndef test_pages_begin_with_one():\n    assert page(0) == 'page 1'\n",
    },
    spoilt: { "api/page.py": "def page(n):\n    return f'page {min(1, n)}'\n" },
    verify: "npm test && pytest api",
    criteria: ["pages begin with one"],
  },
};
