/**
 * The fixture matrix: one good change and every way in which it can be spoilt, through the built program, real git and a
 * real test runner. All critics say OK unless a case is about them, so that it is code that turns the label red.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  finding,
  leaving,
  matrixWorld,
  medianRequest,
  newTest,
  oldTest,
  right,
  wrong,
} from "../support/matrix-world.ts";
import { type Agent, babbling, blocking, signed } from "../support/scripted-agents.ts";
import { begin, builtPlugin, type Plugin, scripted, sit, type Told, type World } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

interface Case {
  readonly coder?: Agent | readonly Agent[];
  readonly agents?: Readonly<Record<string, Agent | readonly Agent[]>>;
  readonly request?: object;
  readonly extra?: Readonly<Record<string, string | null>>;
}

const mended = { "src/median.js": right, "test/median.test.js": newTest };

async function ended(given: Case): Promise<{ readonly end: Told; readonly world: World }> {
  const world = matrixWorld(plugin, tempFolder(), given.extra);
  const session = sit(world);
  const run = scripted(session, { agents: { scout: finding, coder: given.coder ?? leaving(mended), ...given.agents } });
  const end = await run.go(await begin(session, { ...medianRequest, ...given.request }, "--headless"));
  return { end, world };
}

function labelOf({ next }: Told): readonly [string, readonly string[]] {
  if (next.do !== "report") throw new Error(`not ended: ${next.do}`);
  return [next.status, next.why ?? []];
}

describe("VERIFIED", () => {
  test("a good change with tests that fail without it", async () => {
    const { end } = await ended({});
    expect(labelOf(end)).toEqual(["verified", []]);
  });

  test("a change that was wrong at first and was mended in the second pass", async () => {
    const { end } = await ended({ coder: [leaving({ ...mended, "src/median.js": wrong }), leaving(mended)] });
    expect(labelOf(end)).toEqual(["verified", []]);
  });

  test("a critic whose doubt was answered by the next pass", async () => {
    const doubting = blocking("C1", "CORRECTNESS", "an empty list is not refused");
    const content: Agent = (work) => signed(work, JSON.stringify({ dimensions: yes, defects: [], verdict: "OK" }));
    const { end } = await ended({
      coder: [leaving({ ...mended, "src/median.js": `// first\n${right}` }), leaving(mended)],
      agents: { correctness: [doubting, content] },
    });
    expect(labelOf(end)).toEqual(["verified", []]);
  });
});

const yes = {
  CORRECTNESS: "yes",
  "CODE-QUALITY": "yes",
  SECURITY: "yes",
  "TEST-ADEQUACY": "yes",
  "DOES-IT-RUN": "yes",
  "REQUIREMENTS-COVERAGE": "yes",
};

/** Every case names its reason; its twin is the good change above, spoilt in this one thing. */
const spoilt: Readonly<Record<string, readonly [Case, string]>> = {
  "wrong, caught by the tests": [{ coder: leaving({ ...mended, "src/median.js": wrong }) }, "defect.runcheck"],
  "wrong, tests green, caught by a critic": [
    {
      coder: leaving({ ...mended, "src/median.js": right.replace("a - b", "a < b ? -1 : 1") }),
      agents: { correctness: blocking("C1", "CORRECTNESS", "equal values are swapped for ever") },
    },
    "defect.critic",
  ],
  "unsafe, tests green, caught by a critic": [
    { agents: { security: blocking("S1", "SECURITY", "evaluates its input") } },
    "defect.critic",
  ],
  "ugly, caught by a critic": [
    { agents: { "code-quality": blocking("Q1", "CODE-QUALITY", "the rule stands twice") } },
    "defect.critic",
  ],
  "out of scope": [{ coder: leaving({ ...mended, "README.md": "# changed\n" }) }, "defect.out-of-scope"],
  "no test was run": [{ request: { verify_cmd: "node --version" } }, "defect.untested"],
  "every test skipped": [
    { coder: leaving({ ...mended, "test/median.test.js": newTest.replaceAll('test("', 'test.skip("') }) },
    "defect.untested",
  ],
  empty: [{ coder: leaving({}) }, "defect.empty-diff"],
  "build red": [{ coder: leaving({ ...mended, "src/median.js": `${right}\nexport {` }) }, "defect.runcheck"],
  "critic silent": [{ agents: { security: (work) => signed(work, "") } }, "defect.critic-missing"],
  "critic without a judgment": [{ agents: { correctness: babbling } }, "defect.critic-missing"],
  "critic lying: it says no and shows nothing": [
    {
      agents: {
        correctness: (work) =>
          signed(work, JSON.stringify({ dimensions: { ...yes, SECURITY: "no" }, defects: [], verdict: "OK" })),
      },
    },
    "defect.critic-missing",
  ],
  "a source that no longer parses, though no test loads it": [
    { coder: leaving({ ...mended, "src/other.js": "export function (\n" }) },
    "defect.SYN1",
  ],
};

describe("UNVERIFIED, with the right reason", () => {
  test.each(Object.keys(spoilt))("%s", async (name) => {
    const [given, reason] = spoilt[name] as readonly [Case, string];
    const { end } = await ended(given);
    const [status, why] = labelOf(end);
    expect([status, why.filter((code) => code === reason)], why.join(" ")).toEqual(["unverified", [reason]]);
  });

  test("the tree changed after it was verified; undone, the label holds again", async () => {
    const { end, world } = await ended({});
    expect(labelOf(end)[0]).toBe("verified");
    const { id } = end.json.run as { readonly id: string };
    const at = join(world.project, ".atlas", id, "worktree", "e1.1", "src", "median.js");
    writeFileSync(at, `${right}// later\n`);
    const session = sit(world);
    expect(labelOf(await session.run("next", "--run", id))).toEqual(["unverified", ["tree.changed"]]);
    writeFileSync(at, right);
    expect(labelOf(await session.run("next", "--run", id))).toEqual(["verified", []]);
  });

  test("tests that pass without the change too are said, and do not block", async () => {
    const same = `${oldTest}\ntest("one value", () => assert.equal(median([7]), 7));\n`;
    const { end, world } = await ended({ coder: leaving({ "src/median.js": right, "test/median.test.js": same }) });
    expect(labelOf(end)[0]).toBe("verified");
    const { id } = end.json.run as { readonly id: string };
    const report = await sit(world).run("report", "--run", id);
    expect(JSON.stringify(report.json)).toContain("revert-green");
  });

  test("the baseline is gone: the run ends without a verdict", async () => {
    const world = matrixWorld(plugin, tempFolder());
    const session = sit(world);
    const atCoder = await scripted(session).go(
      await begin(session, medianRequest, "--headless"),
      (next) => next.do === "dispatch" && next.agents.some(({ slot }) => slot === "coder"),
    );
    expect(atCoder.next.do).toBe("dispatch");
    rmSync(join(world.project, ".git", "objects"), { recursive: true });
    const told = await session.type(`atlas resume --run ${(atCoder.json.run as { id: string }).id}`);
    expect([told.code, told.next?.do]).not.toEqual([0, "report"]);
  });
});
