/** What the lines of a ledger tell a report: stages, hand-outs, and what each claim carried on or did again. */
import type { EventBase } from "../core/kind.ts";
import type { Line } from "../core/line.ts";
import type { ChangeEvent } from "../kinds/change/events.ts";
import { filledKey } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import type { CommandRole } from "../verify/command-role.ts";

export interface StageSpan {
  readonly stage: string;
  /** The line after the one that completed the stage before. */
  readonly fromSeq: number;
  /** The line that completed it. */
  readonly toSeq: number;
}

export interface Dispatch {
  readonly role: string;
  readonly lease: string;
  /** `live`, or why the lease ended. */
  readonly end: string;
}

export interface Resumption {
  readonly epoch: number;
  /** The stage completed last before it; null: none. */
  readonly from: string | null;
  readonly seq: number;
  readonly why: string;
  /** Stages that were not done again, answers and commands of the dead turn that were taken. */
  readonly adopted: readonly string[];
  /** Slots and commands that were begun before and had to be begun anew. */
  readonly redone: readonly string[];
}

export interface MeasuredCommand {
  readonly pass: Pass;
  readonly role: CommandRole;
  readonly ending: string;
  /** sha-256 of what it left. */
  readonly record: string;
}

export interface SlotLease {
  readonly slot: string;
  readonly ended: boolean;
  readonly started: boolean;
  /** A hook wrote the agent's own last words. */
  readonly spoken: boolean;
}

export interface LinesTold {
  readonly stages: readonly StageSpan[];
  readonly dispatches: readonly Dispatch[];
  readonly resumed: readonly Resumption[];
  readonly commands: readonly MeasuredCommand[];
  readonly leases: ReadonlyMap<string, SlotLease>;
}

interface Turn {
  readonly entry: { -readonly [K in keyof Resumption]: Resumption[K] } & { adopted: string[]; redone: string[] };
  /** Slots by lease that were out when the claim was made. */
  readonly out: Map<string, string>;
  /** The command that ran then. */
  readonly command: string | null;
}

export function readLines(lines: readonly Line<EventBase>[]): LinesTold {
  const walk = new Walk();
  for (const line of lines) for (const event of line.events as readonly ChangeEvent[]) walk.take(event, line.seq);
  return walk.told();
}

class Walk {
  private readonly stages: StageSpan[] = [];
  private readonly ends = new Map<
    string,
    { role: string; slot: string; end: string; started: boolean; spoken: boolean }
  >();
  private readonly commands: MeasuredCommand[] = [];
  private readonly turns: Turn[] = [];
  private epoch = 0;
  private running: string | null = null;

  take(event: ChangeEvent, seq: number): void {
    switch (event.type) {
      case "stage":
        this.stages.push({ stage: event.stage, fromSeq: (this.stages.at(-1)?.toSeq ?? 0) + 1, toSeq: seq });
        return;
      case "claimed":
        this.epoch = event.epoch;
        if (event.epoch > 1) this.begin(event.why, this.stages.at(-1)?.stage ?? null, this.done(), seq);
        return;
      case "adopted":
        this.begin("adopted", event.stage, event.stages, seq);
        return;
      case "leased":
        this.leased(event);
        return;
      case "lease-started":
      case "lease-ended": {
        const lease = this.ends.get(event.lease);
        if (lease === undefined) return;
        if (event.type === "lease-started") lease.started = true;
        else lease.end = event.why;
        return;
      }
      case "filled":
        this.filled(event);
        return;
      case "effect-began":
        if (event.key.startsWith("run-command:")) this.running = event.key;
        return;
      case "command-lost":
        if (this.turn()?.command === this.running && this.running !== null)
          this.turn()?.entry.redone.push(this.running);
        return;
      case "measured": {
        const { pass, of: role, ending, sha256: record } = event;
        this.commands.push({ pass, role, ending, record });
        this.settled();
        return;
      }
      default:
        return;
    }
  }

  told(): LinesTold {
    const leases = [...this.ends].map(
      ([lease, { slot, end, started, spoken }]) => [lease, { slot, ended: end !== "live", started, spoken }] as const,
    );
    return {
      stages: this.stages,
      dispatches: [...this.ends].map(([lease, { role, end }]) => ({ role, lease, end })),
      resumed: this.turns.map(({ entry }) => entry),
      commands: this.commands,
      leases: new Map(leases),
    };
  }

  private begin(why: string, from: string | null, adopted: readonly string[], seq: number): void {
    const live = [...this.ends]
      .filter(([, { end }]) => end === "live")
      .map(([lease, { slot }]) => [lease, slot] as const);
    this.turns.push({
      entry: { epoch: this.epoch, from, seq, why, adopted: [...adopted], redone: [] },
      out: new Map(live),
      command: this.running,
    });
  }

  private turn(): Turn | undefined {
    return this.turns.at(-1);
  }

  private done(): readonly string[] {
    return [
      ...(this.turns[0]?.entry.why === "adopted" ? this.turns[0].entry.adopted : []),
      ...this.stages.map(({ stage }) => stage),
    ];
  }

  private leased({ lease, slot, role }: Extract<ChangeEvent, { type: "leased" }>): void {
    const turn = this.turn();
    const before = turn === undefined ? undefined : [...turn.out].find(([, other]) => other === slot)?.[0];
    if (turn !== undefined && before !== undefined) {
      turn.out.delete(before);
      turn.entry.redone.push(slot);
    }
    this.ends.set(lease, { role, slot, end: "live", started: false, spoken: false });
  }

  private filled({ slot, pass, lease, via }: Extract<ChangeEvent, { type: "filled" }>): void {
    if (lease === null) return;
    const held = this.ends.get(lease);
    if (held !== undefined && via === "hook") held.spoken = true;
    const turn = this.turn();
    if (turn?.out.delete(lease) === true) turn.entry.adopted.push(filledKey(slot, pass));
  }

  /** A command that ran over the claim and ended by itself was not run again. */
  private settled(): void {
    const turn = this.turn();
    const { running } = this;
    this.running = null;
    if (running === null || turn?.command !== running || turn.entry.redone.includes(running)) return;
    turn.entry.adopted.push(running);
  }
}
