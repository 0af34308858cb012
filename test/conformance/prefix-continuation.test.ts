/** After any death every acknowledged line is there, in one gapless prefix, and the run goes on behind it. */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { buildSync } from "esbuild";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { seeded } from "../crash/points.ts";
import { requirePtrace } from "../crash/strace.ts";
import { cliEnvironment, repositoryRoot } from "../support/run-cli.ts";
import { type Agent, content, mending, scout } from "../support/scripted-agents.ts";
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
import { keptFolder } from "../support/temp.ts";
import { conformance, rounds, seed } from "./cell.ts";
import type { Kind } from "./cells.ts";
import { leftBehind, originals } from "./kind-ledgers.ts";
import { linesIn, makeStage, type Stage, strike } from "./stage.ts";

const appendsMin = 200;

let plugin: Plugin;
const script = keptFolder();
const claimer = join(script.path, "claimer.cjs");
beforeAll(async () => {
  requirePtrace();
  plugin = await builtPlugin();
  buildSync({
    absWorkingDir: repositoryRoot,
    entryPoints: ["test/conformance/claimer-entry.ts"],
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile: claimer,
  });
});
afterAll(() => {
  script.remove();
  plugin.remove();
});

const stages: Stage[] = [];
afterEach(() => {
  for (const stage of stages.splice(0)) stage.remove();
});

/** Everything accepted once stands, whatever came after. */
function watching(stage: Stage): () => void {
  let before: readonly string[] = [];
  return () => {
    const now = linesIn(stage.ledger()).map((line) => line.sum);
    expect(now.slice(0, before.length)).toEqual(before);
    before = now;
  };
}

const hasRun = (stage: Stage): boolean => {
  try {
    return existsSync(join(stage.ledger(), "log.jsonl"));
  } catch {
    return false;
  }
};

/** How a command of a life dies; false: it was over before. */
type Death = (words: readonly string[]) => Promise<boolean>;

/** A session whose every command dies once and is recovered from, as a user would: by resuming. */
function mortal(stage: Stage, death: Death): Session {
  const session = sit(stage.world);
  const check = watching(stage);
  const died = new Set<string>();
  const run = async (...words: readonly string[]): Promise<Told> => {
    const isFirst = !died.has(words.join(" "));
    died.add(words.join(" "));
    const isDead = isFirst && (await death(words));
    if (hasRun(stage)) check();
    // Nothing was opened, or nobody knows whether it was: a packet started again is the same run.
    const told = await session.run(...(isDead && words[0] !== "start" ? ["resume", "--wait", "20"] : words));
    check();
    // A run that ended is nothing to resume: its end is told by its id.
    return told.json.run === null ? await session.run("next", "--run", idOf(stage)) : told;
  };
  return { ...session, run, type: (command) => run(...command.split(" ").slice(1)) };
}

/** Of a foreign run the folder above. */
const idOf = (stage: Stage): string => basename(stage.ledger().replace(/.adopted$/, ""));

const worksFile = (stage: Stage): string => join(stage.folder, "works");
const marked = (stage: Stage, name: string, play: Agent): Agent => {
  return (work) => {
    appendFileSync(worksFile(stage), `${name}\n`);
    return play(work);
  };
};

/** A whole life of a run: its agents and its command leave a mark of every time they worked. */
async function live(kind: Kind, deathOf: (stage: Stage) => Death): Promise<readonly string[]> {
  const stage = makeStage(plugin, originals[kind]);
  stages.push(stage);
  const session = mortal(stage, deathOf(stage));
  await session.hook("claude", "SessionStart", { source: "startup" });
  const agents = Object.fromEntries(
    Object.entries({ scout, coder: mending, correctness: content, "code-quality": content, security: content }).map(
      ([name, play]) => [name, marked(stage, name, play)],
    ),
  );
  const packet = { ...request, verify_cmd: `node check.js && echo command >> ${worksFile(stage)}` };
  const play: Script = { hooks: "claude", agents, gates: { output: "apply" } };
  const first = kind === "change" ? await begin(session, packet) : await session.run("resume");
  const end = await scripted(session, play).go(first);
  if (kind === "adopted graph") await session.run("abandon", "--run", "sess-g");
  else expect(end.next.do, end.stdout).toBe("report");
  const stagesDone = linesIn(stage.ledger()).flatMap((line) => line.stage ?? []);
  const works = existsSync(worksFile(stage)) ? readFileSync(worksFile(stage), "utf8").split("\n").filter(Boolean) : [];
  return [...stagesDone, ...works.sort()];
}

