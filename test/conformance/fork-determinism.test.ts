/** Forks: the parent's lines and artifacts as they are, one line of its own, and from there the same as any other fork. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { fingerprint } from "../support/adopted-world.ts";
import {
  begin,
  builtPlugin,
  type Plugin,
  request,
  type Script,
  type Session,
  scripted,
  sit,
  type Told,
} from "../support/scripted-run.ts";
import { conformance, type Probe } from "./cell.ts";
import type { Kind } from "./cells.ts";
import { eventsIn, linesIn, makeStage, type Stage } from "./stage.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => {
  for (const { stage } of prepared.values()) stage.remove();
  plugin.remove();
});

/** Made once, put back before each probe. */
const prepared = new Map<Kind, Parent>();

const script: Script = { hooks: "claude", gates: { output: "apply" } };

interface Parent {
  readonly stage: Stage;
  readonly session: Session;
  readonly id: string;
}

/** Brings a run of each kind to where it has artifacts, a tree or a graph, and an owner. */
const parents: Readonly<Record<Kind, () => Promise<Parent>>> = {
  async change() {
    const stage = makeStage(plugin);
    const session = sit(stage.world);
    await session.hook("claude", "SessionStart", { source: "startup" });
    const isCoded = (next: Instruction) => next.do === "dispatch" && next.agents[0].slot === "correctness";
    return whole(
      stage,
      session,
      await scripted(session, script).go(await begin(session, request, "--headless"), isCoded),
    );
  },
  "adopted change": () => adopted("single-03-triaged", (next) => next.do === "submit" && next.slot === "plan"),
  "adopted graph": () => adopted("graph-003-nodes", () => true),
};

async function adopted(original: string, stop: (next: Instruction) => boolean): Promise<Parent> {
  const stage = makeStage(plugin, original);
  const session = sit(stage.world);
  await session.hook("claude", "SessionStart", { source: "startup" });
  return whole(stage, session, await scripted(session, script).go(await session.run("resume"), stop));
}

function whole(stage: Stage, session: Session, told: Told): Parent {
  stage.keep();
  return { stage, session, id: (told.json.run as { readonly id: string }).id };
}

const atlasOf = (stage: Stage): string => join(stage.world.project, ".atlas");

async function forked(
  { stage, session, id }: Parent,
  at: number,
): Promise<{ readonly told: Told; readonly ledger: string }> {
  const told = await session.run("fork", "--run", id, "--at", String(at));
  expect(told.code, told.stdout + told.stderr).toBe(0);
  return { told, ledger: join(atlasOf(stage), (told.json.run as { readonly id: string }).id) };
}

function eachKind(probe: (parent: Parent) => Promise<void>): Readonly<Record<Kind, Probe>> {
  const of = (kind: Kind) => async () => {
    const parent = prepared.get(kind) ?? (await parents[kind]());
    prepared.set(kind, parent);
    parent.stage.again();
    await probe(parent);
  };
  return { change: of("change"), "adopted change": of("adopted change"), "adopted graph": of("adopted graph") };
}

const shas = (ledger: string): readonly string[] => [
  ...new Set(
    [
      ...JSON.stringify(linesIn(ledger).map((line) => line.events)).matchAll(
        /"(?:sha256|packet|dag)":"([0-9a-f]{64})"/g,
      ),
    ].map((match) => match[1] as string),
  ),
];

/** Names and bytes of what the ledger names by hash. */
function artifactsOf(ledger: string, named: readonly string[]): readonly (readonly [string, string])[] {
  const folder = join(ledger, "artifacts");
  return readdirSync(folder)
    .sort()
    .filter((name) => named.some((sha) => name.includes(sha.slice(0, 12))))
    .map((name) => [name, readFileSync(join(folder, name), "base64")] as const);
}

