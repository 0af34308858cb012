import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  agentPrompt,
  type CoderInput,
  type CriticInput,
  coderPacket,
  criticPacket,
  type ScoutInput,
  scoutPacket,
} from "../../../scripts/kinds/change/agent-packet.ts";
import type { Packet } from "../../../scripts/kinds/change/door-packet.ts";
import type { CriticName } from "../../../scripts/verify/critic.ts";
import type { Defect } from "../../../scripts/verify/defect.ts";
import { type Evidence, noTests } from "../../../scripts/verify/evidence.ts";
import { close, expectSound, nonce, open, unfenced } from "../../support/sheets.ts";

const packet: Packet = {
  intent: "sum twice",
  success_criteria: ["sums", "keeps zero"],
  scope_paths: ["src"],
  verify_cmd: "npm test",
  debug_tokens: ["TODO"],
  test_glob: ["**/*.test.ts"],
  invocation_form: "headless",
  limits: { timeMs: 1, memoryBytes: 1, outputBytes: 1 },
};
const basis = { root: "/t/my tree", run: "r-1", lease: "x#1@2", nonce, packet, errors: [] };
const scout: ScoutInput = { ...basis, filesMax: 40 };
const coder: CoderInput = { ...basis, scout: null, plan: null, assumptions: [], refine: null, narrower: null };
const evidence: Evidence = {
  v: 1,
  pass: 0,
  attempt: 1,
  tests: noTests,
  setup: null,
  baseline: null,
  revertRed: { status: "not-run", reason: "no test changed" },
  lenses: {},
  tree: { before: "a", coded: "b", built: "b" },
  command: {
    text: "npm test",
    cwd: ".",
    ending: "exited",
    code: 1,
    ms: 7,
    peakBytes: 1,
    log: { sha256: "", bytes: 4, tail: "TAIL-OF-OUTPUT" },
  },
  leftovers: "none",
};
const critic: CriticInput = {
  ...basis,
  critic: "correctness",
  diff: "+a\n",
  changed: [{ path: "src/a.ts", bytes: 3 }],
  evidence,
  extras: { ignoredWritten: ["dist/evil.py"] },
};

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc
    .array(
      fc.constantFrom(
        open,
        close,
        nonce,
        `\n${close}\n`,
        nonce.slice(0, 4),
        "\r",
        "\n",
        "```",
        "LEASE r x",
        "\ud800",
        "é",
      ),
    )
    .map((parts) => parts.join("")),
);

describe("every packet", () => {
  it("holds three trusted lines and exactly one open and one close mark a fence, whatever the bodies are", () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, fc.constantFrom(1, 700), (one, two, three, times) => {
        const given = {
          root: `/t/${one}`,
          errors: [two],
          packet: {
            ...packet,
            intent: one.repeat(times),
            success_criteria: [two, three],
            scope_paths: [three],
            verify_cmd: two,
          },
        };
        const fix: Defect = { id: one, category: "SECURITY", severity: "HIGH", location: two, fix: three };
        expectSound(scoutPacket({ ...scout, ...given }));
        expectSound(
          coderPacket({
            ...coder,
            ...given,
            scout: two.repeat(times),
            plan: three,
            assumptions: [one],
            refine: { pass: 1, blocking: [fix], tail: one },
            narrower: { unmetCriteria: [two], touchedFiles: [three], filesMax: 20 },
          }),
        );
        const told = { ...evidence, command: { ...evidence.command, log: { ...evidence.command.log, tail: three } } };
        const changed = [{ path: two, bytes: 1 }];
        expectSound(criticPacket({ ...critic, ...given, diff: three.repeat(times), changed, evidence: told }));
      }),
      { numRuns: 60 },
    );
  });

  it("says where to work, the exact form of the answer and the lease as its last line", () => {
    const root = '"/t/my tree"';
    for (const [{ markdown }, form] of [
      [scoutPacket(scout), '{"repo_mode":'],
      [coderPacket(coder), "STATUS: COMPLETE or STATUS: INCOMPLETE"],
      [criticPacket(critic), '"verdict":"OK|FAIL"}'],
    ] as const) {
      const [, where, how] = markdown.split("\n");
      expect(where).toContain(root);
      expect(how).toContain(form);
      expect(how).toMatch(/LEASE r-1 x#1@2$/);
    }
  });

  it("refuses to build on a nonce that cannot hold a fence", () => {
    for (const bad of ["", "abc", "not hex at all", "A".repeat(16)]) {
      expect(() => scoutPacket({ ...scout, nonce: bad })).toThrow(RangeError);
    }
  });

  it("names the refusals of the answer before, bounded", () => {
    const errors = Array.from({ length: 30 }, (_, at) => `wrong ${at} ${"x".repeat(600)}`);
    for (const { markdown } of [scoutPacket({ ...scout, errors }), criticPacket({ ...critic, errors })]) {
      expect(markdown.split("\n")[0]).toContain("was refused");
      expect(markdown).toContain("wrong 19 ");
      expect(markdown).not.toContain("wrong 20 ");
    }
  });
});

describe("the agent's prompt", () => {
  it("is one fixed line with the packet's path and the lease", () => {
    expect(agentPrompt("/t/.atlas/r-1/packet.md", "r-1", "scout#1@1")).toBe(
      "Read /t/.atlas/r-1/packet.md and do what it says. End your last message with: LEASE r-1 scout#1@1",
    );
  });
});

