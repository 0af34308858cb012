import { describe, expect, test } from "vitest";
import { readOriginalGraph } from "../../../scripts/kinds/weave/original.ts";
import { expectedOf, type RunBytes, runsOf, worlds } from "../../support/kimi-atlas.ts";

const ampleMb = 64_000;
const runOf = (world: string) => runsOf(world)[0] as RunBytes;

describe("a graph run of the original", () => {
  const graphs = worlds.filter((world) => expectedOf[world]?.dag_after !== undefined);

  test("there are worlds to agree with", () => {
    expect(graphs).toHaveLength(5);
  });

  test.each(graphs)("%s: frontier, ready set, wave and gas are the original's own", (world) => {
    const expected = expectedOf[world];
    const read = readOriginalGraph(runOf(world).dag as Uint8Array, ampleMb);
    if (!read.ok) throw new Error(read.error.reason);
    expect(read.value.dag).toEqual(expected?.dag_after);
    expect(JSON.stringify(read.value.dag)).toBe(JSON.stringify(expected?.dag_after));
    expect(read.value.ready).toEqual(expected?.ready_after);
    expect(read.value.wave).toEqual(expected?.wave_after);
    expect(read.value.gas).toBe(expected?.gas_remaining);
    expect(read.value.terminated).toBe(expected?.terminated_after);
    expect(read.value.runningBefore).toEqual(expected?.running_before);
    expect(read.value.progress.total).toBe(read.value.dag.jobs.length);
  });

  test("a torn plan is refused with its reason", () => {
    const read = readOriginalGraph(runOf("damaged-torn-dag").dag as Uint8Array, ampleMb);
    expect(read).toMatchObject({ ok: false, error: { code: "dag.torn" } });
  });
});
