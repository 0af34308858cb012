/** A parked thing delivered by many processes at once is consumed by exactly one; the others are refused, and told. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { type Actor, allAtOnce, startActor } from "../races/actor.ts";
import { builtPlugin, type Plugin, sit, type Told } from "../support/scripted-run.ts";
import { conformance, type Probe, rounds } from "./cell.ts";
import type { Kind } from "./cells.ts";
import { type Left, leftBehind, originals } from "./kind-ledgers.ts";
import { eventsIn, makeStage, type Stage } from "./stage.ts";

const many = [2, 8, 16] as const;
/** A namespace of its own, whose first process is a shell, and whose second is the host. */
const apart = ["unshare", "-rpf", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"] as const;

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const undo: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

function actorsIn(stage: Stage, count: number, before: readonly string[] = []): readonly Actor[] {
  return Array.from({ length: count }, () => {
    const actor = startActor(stage.world, before);
    undo.push(() => actor.kill());
    return actor;
  });
}

function staged<T extends { readonly stage: Stage }>(left: T): T {
  undo.push(left.stage.remove);
  return left;
}

/** 2, 8 and 16 at once, each in the same world: what each says, and what stands afterwards. */
async function atOnce(
  stage: Stage,
  wordsOf: (at: number) => readonly string[],
  check: (told: readonly Told[]) => void,
): Promise<void> {
  const actors = actorsIn(stage, Math.max(...many));
  for (const count of many) {
    for (let round = 0; round < rounds; round += 1) {
      stage.again();
      const cwd = ["--cwd", stage.world.project];
      check(await allAtOnce(stage.world, actors.slice(0, count), (at) => [...wordsOf(at), ...cwd]));
    }
  }
}

const said = (told: readonly Told[]): string => told.map((one) => one.stdout).join("\n");

/** One took it; each of the others was told that it was taken, or that the very same had been. */
function expectOneTook(told: readonly Told[], took: string, already: string, codes: RegExp): void {
  expect(
    told.filter((one) => one.did?.includes(took)),
    said(told),
  ).toHaveLength(1);
  for (const one of told.filter((other) => other.did?.includes(took) !== true)) {
    const isSame = one.code === 0 && one.did.includes(already);
    expect(isSame || (one.code === 3 && codes.test(one.refused.code)), one.stdout).toBe(true);
  }
}

async function dispatchTaken(kind: Kind): Promise<void> {
  const { stage, id, told } = staged(await leftBehind(plugin, kind, "owned"));
  const digest = (at: number) => ({
    repo_mode: "small",
    relevant_files: [{ path: "src/add.js", why: `says ${at}` }],
    conventions: [],
    constraints: [],
    entry_points: [],
    conflicts: [],
    untrusted_excerpts: [],
  });
  const file = (at: number) => join(stage.folder, `result-${at}.json`);
  for (let at = 0; at < Math.max(...many); at += 1) writeFileSync(file(at), JSON.stringify(digest(at)));
  const words = (at: number) => ["submit", "--run", id, "--claim", told.claim, "--slot", "scout", "--file", file(at)];
  await atOnce(stage, words, (all) => {
    expectOneTook(all, "took scout", "already scout", /^(slot\.filled|slot\.not_wanted|slot\.not_now|lease\.)/);
    const events = eventsIn(stage.ledger());
    expect(events.filter((event) => event.type === "filled" && event.slot === "scout")).toHaveLength(1);
    expect(events.filter((event) => event.type === "lease-ended")).toHaveLength(1);
    expect(events.filter((event) => event.type === "leased")).toHaveLength(1);
  });
}

async function gateAnswered(kind: Kind): Promise<void> {
  const { stage, id, told } = staged(await leftBehind(plugin, kind, "owned", true));
  const { gate, nonce, options } = told.next as Extract<Instruction, { do: "ask" }>;
  expect(gate).toBe("pre-code");
  const choices = options.filter((option) => option !== "adjust");
  expect(choices.length).toBeGreaterThan(1);
  const words = (at: number) => [
    ...["answer", "--run", id, "--claim", told.claim, "--gate", gate, "--nonce", nonce],
    ...["--choice", choices[at % choices.length] as string],
  ];
  await atOnce(stage, words, (all) => {
    const answers = eventsIn(stage.ledger()).filter((event) => event.type === "answered");
    expect(answers).toHaveLength(1);
    const choice = String(answers[0]?.choice);
    expectOneTook(all, `answered ${gate} ${choice}`, `already ${gate} ${choice}`, /^(gate\.|run\.finished|claim\.)/);
  });
}

async function claimTaken(kind: Kind): Promise<void> {
  const original = originals[kind];
  // Of a foreign run the claim is its adoption.
  let left: Pick<Left, "stage">;
  if (original === null) left = staged(await leftBehind(plugin, kind, "gone"));
  else {
    left = staged({ stage: makeStage(plugin, original) });
    left.stage.keep();
  }
  const { stage } = left;
  await atOnce(
    stage,
    () => ["resume"],
    (all) => expectOneOwner(stage, all, original === null ? 2 : 1),
  );
}

function expectOneOwner(stage: Stage, told: readonly Told[], epoch: number): void {
  const winners = told.filter((one) => one.code === 0);
  expect(winners, said(told)).toHaveLength(1);
  const { pid } = ((winners[0] as Told).json.run as { readonly owner: { readonly pid: number } }).owner;
  for (const loser of told.filter((one) => one.code !== 0)) {
    expect([loser.code, loser.refused.code]).toEqual([3, "run.owned"]);
    expect(loser.refused.reason).toContain(`process ${pid} `);
  }
  const claims = eventsIn(stage.ledger()).filter((event) => event.type === "claimed");
  expect(claims.map((event) => event.epoch)).toEqual(Array.from({ length: epoch }, (_value, at) => at + 1));
}

/** Throws, saying what to do, where no namespace may be made. */
function requireNamespaces(): void {
  const tried = spawnSync(apart[0], [...apart.slice(1), "true"], { encoding: "utf8" });
  if (tried.status === 0) return;
  throw new Error(
    `Pid namespaces cannot be made here, so nothing is known of two containers over one folder: ${tried.stderr || String(tried.error)}\n` +
      "Allow them: sysctl kernel.unprivileged_userns_clone=1, or run the container with --security-opt seccomp=unconfined.",
  );
}

async function apartConsumed(kind: Kind): Promise<void> {
  requireNamespaces();
  const { stage, id } = staged(await leftBehind(plugin, kind, "released"));
  const actors = actorsIn(stage, 2, apart);
  const words = ["resume", "--run", id];
  const told = await allAtOnce(stage.world, actors, () => words);
  expectOneOwner(stage, told, 2);
  // From the other namespace nobody can prove that the owner is gone, also when it is.
  const winner = told.findIndex((one) => one.code === 0);
  await actors[winner]?.kill();
  const [again] = await allAtOnce(stage.world, [actors[1 - winner] as Actor], () => words);
  expect([again?.code, again?.refused.code]).toEqual([3, "run.owned"]);
  expect((await sit(stage.world).run(...words)).refused.code).toBe("run.owned");
}

const each = (probe: (kind: Kind) => Promise<void>): Readonly<Record<Kind, Probe>> => ({
  change: () => probe("change"),
  "adopted change": () => probe("adopted change"),
  "adopted graph": () => probe("adopted graph"),
});

conformance("consume-once", ({ cell }) => {
  cell("a gate", { change: () => gateAnswered("change"), "adopted change": () => gateAnswered("adopted change") });
  cell("a dispatch", {
    change: () => dispatchTaken("change"),
    "adopted change": () => dispatchTaken("adopted change"),
  });
  cell("a claim", each(claimTaken));
  cell("two pid namespaces over one folder", each(apartConsumed));
});
