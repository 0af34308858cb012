/** Two sessions in one folder, each with a run of its own: at most one of them works in the user's tree. */
import { appendFileSync, cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import {
  builtPlugin,
  eventsOf,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  type Session,
  scripted,
  type Told,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";
import { type Actor, allAtOnce, seated, startActor } from "./actor.ts";

const rounds = 6;

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const idOf = (told: Told) => (told.json.run as { id: string }).id;

function actorIn(world: World): Actor {
  const actor = startActor(world);
  onTestFinished(() => actor.kill());
  return actor;
}

interface Side {
  readonly actor: Actor;
  readonly session: Session;
  readonly id: string;
  readonly claim: string;
  /** The last answer before its coder is handed out. */
  readonly answer: readonly string[];
}

/** A session of its own process, whose run's plan is approved and whose command waits for its answer. */
async function waiting(world: World, name: string): Promise<Side> {
  const actor = actorIn(world);
  const session = seated(world, actor);
  const packet = join(world.project, "..", `${name}.json`);
  writeFileSync(packet, JSON.stringify({ ...request, intent: `Mend it, says ${name}.` }));
  const begun = await session.run("start", "change", "--packet", packet);
  expect(begun.code, begun.stdout).toBe(0);
  const gates = { "pre-code": "approve" };
  const asked = await scripted(session, { gates }).go(
    begun,
    (next) => next.do === "ask" && next.gate === "approve-command",
  );
  const { then, nonce } = asked.next as Extract<Instruction, { do: "ask" }>;
  // What a hook of its host writes down of the human's prompt.
  const by = (begun.json.run as { readonly owner: { readonly session: string } }).owner.session;
  const typed = { v: 1, type: "typed", nonce, choice: "approve", host: "claude", session: by };
  appendFileSync(join(runFolder(world, idOf(begun)), "observed.jsonl"), `${JSON.stringify(typed)}\n`);
  const answer = then.replace("CHOICE", "approve").split(" ").slice(1);
  return { actor, session, id: idOf(begun), claim: begun.claim, answer };
}

const codersOf = (world: World, id: string) =>
  eventsOf(world, id).filter((event) => event.type === "leased" && event.slot === "coder").length;

describe("two interactive sessions in one folder", () => {
  test(`that come to their coders at the same moment, ${rounds} times over: one gets its coder, the other is told which run works there`, async () => {
    const folder = tempFolder();
    const world = makeWorld(plugin, folder);
    const sides = [await waiting(world, "one"), await waiting(world, "two")] as const;
    const atlas = join(world.project, ".atlas");
    const kept = join(folder, "kept");
    cpSync(atlas, kept, { recursive: true });
    const both = sides.map(({ actor }) => actor);
    for (let round = 0; round < rounds; round += 1) {
      const told = await allAtOnce(world, both, (at) => sides[at]?.answer ?? []);
      const winners = sides.filter((_side, at) => told[at]?.code === 0);
      expect(winners, told.map((one) => one.stdout).join("")).toHaveLength(1);
      const [winner] = winners as [Side];
      const loser = sides.find((side) => side !== winner) as Side;
      const refused = told.find((one) => one.code !== 0) as Told;
      expect([refused.code, refused.refused.code]).toEqual([3, "tree.in_use"]);
      expect(refused.refused.fix).toBe(`atlas resume --run ${winner.id}`);
      expect([codersOf(world, winner.id), codersOf(world, loser.id)]).toEqual([1, 0]);
      // Over and over again it is refused, until the other is over.
      const again = await loser.session.run("resume", "--run", loser.id);
      const retold = again.next?.do === "ask" ? await loser.session.run(...loser.answer) : again;
      expect([retold.code, retold.refused?.code], retold.stdout).toEqual([3, "tree.in_use"]);
      expect(codersOf(world, loser.id)).toBe(0);
      await winner.session.run("abandon", "--run", winner.id);
      const after = await loser.session.run("resume", "--run", loser.id);
      const free = after.next?.do === "ask" ? await loser.session.run(...loser.answer) : after;
      expect(free.next, free.stdout).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
      rmSync(atlas, { recursive: true });
      cpSync(kept, atlas, { recursive: true });
    }
  });
});