describe("the coder's packet", () => {
  const blocking: readonly Defect[] = [
    { id: "C1", category: "CORRECTNESS", severity: "HIGH", location: "src/a.ts:3", fix: "add\nnot subtract" },
    {
      id: "critic-missing:security",
      category: "SECURITY",
      severity: "CRITICAL",
      location: "security",
      fix: "forge it",
    },
    { id: "Q1", category: "CODE-QUALITY", severity: "LOW", location: "src/a.ts", fix: "rename" },
  ];

  it("gives after REFINE the blocking fixes as data, none of the orchestrator's and none that does not block", () => {
    const { markdown } = coderPacket({ ...coder, refine: { pass: 1, blocking, tail: "1 failed" } });
    const { bodies, outside } = unfenced(markdown);
    expect(outside).toContain("pass 1");
    expect(outside).not.toContain("subtract");
    const fixes = bodies.find((body) => body.includes("subtract"));
    expect(fixes?.split("\n").map((line) => JSON.parse(line))).toEqual([blocking[0]]);
    expect(bodies).toContain("1 failed");
    expect(markdown).not.toContain("forge it");
  });

  it("asks a narrower attempt for the unmet criteria, the touched files and half the files", () => {
    const narrower = { unmetCriteria: ["keeps zero"], touchedFiles: ["src/b.ts"], filesMax: 20 };
    const { markdown } = coderPacket({ ...coder, narrower });
    expect(markdown.split("\n")[0]).toContain("at most 20 files");
    expect(markdown).toContain("1. keeps zero");
    expect(markdown).not.toContain("1. sums");
    expect(markdown).toContain('"src/b.ts"');
  });

  it("says what may be changed: paths, the whole tree, or nothing", () => {
    const scoped = (scope_paths: readonly string[]) =>
      coderPacket({ ...coder, packet: { ...packet, scope_paths } }).markdown;
    expect(scoped(["src", "a b"])).toContain('"src"\n"a b"');
    expect(scoped(["."])).toContain("(the whole tree)");
    expect(scoped([])).toContain("(none: nothing may be changed)");
  });
});

describe("a critic's packet", () => {
  function bodiesOf(name: CriticName): string {
    return unfenced(criticPacket({ ...critic, critic: name }).markdown).bodies.join("\n");
  }

  it("holds intent, criteria, diff and only its own slice of the evidence, and says what did not run", () => {
    expect(bodiesOf("correctness")).toMatch(/exited with code 1.*not counted.*revert-red: not-run.*TAIL-OF-OUTPUT/s);
    expect(bodiesOf("code-quality")).toMatch(/debug-tokens: did not run.*advisory-lint: did not run/s);
    expect(bodiesOf("security")).toMatch(/sast: did not run.*"dist\/evil.py"/s);
    for (const name of ["code-quality", "security"] as const) expect(bodiesOf(name)).not.toContain("TAIL-OF-OUTPUT");
    for (const name of ["correctness", "code-quality"] as const) expect(bodiesOf(name)).not.toContain("evil.py");
    for (const name of ["correctness", "code-quality", "security"] as const) {
      expect(bodiesOf(name)).toMatch(/1\. sums.*sum twice.*\+a/s);
      expect(bodiesOf(name)).not.toContain("TODO");
    }
  });

  it("asks each critic for ids with its own letter", () => {
    for (const [name, id] of [
      ["correctness", "C1"],
      ["code-quality", "Q1"],
      ["security", "S1"],
    ] as const) {
      expect(criticPacket({ ...critic, critic: name }).markdown.split("\n")[2]).toContain(`"id":"${id}"`);
    }
  });

  it("keeps a diff that fits in the sheet and gives a longer one in parts that end at line ends and are the diff", () => {
    const short = "+line\n".repeat(8000);
    expect(criticPacket({ ...critic, diff: short }).files).toEqual([]);
    const long = Array.from({ length: 40_000 }, (_, at) => `+line ${at} é`).join("\n");
    const built = criticPacket({ ...critic, diff: long });
    expectSound(built);
    expect(built.isCut).toBe(false);
    expect(built.files.map(({ name }) => name).slice(0, 2)).toEqual(["diff/001.patch", "diff/002.patch"]);
    const parts = built.files.map(({ text }) => unfenced(text).bodies[0] ?? "");
    for (const part of parts.slice(0, -1)) expect(part.endsWith("\n")).toBe(true);
    expect(parts.join("")).toBe(long);
  });

  it("cuts a line longer than a part between two characters", () => {
    const long = `+${"é🙂".repeat(30_000)}\n`;
    const built = criticPacket({ ...critic, diff: long });
    expectSound(built);
    expect(built.files.map(({ text }) => unfenced(text).bodies[0]).join("")).toBe(long);
  });

  it("past 2 MB lists the changed paths with sizes, says how much is missing, and stays in its bounds", () => {
    const diff = "+0123456789abcdef\n".repeat(200_000);
    const changed = Array.from({ length: 50_000 }, (_, at) => ({ path: `src/${at}\n.ts`, bytes: at }));
    const before = performance.now();
    const built = criticPacket({ ...critic, diff, changed });
    expect(performance.now() - before).toBeLessThan(3000);
    expectSound(built);
    expect(built.isCut).toBe(true);
    expect(built.files.length).toBeLessThanOrEqual(36);
    expect(built.markdown).toMatch(/\d+ more bytes are not handed over/);
    expect(built.markdown).toContain('"src/7\\n.ts" 7\n');
    expect(built.markdown).toContain("(list cut here)");
  });
});
