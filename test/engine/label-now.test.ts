/** A green label holds while everything it was made from is as it was, and no longer. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { writeArtifact } from "../../scripts/engine/artifacts.ts";
import { snapshotsOf } from "../../scripts/engine/effects.ts";
import { labelNow } from "../../scripts/engine/label-now.ts";
import type { Loaded } from "../../scripts/engine/ledger.ts";
import { load } from "../../scripts/engine/transact.ts";
import type { ChangeState, Filled } from "../../scripts/kinds/change/state.ts";
import { writeWitness } from "../../scripts/platform/witness.ts";
import { type EngineWorld, engineWorld, writeRun } from "../support/engine-world.ts";
import { good } from "../support/judgments.ts";

const dimensions = {
  CORRECTNESS: "yes",
  "CODE-QUALITY": "yes",
  SECURITY: "yes",
  "TEST-ADEQUACY": "yes",
  "DOES-IT-RUN": "yes",
  "REQUIREMENTS-COVERAGE": "yes",
};
const packet = {
  intent: "mend it",
  success_criteria: ["it is mended"],
  scope_paths: ["."],
  verify_cmd: "npm test",
  invocation_form: "interactive",
  debug_tokens: [],
  test_glob: [],
};

let world: EngineWorld;
let loaded: Loaded<ChangeState>;

/** A run that was judged VERIFIED in the user's own tree: real trees, real artifacts, a state that names them. */
beforeEach(() => {
  world = engineWorld();
  const { engine, project } = world;
  const folder = writeRun(world);
  const read = load(engine, folder);
  if (!read.ok) throw new Error(read.error.reason);
  const run = read.value as Loaded<ChangeState>;
  const snapshots = snapshotsOf(engine, run);
  const before = snapshots.take(project).tree;
  writeFileSync(join(project, "a.txt"), "mended\n");
  const coded = snapshots.take(project).tree;
  writeFileSync(join(project, "built.txt"), "by the build\n");
  const built = snapshots.take(project).tree;
  const keep = (slot: string, value: unknown): Filled => {
    const bytes = Buffer.from(JSON.stringify(value), "utf8");
    const sha256 = writeArtifact(engine.fs, folder, { slot, pass: 0, extension: "json" }, bytes);
    return { sha256, bytes: bytes.length, via: "root" };
  };
  const content = { dimensions, defects: [], verdict: "OK" };
  const filled = {
    "evidence.0": keep("evidence", { ...good, tree: { before, coded, built } }),
    "correctness.0": keep("correctness", content),
    "code-quality.0": keep("code-quality", content),
    "security.0": keep("security", content),
  };
  loaded = {
    ...run,
    state: {
      ...run.state,
      packet: keep("packet", packet).sha256,
      phase: { at: "output", pass: 0, tree: null },
      label: "VERIFIED",
      reasons: [],
      base: before,
      checkpoint: coded,
      filled,
    },
  };
});

const now = () => labelNow(world.engine, loaded);
const at = (path: string) => join(world.project, path);

test("it stands while nothing changed", () => {
  expect(now()).toEqual({ label: "VERIFIED", reasons: [] });
});

describe("the tree that was verified", () => {
  test.each([
    ["a file of the change", () => writeFileSync(at("a.txt"), "other\n"), () => writeFileSync(at("a.txt"), "mended\n")],
    ["a file nobody had changed", () => rmSync(at(".gitignore")), () => writeFileSync(at(".gitignore"), "*.log\n")],
    ["a new file", () => writeFileSync(at("new.txt"), ""), () => rmSync(at("new.txt"))],
    ["a mode", () => chmodSync(at("a.txt"), 0o755), () => chmodSync(at("a.txt"), 0o644)],
  ])("V-12: %s changed afterwards withdraws it, restored it comes back", (_, change, restore) => {
    change();
    expect(now()).toEqual({ label: "UNVERIFIED", reasons: ["tree.changed"] });
    restore();
    expect(now()).toEqual({ label: "VERIFIED", reasons: [] });
  });

  test("what the build made may go again: each path equals the tree before it or after it", () => {
    rmSync(at("built.txt"));
    expect(now().label).toBe("VERIFIED");
  });

  test("it is the human's own again once he chose", () => {
    writeFileSync(at("a.txt"), "later\n");
    const delivery = { choice: "apply", done: true, written: 0, left: 0 } as const;
    expect(labelNow(world.engine, { ...loaded, state: { ...loaded.state, delivery } }).label).toBe("VERIFIED");
  });
});

describe("what it was judged from", () => {
  const artifacts = () => join(loaded.folder.ledger, "artifacts");
  const named = (slot: string) => readdirSync(artifacts()).find((name) => name.startsWith(`${slot}.`)) as string;

  test.each(["evidence", "correctness", "security", "packet"])(
    "V-06: an artifact (%s) swapped between the gate and the print withdraws it",
    (slot) => {
      const path = join(artifacts(), named(slot));
      const bytes = readFileSync(path, "utf8");
      writeFileSync(path, bytes.replace("{", "{ "));
      expect(now()).toEqual({ label: "UNVERIFIED", reasons: ["evidence.changed"] });
      writeFileSync(path, bytes);
      expect(now().label).toBe("VERIFIED");
      rmSync(path);
      mkdirSync(path);
      expect(now()).toEqual({ label: "UNVERIFIED", reasons: ["evidence.changed"] });
    },
  );

  test("V-14: the label that is printed is the verdict over what lies there now, whatever the ledger says", () => {
    const { "security.0": _, ...filled } = loaded.state.filled;
    expect(labelNow(world.engine, { ...loaded, state: { ...loaded.state, filled } })).toEqual({
      label: "UNVERIFIED",
      reasons: ["evidence.changed"],
    });
  });
});

test("a ledger that is not the one that was seen withdraws it", () => {
  const seen = { seq: loaded.tip.seq, sum: loaded.tip.sum };
  writeWitness(world.engine.fs, world.state, loaded.folder, seen);
  expect(now().label).toBe("VERIFIED");
  writeWitness(world.engine.fs, world.state, loaded.folder, { ...seen, sum: "0".repeat(64) });
  expect(now()).toEqual({ label: "UNVERIFIED", reasons: ["witness.differs"] });
});

test("red never turns green", () => {
  const red = { ...loaded, state: { ...loaded.state, label: "UNVERIFIED", reasons: ["defect.runcheck"] } as const };
  expect(labelNow(world.engine, red)).toEqual({ label: "UNVERIFIED", reasons: ["defect.runcheck"] });
});
