/**
 * An effect whose end is recorded never runs again; one whose end is not is probed first. Each is killed before it
 * begins, in the middle, after the act and before its record, and after its record.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { seeded } from "../crash/points.ts";
import { requirePtrace } from "../crash/strace.ts";
import { startHost } from "../support/host-process.ts";
import { workOf } from "../support/scripted-agents.ts";
import { begin, builtPlugin, gitIn, type Plugin, request, scripted, sit, type Told } from "../support/scripted-run.ts";
import { conformance, type Probe, rounds, seed } from "./cell.ts";
import { appendsOf, eventsIn, linesIn, makeStage, type Stage, strike } from "./stage.ts";

let plugin: Plugin;
const stages: Stage[] = [];
beforeAll(async () => {
  requirePtrace();
  plugin = await builtPlugin();
});
afterAll(() => {
  for (const stage of stages) stage.remove();
  plugin.remove();
});

interface Scene {
  readonly stage: Stage;
  /** The command in which the effects happen. */
  readonly words: readonly string[];
}

type Next<D extends Instruction["do"]> = Extract<Instruction, { do: D }>;
const ranFile = (stage: Stage): string => join(stage.folder, "ran");

function staged(original: string | null = null): Stage {
  const stage = makeStage(plugin, original);
  stages.push(stage);
  return stage;
}

async function goTo(
  stage: Stage,
  stop: (next: Instruction) => boolean,
  form: readonly string[],
  host = startHost(),
): Promise<Told> {
  const session = sit(stage.world, form.length > 0 ? { host } : {});
  if (form.length === 0) await session.hook("claude", "SessionStart", { source: "startup" });
  const packet = { ...request, verify_cmd: `node check.js && echo x >> ${ranFile(stage)}` };
  const told = await scripted(session, form.length === 0 ? { hooks: "claude" } : {}).go(
    await begin(session, packet, ...form),
    stop,
  );
  await host.kill();
  return told;
}

const scenes = {
  /** The coder's owner is dead, its half work lies in the run's tree: kept, removed, made anew, handed out. */
  async halfWork(): Promise<Scene> {
    const stage = staged();
    const told = await goTo(stage, (next) => next.do === "dispatch" && next.agents[0].slot === "coder", ["--headless"]);
    const { root } = workOf((told.next as Next<"dispatch">).agents[0] as Dispatch);
    writeFileSync(join(root, "src", "half.js"), "half of it\n");
    stage.keep();
    return { stage, words: ["resume"] };
  },
  async command(): Promise<Scene> {
    const stage = staged();
    await goTo(stage, (next) => next.do === "run", ["--headless"]);
    // The one who goes on lives.
    const told = await sit(stage.world).run("resume");
    stage.keep();
    return { stage, words: (told.next as Next<"run">).command.split(" ").slice(1) };
  },
  async delivery(): Promise<Scene> {
    const stage = staged();
    const told = await goTo(stage, (next) => next.do === "ask" && next.gate === "output", []);
    const { nonce, then } = told.next as Next<"ask">;
    await sit(stage.world).hook("claude", "UserPromptSubmit", { prompt: `atlas ${nonce} apply` });
    stage.keep();
    return { stage, words: then.replace("CHOICE", "apply").split(" ").slice(1) };
  },
  /** A foreign run whose dead turn left a working tree with something in it. */
  async deadTree(original: string, name: string): Promise<Scene> {
    const stage = staged(original);
    const id = original.startsWith("graph") ? "sess-g" : "sess-a";
    const tree = join(stage.world.project, ".atlas", id, name);
    mkdirSync(join(tree, ".."), { recursive: true });
    gitIn(stage.world.project, "worktree", "add", "-q", "-b", `atlas/${id}`, tree);
    writeFileSync(join(tree, "half.js"), "half of it\n");
    const adopted = strike(stage, ["resume"], { call: "write", at: 1, path: join(stage.ledger(), "log.jsonl") });
    expect(adopted.killed).toBe(true);
    stage.keep();
    return { stage, words: ["resume"] };
  },
} as const;

const cached = new Map<string, Promise<Scene>>();
function scene(name: string, make: () => Promise<Scene>): Promise<Scene> {
  const made = cached.get(name) ?? make();
  cached.set(name, made);
  return made;
}

const counted = [
  "tree-ready",
  "tree-kept",
  "tree-removed",
  "leased",
  "filled",
  "evidence",
  "labelled",
  "answered",
  "ended",
];