/** Ids, times, hashes of lines and processes are each run's own; everything else has to be the same byte for byte. */
function plain(value: unknown, id: string): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(id, "<id>")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/"(nonce|claim)": "[^"]*"/g, '"$1": "<own>"')
    .replace(/\b\d+\.[0-9a-f]{10}\b/g, "<claim>")
    .replace(/--nonce [0-9a-f]{8}/g, "--nonce <own>")
    .replace(/\([0-9a-f]{8}\)/g, "(<own>)")
    .replace(/packets\/([a-z-]+)\.[0-9a-f.]+\//g, "packets/$1/");
}

/** The views of a run, whoever they are for. */
function viewsOf(ledger: string): Readonly<Record<string, string>> {
  const views = ["state.json", "plan.dag.json", "intent.txt", join("artifacts", "result.patch")];
  return Object.fromEntries(
    views
      .filter((name) => existsSync(join(ledger, name)))
      .map((name) => [name, readFileSync(join(ledger, name), "utf8")]),
  );
}

conformance("fork determinism", ({ cell }) => {
  cell(
    "lines and artifacts of the parent",
    eachKind(async (parent) => {
      const before = linesIn(parent.stage.ledger());
      for (const at of [before.length, Math.ceil(before.length / 2)]) {
        const { ledger } = await forked(parent, at);
        const raw = (path: string) =>
          readFileSync(join(path, "log.jsonl"), "utf8").split("\n").filter(Boolean).slice(0, at);
        expect(raw(ledger)).toEqual(raw(parent.stage.ledger()));
        const named = shas(parent.stage.ledger());
        expect(named.length).toBeGreaterThan(0);
        expect(artifactsOf(ledger, named)).toEqual(artifactsOf(parent.stage.ledger(), named));
        await parent.session.run("abandon", "--run", ledger.split("/").at(-1) as string);
      }
    }),
  );

  cell(
    "its own line: id, no owner, no trees",
    eachKind(async (parent) => {
      const at = linesIn(parent.stage.ledger()).length;
      const { ledger, told } = await forked(parent, at);
      const [own, claimed] = linesIn(ledger).slice(at);
      const { id } = told.json.run as { readonly id: string };
      expect(own).toMatchObject({ seq: at + 1, run_id: id, events: [{ type: "forked", from: parent.id, at, id }] });
      // Nobody owned it: it was claimed anew, by a higher epoch, and whatever tree it has is one it made itself.
      expect(claimed?.events).toMatchObject([{ type: "claimed", epoch: told.epoch }]);
      expect(told.epoch).toBeGreaterThan(1);
      expect(JSON.stringify(told.next)).not.toContain(parent.id);
      const made = eventsIn(ledger).slice(eventsIn(parent.stage.ledger()).length);
      for (const event of made.filter((one) => one.type === "tree-ready")) {
        expect(existsSync(join(ledger, "worktree", String(event.name)))).toBe(true);
      }
    }),
  );

  cell(
    "the original stays untouched",
    eachKind(async (parent) => {
      const home = join(atlasOf(parent.stage), parent.id);
      // What hooks see they write beside every run that is open.
      const seen = ["observed.jsonl"];
      const before = fingerprint(home, seen);
      const { told } = await forked(parent, linesIn(parent.stage.ledger()).length);
      await scripted(parent.session, script).go(told);
      expect(fingerprint(home, seen)).toEqual(before);
    }),
  );

  cell(
    "twice, driven alike: instructions and views",
    eachKind(async (parent) => {
      const at = linesIn(parent.stage.ledger()).length;
      const seen: string[] = [];
      const views: unknown[] = [];
      for (let turn = 0; turn < 2; turn += 1) {
        parent.stage.again();
        const { told, ledger } = await forked(parent, at);
        const id = ledger.split("/").at(-1) as string;
        const run = scripted(parent.session, script);
        const end = await run.go(told);
        seen.push(plain([told.next, ...run.trail.map(({ next, told: { did } }) => ({ next, did })), end.next], id));
        views.push(Object.entries(viewsOf(ledger)).map(([name, text]) => [name, plain(text, id)]));
      }
      expect(seen[1]).toBe(seen[0]);
      expect(views[1]).toEqual(views[0]);
      expect(views[0]).not.toEqual([]);
    }),
  );
});
