/** A barrier inside the model: the first question that passes gets no answer until the test says so. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Call, Conversation } from "../../support/mock-model.ts";
import { promptOf } from "../../support/obeying-agent.ts";
import type { HostProcess } from "./world.ts";

const reachedMs = 60_000;

export interface Hold {
  /** For the model: answers nothing itself. */
  readonly before: (asked: Conversation) => Promise<null>;
  /** Resolves when the model is asked; rejects with what the host said where it ends before, and after a minute. */
  readonly reachedBy: (host: HostProcess) => Promise<void>;
  readonly release: () => void;
}

export function hold(passes: (asked: Conversation) => boolean): Hold {
  let [arrive, release] = [(): void => {}, (): void => {}];
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isUsed = false;
  return {
    reachedBy: (host) => Promise.race([reached, endedEarly(host), tooLate(host)]),
    release: () => release(),
    async before(asked) {
      if (isUsed || !passes(asked)) return null;
      isUsed = true;
      arrive();
      await released;
      return null;
    },
  };
}

async function endedEarly(host: HostProcess): Promise<never> {
  const { code, stdout, stderr } = await host.ended;
  throw new Error(`the host ended (${code}) before the model was asked: ${stdout}${stderr}`);
}

async function tooLate(host: HostProcess): Promise<never> {
  await sleep(reachedMs, undefined, { ref: false });
  throw new Error(`the model was not asked within ${reachedMs} ms: ${host.printed()}`);
}

export function isAgentAsked(asked: Conversation): boolean {
  return promptOf(asked) !== null;
}

/** The coder has written its file, and has not said so yet. */
export function isCoderDone(asked: Conversation): boolean {
  return isAgentAsked(asked) && asked.spoken.some((one) => one.by === "model" && one.calls.some(isWrite));
}

function isWrite({ name }: Call): boolean {
  return name === "Write";
}
