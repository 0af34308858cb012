import { expect, test } from "vitest";
import { seat, shipped } from "../support/replay.ts";
import { mending } from "../support/scripted-agents.ts";
import { begin, eventsOf, logBytes, request, type Session, scripted } from "../support/scripted-run.ts";

const product = shipped();

test("C-43: every command sent twice counts once, and is answered with exit 0 both times", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const twice: Session = {
    ...session,
    async type(command) {
      const first = await session.type(command);
      const bytes = logBytes(world);
      const second = await session.type(command);
      expect([second.code, second.claim], `${command}: ${second.stdout}`).toEqual([0, first.claim]);
      expect(logBytes(world), command).toBe(bytes);
      return first;
    },
  };
  const started = await begin(session, request, "--headless");
  const again = await begin(session, request, "--headless");
  expect([again.code, again.next, again.claim]).toEqual([0, started.next, started.claim]);
  const told = await scripted(twice, { agents: { coder: mending } }).go(started, (next) => next.do === "run");
  expect(told.next).toMatchObject({ do: "run" });
  const once = (type: string) =>
    eventsOf(world)
      .filter((event) => event.type === type)
      .map(({ slot }) => slot);
  expect(once("filled")).toEqual(["triage", "scout", "plan", "coder"]);
  expect(once("leased")).toEqual(["scout", "coder"]);
});
