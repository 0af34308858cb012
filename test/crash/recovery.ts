/** What a user, or the model, does after something was killed: resume, and follow what is printed to the end. */
import { type Script, type Session, scripted, type Told } from "../support/scripted-run.ts";
import { markingAgents } from "./agents-work.ts";
import type { CrashWorld } from "./crash-world.ts";
import { acceptedOf, lostLines, type ReadRun, readRuns } from "./read-runs.ts";
import type { Scenario, Victim } from "./scenario.ts";

/** Everything that was accepted once must stand after every single command. Throws what is wrong. */
function watched(world: CrashWorld, session: Session): Session {
  let before = acceptedOf(readRuns(world));
  let last: Told | null = null;
  const noted = (told: Told): Told => {
    const now = acceptedOf(readRuns(world));
    const lost = lostLines(before, now);
    if (lost.length > 0) throw new Error(lost.join("; "));
    before = now;
    last = told;
    return told;
  };
  return {
    ...session,
    run: async (...words) => noted(await session.run(...words)),
    async type(command) {
      // Results that lie there were all taken with the first: the others have nothing left to say.
      if (last?.next?.do === "report" && command.startsWith("atlas submit ")) return last;
      const awaited = last?.next?.do === "await" ? last.next : null;
      if (awaited === null) return noted(await session.type(command));
      // Nobody works here while the root waits: an agent that said nothing by now is gone.
      const told = noted(await session.type(command.replace(/--wait \d+/, "--wait 1")));
      return told.next?.do === "await" ? noted(await session.type(awaited.lost)) : told;
    },
  };
}

export interface Recovery {
  readonly world: CrashWorld;
  readonly session: Session;
  readonly scenario: Scenario;
  readonly victim: Victim;
  /** Another host than the one the run was left by. */
  readonly isNewHost: boolean;
  /** Asked after each of the first commands: whether from a world as it is now a run was driven to its end before. */
  readonly isKnown: (after: string) => boolean;
}

/** Drives every run of the world to its end; false: not needed, the way from here is known. */
export async function recover({ world, session, scenario, victim, isNewHost, isKnown }: Recovery): Promise<boolean> {
  const user = watched(world, session);
  if (isNewHost && scenario.script.hooks !== undefined) {
    await user.hook("claude", "SessionStart", { source: "resume" });
  }
  if (scenario.isUndone?.(world) === true) {
    await again(user, victim);
    if (isKnown("typed again")) return false;
  }
  const resumed = await user.run("resume");
  if (resumed.code === 0 && isKnown("resumed")) return false;
  await follow(user, scenario.script, resumed, world);
  return true;
}

async function again(user: Session, victim: Victim): Promise<void> {
  const words = victim.words.filter((word) => word !== "--json");
  const told = await user.run(...words);
  // The claim it carries may be an older epoch's: whoever resumed has a newer one.
  if (told.code === 3 && told.refused.code === "claim.stale") {
    const { claim } = await user.run("resume");
    const done = await user.run(...words.with(words.indexOf("--claim") + 1, claim));
    if (done.code !== 0) throw new Error(`typed again: ${done.stdout}`);
  } else if (told.code !== 0) throw new Error(`typed again: ${told.stdout}${told.stderr}`);
}

async function follow(user: Session, script: Script, resumed: Told, world: CrashWorld): Promise<void> {
  if (resumed.code !== 0) throw new Error(`resume: ${resumed.stdout}${resumed.stderr}`);
  if (resumed.json.run === null) {
    const unfinished = readRuns(world).filter((run) => !isOver(run));
    if (unfinished.length > 0) throw new Error(`resume finds nothing, and ${unfinished[0]?.id} is not over`);
    if (readRuns(world).length === 0) throw new Error("there is no run");
    const run = readRuns(world).at(-1) as ReadRun;
    const told = await user.run("next", "--run", run.id);
    if (told.next?.do !== "report") throw new Error(`a finished run says ${told.stdout}${told.stderr}`);
    return;
  }
  const told = await scripted(user, { ...script, agents: markingAgents(world) }).go(resumed);
  if (told.next.do !== "report") throw new Error(`the run stops at ${JSON.stringify(told.next)}`);
}

function isOver(run: ReadRun): boolean {
  return run.events.some((event) => event.type === "ended" || event.type === "abandoned");
}
