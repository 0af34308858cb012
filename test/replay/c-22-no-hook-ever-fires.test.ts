import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, idOf, installed, leaveResult, livingHost, shipped, typeInShell } from "../support/replay.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { scout } from "../support/scripted-agents.ts";
import { begin, eventsOf, request, scripted, sessionId, sit } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

const product = shipped();

test("C-22: where no hook ever fires, the skill's own line carries the run on from the same step", async () => {
  const world = { ...product.world(), plugin: installed(product, join(tempFolder(), "a b")) };
  const first = livingHost();
  const a = sit(world, { host: first });
  const told = await scripted(a).go(await begin(a, request, "--headless"), (next) => next.do === "dispatch");
  await first.kill();

  // As the host fills the skill in.
  const skill = readFileSync(join(repositoryRoot, "skills", "atlas-resume", "SKILL.md"), "utf8");
  const line = /`(node "\$\{KIMI_SKILL_DIR\}.*)`/.exec(skill)?.[1] as string;
  const filled = line
    .replaceAll("${KIMI_SKILL_DIR}", join(world.plugin.root, "skills", "atlas-resume"))
    .replaceAll("${KIMI_SESSION_ID}", `session_${sessionId(2)}`);
  const host = livingHost();
  const seat = { host, session: sit(world, { host }) };
  const typed = await typeInShell(world, filled, { seat });
  expect(typed.stdout, typed.stderr).toContain(`LEASE ${idOf(told)} scout#2@2`);
  const then = /then: (atlas submit .*)$/m.exec(typed.stdout)?.[1] as string;
  const next = await seat.session.type(then.replace("submit", "next").replace(" --slot scout", ""));
  leaveResult(agentOf(next), scout);
  expect((await seat.session.type(then)).next).toMatchObject({ do: "submit", slot: "plan" });
  expect(eventsOf(world).filter(({ type }) => type === "claimed")).toMatchObject([
    {},
    { owner: { session: `session_${sessionId(2)}`, pid: host.pid } },
  ]);
});