const immortal = async (): Promise<boolean> => false;

/** Killed at a call a seed chooses among all that such a command makes. */
function atCall(random: () => number, known: Map<string, ReadonlyMap<string, number>>): (stage: Stage) => Death {
  return (stage) => async (words) => {
    const name = words
      .slice(0, words[0] === "submit" ? 7 : 1)
      .filter((word) => /^[a-z-]+$/.test(word))
      .join(" ");
    const counts = [
      ...(known.get(name) ??
        new Map([
          ["openat", 60],
          ["write", 4],
          ["fsync", 6],
          ["rename", 4],
        ])),
    ];
    const [call, count] = counts[Math.floor(random() * counts.length)] as [string, number];
    return strike(stage, words, { call, at: 1 + Math.floor(random() * count) }).killed;
  };
}

/** Killed at a moment of chance. */
function atMoment(random: () => number): (stage: Stage) => Death {
  return (stage) => (words) => {
    const { world } = stage;
    const child = spawn(process.execPath, [world.plugin.cli, ...words, "--json"], {
      cwd: world.project,
      env: cliEnvironment(world.env),
      stdio: "ignore",
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), 20 + random() * 300);
    return new Promise((resolve) =>
      child.once("close", (_code, signal) => {
        clearTimeout(timer);
        resolve(signal === "SIGKILL");
      }),
    );
  };
}

const whole = new Map<Kind, readonly string[]>();

async function likeWhole(kind: Kind, deathOf: (random: () => number) => (stage: Stage) => Death): Promise<void> {
  const alive = whole.get(kind) ?? (await live(kind, () => immortal));
  whole.set(kind, alive);
  for (let round = 0; round < rounds; round += 1) {
    expect(await live(kind, deathOf(seeded(seed + round))), `round ${round}`).toEqual(alive);
  }
}

async function appendsUnderKills(kind: Kind): Promise<void> {
  const { stage, id } = await leftBehind(plugin, kind, "gone");
  stages.push(stage);
  const random = seeded(seed);
  const acknowledged: string[] = [];
  const before = linesIn(stage.ledger()).length;
  let kills = 0;
  while (acknowledged.length < appendsMin * rounds) {
    const child = spawn(process.execPath, [claimer, stage.ledger(), id, stage.world.project], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    const aim = 1 + Math.floor(random() * 25);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.split("\n").length > aim) setTimeout(() => child.kill("SIGKILL"), random() * 5);
    });
    await new Promise((resolve) => child.once("close", resolve));
    kills += 1;
    acknowledged.push(...said.split("\n").slice(0, -1));
  }
  const lines = linesIn(stage.ledger());
  expect(lines.map((line) => line.seq)).toEqual(Array.from(lines, (_line, at) => at + 1));
  const stands = new Set(lines.map((line) => `${line.seq} ${line.sum}`));
  expect(acknowledged.filter((line) => !stands.has(line))).toEqual([]);
  // At most one line each that was killed before it could be said.
  expect(lines.length - before - acknowledged.length).toBeLessThanOrEqual(kills);
  expect(kills).toBeGreaterThan(5);
  // And the run goes on behind them.
  expect((await sit(stage.world).run("resume", "--run", id)).code).toBe(0);
}

conformance("prefix continuation", ({ cell }) => {
  const atCalls = (kind: Kind) => likeWhole(kind, (random) => atCall(random, new Map()));
  cell("killed at a system call of each writing command", {
    change: () => atCalls("change"),
    "adopted change": () => atCalls("adopted change"),
    "adopted graph": () => atCalls("adopted graph"),
  });
  cell("acknowledged appends under random kills", {
    change: () => appendsUnderKills("change"),
    "adopted change": () => appendsUnderKills("adopted change"),
    "adopted graph": () => appendsUnderKills("adopted graph"),
  });
  cell("finished steps by their side effects", {
    change: () => likeWhole("change", atMoment),
    "adopted change": () => likeWhole("adopted change", atMoment),
  });
});