/** What the world shows of the effects, and the ledger of their ends. */
function factsOf(stage: Stage): unknown {
  const { project } = stage.world;
  const kept = gitIn(project, "for-each-ref", "--format=%(refname)", "refs/atlas")
    .split("\n")
    .filter((ref) => ref.includes("/kept/"));
  const patch = join(stage.ledger(), "artifacts", "result.patch");
  return {
    events: eventsIn(stage.ledger())
      .filter((event) => counted.includes(event.type))
      .map(({ type, slot, lease }) => [type, slot, lease]),
    trees: gitIn(project, "worktree", "list", "--porcelain")
      .split("\n")
      .filter((line) => line.startsWith("worktree ")).length,
    kept: kept.map((ref) => gitIn(project, "rev-parse", `${ref}^{tree}`)),
    ran: existsSync(ranFile(stage)) ? readFileSync(ranFile(stage), "utf8") : "",
    patch: existsSync(patch) ? readFileSync(patch, "utf8") : null,
    user: gitIn(project, "status", "--porcelain"),
  };
}

/** Goes on until nothing runs any more. */
async function settled(stage: Stage): Promise<Told> {
  for (;;) {
    const told = await sit(stage.world).run("resume", "--wait", "20");
    if (told.next?.do !== "wait") return told;
  }
}

/** `of`: the line that begins it; the next one records its end. `line`: it is that one line. */
function killedAround(
  { of, isOneLine = false }: { readonly of: (text: string) => boolean; readonly isOneLine?: boolean },
  make: () => Promise<Scene>,
): Probe {
  return async () => {
    const { stage, words } = await make();
    const log = join(stage.ledger(), "log.jsonl");
    const restart = (): void => {
      stage.again();
      writeFileSync(ranFile(stage), "");
    };
    restart();
    const before = linesIn(stage.ledger()).length;
    const { spawns } = appendsOf(stage, words, log);
    await settled(stage);
    const lines = linesIn(stage.ledger()).slice(before);
    const began = lines.findIndex((line) => of(JSON.stringify(line.events)));
    expect(began, JSON.stringify(lines.map((line) => line.events))).toBeGreaterThanOrEqual(0);
    const facts = factsOf(stage);
    const ended = isOneLine ? began : began + 1;
    const middle = spawns[ended] ?? [];
    const random = seeded(seed + began);
    const blows = {
      before: { call: "write", at: began + 1, path: log },
      "in the middle":
        middle.length === 0
          ? { call: "fsync", at: began + 1, path: log }
          : (middle[Math.floor(random() * middle.length)] as { call: string; at: number }),
      "before the record": { call: "write", at: ended + 1, path: log },
      "after the record": { call: "fsync", at: ended + 1, path: log },
    };
    for (const [at, [when, blow]] of Object.entries(blows).entries()) {
      // In the tests every second place, by the seed; `npm run conform` tries all.
      if (rounds === 1 && (at + seed + began) % 2 === 0) continue;
      restart();
      const struck = strike(stage, words, blow);
      expect(struck.killed, `${when} ${JSON.stringify(blow)}: ${struck.stdout}`).toBe(true);
      const told = await settled(stage);
      if (told.json.run !== null && words[0] === "answer" && told.next?.do === "ask")
        await sit(stage.world).run(...words);
      if (words[0] === "verify" && told.next?.do === "run") await sit(stage.world).run(...words);
      expect(factsOf(stage), when).toEqual(facts);
    }
  };
}

const begins = (key: string) => ({
  of: (text: string) => text.includes('"effect-began"') && text.includes(`"key":"${key}`),
});
const half = () => scene("half work", scenes.halfWork);
const dead = () => scene("dead tree", () => scenes.deadTree("single-03-triaged", "worktree"));
const deadGraph = () => scene("dead tree of a graph", () => scenes.deadTree("graph-006-nodes", "union-worktree"));
const leases = { of: (text: string) => text.includes('"leased"'), isOneLine: true };

conformance("effect exactly-once", ({ cell }) => {
  cell("make tree", { change: killedAround(begins("make-tree"), half) });
  cell("commit", {
    change: killedAround(begins("keep-tree"), half),
    "adopted change": killedAround(begins("keep-tree"), dead),
    "adopted graph": killedAround(begins("keep-tree"), deadGraph),
  });
  cell("remove tree", {
    change: killedAround(begins("remove-tree"), half),
    "adopted change": killedAround(begins("remove-tree"), dead),
    "adopted graph": killedAround(begins("remove-tree"), deadGraph),
  });
  cell("dispatch", { change: killedAround(leases, half), "adopted change": killedAround(leases, dead) });
  cell("verify", { change: killedAround(begins("run-command"), () => scene("command", scenes.command)) });
  cell("deliver", {
    change: killedAround({ of: (text) => text.includes('"answered"'), isOneLine: true }, () =>
      scene("delivery", scenes.delivery),
    ),
  });
});
