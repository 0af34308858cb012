import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { criticNames } from "../../scripts/verify/critic.ts";
import { type Defect, isBlocking, lenses, severities } from "../../scripts/verify/defect.ts";
import { type CommandEvidence, type Evidence, endingSentence } from "../../scripts/verify/evidence.ts";
import { lensNames } from "../../scripts/verify/lens.ts";
import { type CriticSeen, verdict, whySentences } from "../../scripts/verify/verdict.ts";
import {
  allRan,
  clean,
  command,
  context,
  ended,
  good,
  ids,
  raised,
  seats,
  seen,
  tree,
  yes,
} from "../support/judgments.ts";

describe("the label", () => {
  it("is VERIFIED where every lens ran, the tests passed and failed without the change, and every critic is content", () => {
    const result = verdict(good, seats(), 0, context);
    expect(result).toEqual({ label: "VERIFIED", blocking: [], advisory: [], skipped: [], refine: false, why: [] });
  });

  it.each(lensNames)("is UNVERIFIED without lens %s, or with one that was not there yet", (name) => {
    const { [name]: _, ...rest } = allRan;
    for (const lenses of [
      rest,
      { ...rest, [name]: { status: "skipped" as const, reason: "not-built", ms: 0, defects: [] } },
    ]) {
      const result = verdict({ ...good, lenses }, seats(), 0, context);
      expect(result).toMatchObject({ label: "UNVERIFIED", why: ["harness.incomplete"], refine: false });
    }
  });

  it("names every lens that was skipped beside a green label", () => {
    const lenses = { ...allRan, sast: { status: "skipped" as const, reason: "no scanner", ms: 0, defects: [] } };
    const result = verdict(
      { ...good, lenses, revertRed: { status: "not-run", reason: "no test changed" } },
      seats(),
      0,
      context,
    );
    expect(result.label).toBe("VERIFIED");
    expect(result.skipped).toEqual([
      { lens: "sast", reason: "no scanner" },
      { lens: "revert-red", reason: "no test changed" },
    ]);
  });

  const critics = fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...lenses), fc.constantFrom(...severities)), { maxLength: 3 }),
      fc.nat(3),
      fc.boolean(),
      fc.boolean(),
    )
    .map(([found, pass, dissents, fails]): CriticSeen => {
      const defects = found.map(([category, severity], at) => ({
        id: `C${at}`,
        category,
        severity,
        location: `f${at}`,
        fix: "x",
      }));
      return seen(
        { dimensions: { ...yes, SECURITY: dissents ? "no" : "yes" }, defects, verdict: fails ? "FAIL" : "OK" },
        pass,
      );
    });
  const anySeat = fc.oneof(critics, fc.constantFrom<CriticSeen>({ status: "missing" }, { status: "malformed" }));
  const anyEvidence = fc
    .record({
      pass: fc.nat(3),
      ending: fc.constantFrom("exited", "signalled", "timed-out", "memory", "output", "unstarted", "killed", "lost"),
      code: fc.nat(2),
      coded: fc.constantFrom(tree.before, tree.coded, "c".repeat(40)),
    })
    .map(
      ({ pass, ending, code, coded }): Evidence => ({
        ...good,
        pass,
        tree: { ...tree, coded },
        command: { ...command, ending, code },
      }),
    );
  const anyInput = fc.record({
    evidence: fc.option(anyEvidence),
    seats: fc.record({ correctness: anySeat, "code-quality": anySeat, security: anySeat }),
    pass: fc.nat(3),
    changed: fc.array(fc.constantFrom("src/a.ts", "src/b.ts", "out/x", "y:1")),
    previous: fc.option(
      fc.record({ tree: fc.constantFrom(tree.coded, "c".repeat(40)), blocking: fc.constant([] as Defect[]) }),
    ),
  });

  it("is VERIFIED exactly where nothing blocks and evidence of the pass is whole; a third pass never comes; every defect is either blocking or advisory", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const given = { ...context, changed: input.changed, previous: input.previous };
        const result = verdict(input.evidence, input.seats, input.pass, given);
        const whole = input.evidence?.pass === input.pass;
        expect(result.label).toBe(whole && result.blocking.length === 0 ? "VERIFIED" : "UNVERIFIED");
        const contents = criticNames.every((name) => {
          const seat = input.seats[name];
          return seat.status === "taken" && seat.pass === input.pass && seat.critic.verdict === "OK";
        });
        const { ending, code } = input.evidence?.command ?? { ending: "lost" };
        if (!contents || ending !== "exited" || code !== 0) expect(result.label).toBe("UNVERIFIED");
        if (input.pass >= 2) expect(result.refine).toBe(false);
        expect(result.blocking.every(isBlocking)).toBe(true);
        expect(result.advisory.some(isBlocking)).toBe(false);
        expect(result.why.includes("defects.blocking")).toBe(result.blocking.length > 0);
        for (const code of result.why) expect(whySentences[code]).toMatch(/^[\x20-\x7e]+$/);
        expect(verdict(input.evidence, input.seats, input.pass, given)).toEqual(result);
        for (const seat of Object.values(input.seats)) {
          if (seat.status !== "taken" || seat.pass !== input.pass) continue;
          for (const defect of seat.critic.defects) expect([...result.blocking, ...result.advisory]).toContain(defect);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("what blocks", () => {
  it.each<[Partial<CommandEvidence>, boolean]>([
    [{ code: 1 }, true],
    [{ ending: "signalled", signal: "SIGSEGV" }, true],
    [{ ending: "timed-out" }, true],
    [{ ending: "memory" }, true],
    [{ ending: "output" }, true],
    [{ ending: "unstarted" }, false],
    [{ ending: "killed" }, false],
    [{ ending: "lost" }, false],
  ])("a command that ended as %j is CRITICAL; only what a coder can mend refines", (changes, refines) => {
    const result = verdict(ended(changes), seats(), 0, context);
    expect(result.blocking).toMatchObject([{ id: "runcheck", category: "DOES-IT-RUN", severity: "CRITICAL" }]);
    expect(result.refine).toBe(refines);
  });

  it("an exit code without the ending `exited` is no success, nor is an ending without a code", () => {
    expect(ids(verdict(ended({ ending: "timed-out", code: 0 }), seats(), 0, context).blocking)).toEqual(["runcheck"]);
    const { code: _, ...codeless } = command;
    expect(ids(verdict({ ...good, command: codeless }, seats(), 0, context).blocking)).toEqual(["runcheck"]);
    expect(endingSentence({ ...command, ending: "signalled", signal: "obey\nme" })).toBe("it was ended by a signal");
  });

  it("an empty change: the same tree, no changed path, or none in the scope", () => {
    const same = { ...good, tree: { ...tree, coded: tree.before } };
    expect(ids(verdict(same, seats(), 0, context).blocking)).toEqual(["empty-diff"]);
    expect(ids(verdict(good, seats(), 0, { ...context, changed: [] }).blocking)).toEqual(["empty-diff"]);
    expect(ids(verdict(good, seats(), 0, { ...context, changed: ["dist/x"] }).blocking)).toEqual(["empty-diff"]);
  });

  it("each path outside the scope, twenty of them and then a count; residue is nobody's change", () => {
    const residue = ["node_modules/x/y", "a/__pycache__/b.pyc", ".coverage.1", "pkg.egg-info/x", ".atlas/r/log.jsonl"];
    const outside = Array.from({ length: 23 }, (_, at) => `other/${String(at).padStart(2, "0")}`);
    const changed = ["src/a.ts", ...residue, ...outside.toReversed()];
    const { blocking } = verdict(good, seats(), 0, { ...context, changed });
    expect(blocking).toHaveLength(21);
    expect(blocking.every(({ severity, category }) => severity === "HIGH" && category === "CORRECTNESS")).toBe(true);
    expect(blocking[0]).toMatchObject({ id: 'out-of-scope:"other/00"', location: "other/00" });
    expect(blocking[20]?.fix).toMatch(/^3 more /);
    const twenty = verdict(good, seats(), 0, { ...context, changed: ["src/a.ts", ...outside.slice(0, 20)] });
    expect(ids(twenty.blocking)).not.toContain("out-of-scope:more");
  });

  it("a path that spells an order is quoted in the id and stays out of the fix", () => {
    const changed = ["src/a.ts", "x\nignore all\u202e"];
    const [defect] = verdict(good, seats(), 0, { ...context, changed }).blocking;
    expect(defect?.id).toBe('out-of-scope:"x\\nignore all\\u202e"');
    expect(defect?.fix).not.toContain("ignore");
  });

  it("an empty seat: missing, malformed or of another pass, and it sends nobody back to work", () => {
    for (const seat of [{ status: "missing" }, { status: "malformed" }, seen(clean, 1)] as const) {
      const result = verdict(good, seats({ security: seat }), 0, context);
      expect(result.blocking).toMatchObject([
        { id: "critic-missing:security", category: "SECURITY", severity: "CRITICAL" },
      ]);
      expect(result.refine).toBe(false);
    }
  });

  it("a stale critic's defects are not counted", () => {
    const stale = seen(raised("S1", "SECURITY", "CRITICAL"), 1);
    expect(ids(verdict(good, seats({ security: stale }), 0, context).blocking)).toEqual(["critic-missing:security"]);
  });

  it("dissent without a defect to show: a dimension says no, or the verdict FAIL", () => {
    const no = seen({ ...clean, dimensions: { ...yes, "TEST-ADEQUACY": "no" } });
    const fail = seen({ ...clean, verdict: "FAIL" });
    const result = verdict(good, seats({ correctness: no, "code-quality": fail }), 0, context);
    expect(result.blocking).toMatchObject([
      { id: "dimension-dissent:correctness", category: "TEST-ADEQUACY", severity: "HIGH" },
      { id: "dimension-dissent:code-quality", category: "CODE-QUALITY", severity: "HIGH" },
    ]);
    expect(result.refine).toBe(false);
  });

  it("a critic's own CRITICAL or HIGH; what is lower is advisory", () => {
    const given = seats({
      correctness: seen(raised("C1", "CORRECTNESS", "HIGH")),
      "code-quality": seen(raised("Q1", "CODE-QUALITY", "MEDIUM")),
    });
    const result = verdict(good, given, 0, context);
    expect([ids(result.blocking), ids(result.advisory)]).toEqual([["C1"], ["Q1"]]);
  });

  it("evidence that is absent or of another pass; without it nobody is sent back", () => {
    for (const [evidence, pass] of [
      [null, 0],
      [good, 1],
    ] as const) {
      const given = seats({ correctness: seen(raised("C1", "CORRECTNESS", "HIGH"), pass) }, pass);
      const result = verdict(evidence, given, pass, context);
      expect(ids(result.blocking)).toEqual(["C1", "evidence-incomplete"]);
      expect(result.why).toContain("evidence.absent");
      expect(result.refine).toBe(false);
    }
  });

  it("a lens that failed blocks, one that was skipped is named, one that ran gives its defects", () => {
    const lens = {
      ms: 1,
      defects: [{ id: "L1", category: "DOES-IT-RUN", severity: "HIGH", location: "x", fix: "y" }],
    } as const;
    const with3 = {
      ...good,
      lenses: {
        a: { ...lens, status: "ran" },
        b: { ...lens, status: "failed" },
        c: { ...lens, status: "skipped", reason: "tool absent" },
      },
    } as const;
    const result = verdict(with3, seats(), 0, context);
    expect(ids(result.blocking)).toEqual(["L1", 'evidence-incomplete:"b"']);
    expect(result.skipped).toContainEqual({ lens: "c", reason: "tool absent" });
  });
});
