import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scanDag } from "../../../scripts/kinds/weave/dag-scan.ts";
import { readOriginalGraph } from "../../../scripts/kinds/weave/original.ts";
import {
  type DagJob,
  type Frontier,
  gasOf,
  isTerminated,
  parseDag,
  readyJobs,
  resetFrontier,
  runningJobs,
} from "../../../scripts/kinds/weave/plan-dag.ts";
import { nextWave } from "../../../scripts/kinds/weave/wave.ts";
import { runsOf, worlds } from "../../support/kimi-atlas.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const id = fc.oneof(
  { weight: 30, arbitrary: fc.nat(9).map((n) => `n${n}#0`) },
  fc.constantFrom("knoten-ä#0", 'with "quotes"#0', "\uFEFFa#0", ""),
);
const job = fc.record(
  {
    job_id: fc.oneof({ weight: 20, arbitrary: id }, fc.constant(5 as unknown as string)),
    node_id: fc.string(),
    kind: fc.oneof(fc.constantFrom("LEAF", "DECOMPOSE", "SCOUT", "odd", "k\u00fc"), fc.constantFrom(null, 3, ["LEAF"])),
    deps: fc.oneof({ weight: 20, arbitrary: fc.array(id, { maxLength: 3 }) }, fc.constantFrom([1], "a#0", null)),
    attempts: fc.oneof({ weight: 20, arbitrary: fc.nat(3) }, fc.constantFrom(-1, 1.5, 1e21, "0", null)),
    state: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom("PENDING", "RUNNING", "DONE", "FAILED") },
      fc.constantFrom("WAITING", null, 1),
    ),
    lease: fc.oneof(fc.string(), fc.record({ deadline: fc.double({ noNaN: true, noDefaultInfinity: true }) })),
    extra: fc.jsonValue(),
  },
  { requiredKeys: ["job_id"] },
);
const node = fc.record(
  {
    kind: fc.string(),
    deps: fc.oneof({ weight: 20, arbitrary: fc.array(fc.string()) }, fc.constant([0])),
    risk: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const plan = fc.record({
  meta: fc.record(
    {
      gas_remaining: fc.oneof({ weight: 9, arbitrary: fc.nat(99) }, fc.constantFrom(-3, 2.5, "9", 1e12)),
      more: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
  nodes: fc.dictionary(fc.string(), node, { maxKeys: 4 }),
  jobs: fc.array(job, { maxLength: 6 }),
});
/** A plan's text: spaced or not, with a mark before it or not, its keys once or twice. */
const texts = fc
  .record({
    plan,
    again: fc.option(plan),
    space: fc.constantFrom(0, 1, 2),
    mark: fc.constantFrom("", "", "\uFEFF"),
    key: fc.constantFrom('"jobs"', '"jobs"', '"j\\u006fbs"', '"meta"'),
  })
  .map(({ plan, again, space, mark, key }) => {
    const text = JSON.stringify(plan, null, space);
    if (again === null) return mark + text;
    const second = key === '"meta"' ? again.meta : again.jobs;
    return `${mark}${text.slice(0, -1)},${key}:${JSON.stringify(second)}}`;
  });

/** What scheduling says of a frontier, before a reset and after it; an odd kind is no kind. */
function seen(frontier: Frontier): unknown {
  const kindOf = ({ kind }: DagJob) => (typeof kind === "string" ? kind : null);
  const after = resetFrontier(frontier);
  const ready = readyJobs(after);
  return {
    gas: gasOf(frontier),
    running: runningJobs(frontier).map((one) => one.job_id),
    readyBefore: readyJobs(frontier).map((one) => one.job_id),
    ready: ready.map((one) => [one.job_id, kindOf(one), one.attempts ?? 0]),
    waves: [0, 6_000, 64_000].map((freeMb) => nextWave(after, freeMb).map((one) => one.job_id)),
    terminated: [isTerminated(frontier), isTerminated(after)],
  };
}

const countOf = (jobs: readonly DagJob[], state: string): number => jobs.filter((one) => one.state === state).length;

/** A scan says what a parser says, or nothing; whether it said something. */
function agrees(bytes: Uint8Array): boolean {
  const scanned = scanDag(bytes);
  if (scanned === null) return false;
  const parsed = parseDag(bytes);
  if (!parsed.ok) throw new Error(`scanned, and refused by the parser: ${parsed.error.reason}`);
  const { frontier, running, progress } = scanned;
  const { jobs } = parsed.value;
  expect(seen(frontier)).toEqual(seen(parsed.value));
  expect(progress).toEqual({ done: countOf(jobs, "DONE"), failed: countOf(jobs, "FAILED"), total: jobs.length });
  const found = running.map(({ from, to }) => JSON.parse(new TextDecoder().decode(bytes.subarray(from, to))).job_id);
  expect(found).toEqual(runningJobs(parsed.value).map((one) => one.job_id));
  return true;
}

describe("a plan-DAG taken off its bytes", () => {
  test("is the plan a parser reads, or is left to the parser", () => {
    let scanned = 0;
    fc.assert(
      fc.property(texts, (text) => {
        if (agrees(bytesOf(text))) scanned += 1;
      }),
      { numRuns: 1500 },
    );
    expect(scanned).toBeGreaterThan(150);
  });

  test("any byte changed: the plan a parser reads, or left to the parser", () => {
    fc.assert(
      fc.property(
        texts,
        fc.nat(),
        fc.constantFrom(0x00, 0x22, 0x2c, 0x31, 0x5c, 0x5d, 0x7b, 0x7d, 0xc3, 0xff),
        (text, at, byte) => {
          const bytes = bytesOf(text);
          bytes[at % bytes.length] = byte;
          agrees(bytes);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("every plan the original wrote is taken off its bytes", () => {
    const plans = worlds
      .flatMap((world) => (world === "damaged-torn-dag" ? [] : runsOf(world)))
      .flatMap((run) => run.dag ?? []);
    expect(plans.length).toBeGreaterThan(5);
    for (const dag of plans) expect(agrees(dag)).toBe(true);
  });

  test("cut off anywhere it is left to the parser", () => {
    const whole = bytesOf(
      '{"meta":{"gas_remaining":3},"nodes":{"a":{"deps":["b"]}},"jobs":[{"job_id":"a#0","state":"RUNNING"}]}',
    );
    expect(agrees(whole)).toBe(true);
    for (let length = 0; length < whole.length; length += 1) expect(scanDag(whole.subarray(0, length))).toBeNull();
  });
});

test("thousands of ids, done in any order, are told apart", () => {
  fc.assert(
    fc.property(fc.nat(9), fc.integer({ min: 1, max: 40 }), (offset, step) => {
      const ids = Array.from({ length: 5000 }, (_, at) => `n${(at * 7919 + offset) % 5000}#0`);
      const jobs = ids.map((id, at) => ({
        job_id: id,
        state: at % step === 0 ? "PENDING" : "DONE",
        deps: [ids[(at * 31 + 1) % 5000], ids[(at * 17 + 3) % 5000]],
      }));
      expect(agrees(bytesOf(JSON.stringify({ meta: { gas_remaining: 9 }, nodes: {}, jobs })))).toBe(true);
    }),
    { numRuns: 15 },
  );
});

describe("a large plan", () => {
  /** So long that it is scanned. */
  const padding = `"padding":"${"é".repeat(2_200_000)}"`;
  const large = (text: string): Uint8Array => bytesOf(text.replace(/\}$/, `,${padding}}`));

  test("reads, resets and schedules as a small one does, and its untouched jobs keep their bytes", () => {
    fc.assert(
      fc.property(plan, fc.constantFrom(0, 2), (value, space) => {
        const bytes = large(JSON.stringify(value, null, space));
        const parsed = parseDag(bytes);
        const read = readOriginalGraph(bytes, 64_000);
        expect(read.ok).toBe(parsed.ok);
        if (!read.ok || !parsed.ok) return;
        const after = resetFrontier(parsed.value);
        expect(read.value.dag).toEqual(after);
        expect(JSON.parse(new TextDecoder().decode(read.value.bytes))).toEqual(after);
        expect(read.value).toMatchObject({
          gas: gasOf(after),
          ready: readyJobs(after).map((one) => one.job_id),
          wave: nextWave(after, 64_000).map((one) => one.job_id),
          terminated: isTerminated(after),
          runningBefore: runningJobs(parsed.value).map((one) => one.job_id),
        });
        if (scanDag(bytes)?.running.length === 0) expect(read.value.bytes).toBe(bytes);
      }),
      { numRuns: 12 },
    );
  });

  test("keys and numbers nobody knows stay as they were written", () => {
    const text =
      '{"meta":{},"nodes":{"a":{"n":1.0}},"jobs":[{"job_id":"a#0","x":12345678901234567890,"state":"DONE"},{"job_id":"b#0","state":"RUNNING","lease":"b#0#0"}]}';
    const read = readOriginalGraph(large(text), 64_000);
    if (!read.ok) throw new Error(read.error.reason);
    const expected = text.replace(/\}$/, `,${padding}}`).replace('"RUNNING","lease":"b#0#0"', '"PENDING"');
    expect(new TextDecoder().decode(read.value.bytes)).toBe(expected);
  });
});
