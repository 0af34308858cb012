/** Instructions and runs as short text that a person or a model can act on. Ids, paths and enumerations only. */
import type { Instruction } from "../core/kind.ts";
import type { RunView } from "../engine/run-view.ts";

export function sayInstruction(next: Instruction): string {
  switch (next.do) {
    case "dispatch":
      return [
        `do: dispatch ${next.agents.length} ${next.agents.length === 1 ? "agent" : "agents"}, all in one message, then hand each result in`,
        ...next.agents.flatMap((agent) => [
          `- agent ${agent.role} (slot ${agent.slot}, until ${agent.deadline})`,
          `  prompt: ${agent.prompt}`,
          `  result: ${agent.result}`,
          `  then: ${agent.then}`,
        ]),
      ].join("\n");
    case "submit":
      return [
        `do: submit ${next.slot}`,
        `recipe: ${next.recipe}`,
        `read: ${next.packet}`,
        `write: ${next.result}`,
        `then: ${next.then}`,
      ].join("\n");
    case "await":
      return [`do: await ${next.slots.join(" ")}`, `then: ${next.then}`, `if the agent is gone: ${next.lost}`].join(
        "\n",
      );
    case "ask":
      return [
        `do: ask the human at gate ${next.gate}`,
        `question: ${next.question}`,
        `options: ${next.options.join(" | ")}`,
        ...next.options.map((option, at) => `- ${option}: ${next.meanings[at]}`),
        `recipe: ${next.recipe}`,
        `show the human first: ${next.packet}`,
        `then: ${next.then}`,
      ].join("\n");
    case "run":
      return `do: run\nrun: ${next.command}`;
    case "wait":
      return `do: wait for ${next.until} (${next.why})\nthen: ${next.then}`;
    case "report":
      return [
        `do: report ${next.status}`,
        ...(next.artifact === null ? [] : [`patch: ${next.artifact}`]),
        ...(next.why === undefined || next.why.length === 0 ? [] : [`why: ${next.why.join(", ")}`]),
      ].join("\n");
    case "nothing":
      return `do: nothing (${next.why})`;
  }
}

export function sayRun(run: RunView): string {
  const { id, kind, origin, stage, progress, refine_passes: refine, owner, why } = run;
  const counted = progress.total === null ? "" : ` done=${progress.done}/${progress.total}`;
  const gas = run.gas === undefined ? "" : ` gas=${run.gas.spent}/${run.gas.spent + run.gas.left}`;
  const holder = owner === null ? "none" : owner.standing;
  const losses = run.losses.length === 0 ? "" : `\n  lost: ${run.losses.join(", ")}`;
  const graph =
    run.graph === undefined
      ? ""
      : `\n  graph: gas=${run.graph.gas} ready=${run.graph.ready.length} wave=${run.graph.wave.join(" ")}`;
  return `${id} kind=${kind} origin=${origin} stage=${stage} refine=${refine}/2${counted}${gas} owner=${holder} (${why})${graph}${losses}`;
}
