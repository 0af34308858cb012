/** The kind's next step as an instruction: with paths, the claim, and the command that goes on. */
import { join } from "node:path";
import type { Dispatch, Instruction, Step } from "../core/kind.ts";
import type { NonEmpty } from "../core/result.ts";
import { change } from "../kinds/change/kind.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { changeSlots, isSlotName } from "../parts/slots.ts";
import { tokenOf } from "./change-run.ts";
import { type Engine, watchSeconds } from "./context.ts";
import { packetPath, promptOf } from "./hand-out.ts";
import type { AnyState } from "./kinds.ts";
import { labelNow } from "./label-now.ts";
import type { Loaded } from "./ledger.ts";
import { meaningsOf, questionOf } from "./questions.ts";
import { resultPath } from "./results.ts";
import { rootPacketPath } from "./root-packets.ts";

/** `printed`: leases whose dispatch somebody has in hand already; only the others are printed again. */
export function instructionFor(
  engine: Engine,
  loaded: Loaded<AnyState>,
  printed: ReadonlySet<string> = new Set(),
): Instruction {
  return instruction(engine, loaded, unprinted(loaded.kind.next(loaded.state), printed));
}

function unprinted(step: Step, printed: ReadonlySet<string>): Step {
  if (step.step !== "dispatch") return step;
  const leases = step.leases.filter((lease) => !printed.has(lease));
  return leases.length > 0 ? { step: "dispatch", leases } : { step: "await", slots: step.leases.map(slotOf) };
}

/** Slot name and file of an awaited submit: `<slot>.<pass>`. */
export function awaitedOf(loaded: Loaded<ChangeState>): string | null {
  const step = loaded.kind.next(loaded.state);
  return step.step === "submit" ? `${step.slot}.${passOfState(loaded.state)}` : null;
}

function instruction(engine: Engine, loaded: Loaded<AnyState>, step: Step): Instruction {
  const run = loaded.folder.id;
  const claim = tokenOf(loaded);
  const withClaim = `--run ${run} --claim ${claim}`;
  const wait = `atlas resume ${withClaim} --wait ${watchSeconds(engine)}`;
  switch (step.step) {
    case "dispatch":
      return {
        do: "dispatch",
        agents: step.leases.map((lease) =>
          dispatchOf(loaded as Loaded<ChangeState>, lease, withClaim),
        ) as unknown as NonEmpty<Dispatch>,
        then:
          step.leases.length === 1
            ? `atlas submit ${withClaim} --slot ${slotOf(step.leases[0] as string)}`
            : `atlas submit ${withClaim} --slot SLOT`,
      };
    case "await":
      return {
        do: "await",
        slots: step.slots as NonEmpty<string>,
        then: wait,
        lost: `atlas resume ${withClaim} --redo ${step.slots[0]}`,
      };
    case "submit": {
      const extension = isSlotName(step.slot) ? changeSlots[step.slot].extension : "json";
      const pass = passOfState((loaded as Loaded<ChangeState>).state);
      return {
        do: "submit",
        slot: step.slot,
        recipe: recipePath(engine, loaded, step.recipe),
        packet: rootPacketPath(loaded as Loaded<ChangeState>, step.slot),
        result: join(loaded.folder.ledger, "results", `${step.slot}.${pass}.${extension}`),
        then: `atlas submit ${withClaim} --slot ${step.slot}`,
      };
    }
    case "ask":
      return {
        do: "ask",
        gate: step.gate,
        nonce: step.nonce,
        question: questionOf(step, loaded.state as Partial<ChangeState>),
        options: step.options,
        meanings: meaningsOf(step.gate, step.options),
        recipe: recipePath(engine, loaded, step.gate === "output" ? "output" : "gates"),
        packet: rootPacketPath(loaded as Loaded<ChangeState>, step.gate),
        // Words go through a file: no text of anybody's stands in a command.
        then: `atlas answer ${withClaim} --gate ${step.gate} --nonce ${step.nonce} --choice ${step.gate === "clarify" ? "text --text FILE" : "CHOICE"}`,
      };
    case "run":
      return { do: "run", command: `atlas ${step.verb} ${withClaim}` };
    case "wait":
      return { do: "wait", until: "the command's result", why: step.why, then: wait };
    case "report":
      return { do: "report", artifact: reportArtifact(loaded), ...statusNow(engine, loaded, step.status) };
    case "nothing":
      return { do: "nothing", why: step.why };
    case "hand-out":
    case "settle":
      return { do: "run", command: `atlas resume ${withClaim}` };
  }
}

function recipePath(engine: Engine, loaded: Loaded<AnyState>, recipe: string): string {
  return join(engine.pluginRoot, "references", "recipes", loaded.kind.name, `${recipe}.md`);
}

function dispatchOf(loaded: Loaded<ChangeState>, token: string, withClaim: string): Dispatch {
  const lease = loaded.state.leases.live.find((live) => live.lease === token)!;
  return {
    slot: lease.slot,
    role: lease.role,
    packet: packetPath(loaded, token),
    result: resultPath(loaded.folder, token),
    lease: token,
    deadline: lease.deadline,
    prompt: promptOf(loaded, token),
    then: `atlas submit ${withClaim} --slot ${lease.slot}`,
  };
}

/** Where a patch of the run's change lies once it has one. */
export function reportArtifact(loaded: Loaded<AnyState>): string | null {
  const state = loaded.state as Partial<ChangeState>;
  return state.checkpoint == null || state.base == null
    ? null
    : join(loaded.folder.ledger, "artifacts", "result.patch");
}

/** A green end is printed green only while it still holds. */
function statusNow(
  engine: Engine,
  loaded: Loaded<AnyState>,
  status: Extract<Step, { step: "report" }>["status"],
): Pick<Extract<Instruction, { do: "report" }>, "status" | "why"> {
  if (loaded.kind.name !== change.name) return { status, why: [] };
  const run = loaded as Loaded<ChangeState>;
  const { label, reasons } = labelNow(engine, run);
  const { delivery } = run.state;
  const undelivered = delivery !== null && !delivery.done ? ["delivery.unfinished"] : [];
  const now = status === "verified" && label !== "VERIFIED" ? "unverified" : status;
  return { status: now, why: [...undelivered, ...reasons] };
}

function passOfState(state: ChangeState): number {
  return "pass" in state.phase ? state.phase.pass : 0;
}

function slotOf(lease: string): string {
  return lease.slice(0, lease.indexOf("#"));
}
