/**
 * Results of leases: the file an agent's last message became (a hook wrote it), or that the root wrote for it. A file
 * proves nothing until it has passed its slot's door.
 */
import { join } from "node:path";
import { decodeUtf8 } from "../core/json.ts";
import { leaseFileBase } from "../core/lease-file.ts";
import { type LeaseLine, leaseOfMessage, roleOf } from "../core/lease-line.ts";
import type { RefusalCode, Result } from "../core/result.ts";
import { ok, refuse } from "../core/result.ts";
import type { ChangeCommand } from "../kinds/change/decide.ts";
import { check, type DoorContext } from "../kinds/change/doors.ts";
import { hasListedCommands } from "../kinds/change/listed-commands.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { type Lease, liveLease } from "../parts/lease.ts";
import { changeSlots, isSlotName, type SlotName } from "../parts/slots.ts";
import { entryKind, listFolder, makeFolder, readBounded, removeQuietly, replaceFile } from "../platform/files.ts";
import { sha256 } from "../platform/hash.ts";
import { writeArtifact } from "./artifacts.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf, userTree, workRoot } from "./effects.ts";
import { readObserved } from "./human.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { halfTheMachine } from "./memory.ts";

type SubmitCommand = Extract<ChangeCommand, { do: "submit" }>;

export type Probe =
  | { readonly is: "absent" }
  | { readonly is: "taken"; readonly command: SubmitCommand }
  /** `final`: a hook saw the agent end, so nothing better will come. */
  | { readonly is: "malformed"; readonly code: RefusalCode; readonly final: boolean };

export function resultPath(folder: RunFolder, lease: string): string {
  return join(folder.ledger, "results", `${leaseFileBase(lease)}.out`);
}

/** What lies there as result of a slot's n-th lease, of whatever epoch it was. */
export function resultsOf(engine: Engine, folder: RunFolder, slot: string, attempt: number): readonly string[] {
  const results = join(folder.ledger, "results");
  return listFolder(engine.fs, results)
    .filter((name) => name.startsWith(`${slot}.${attempt}.`) && name.endsWith(".out"))
    .map((name) => join(results, name));
}

/** Whether the result of a lease lies there and is one; its artifact is durable when `taken` is said. */
export function probeLease(engine: Engine, loaded: Loaded<ChangeState>, lease: Lease): Probe {
  if (!isSlotName(lease.slot)) return { is: "absent" };
  const read = readBounded(engine.fs, resultPath(loaded.folder, lease.lease), changeSlots[lease.slot].bytesMax);
  if (read.kind === "absent") return { is: "absent" };
  const final = wasSeenStopping(engine, loaded.folder, lease);
  if (read.kind === "bad") return { is: "malformed", code: "slot.bad_file", final };
  const via = final ? "hook" : "relayed";
  const made = submission(engine, loaded, lease.slot, read.bytes, via);
  // A report that names another lease would be refused for as long as it lies there.
  if (made.ok && made.value.lease !== null && made.value.lease !== lease.lease) {
    return { is: "malformed", code: "lease.stale", final };
  }
  return made.ok ? { is: "taken", command: made.value } : { is: "malformed", code: made.error.code, final };
}

/** Whether the result of a lease lies there and would be taken. Writes nothing. */
export function wouldTake(engine: Engine, loaded: Loaded<ChangeState>, lease: Lease): boolean {
  if (!isSlotName(lease.slot)) return false;
  const read = readBounded(engine.fs, resultPath(loaded.folder, lease.lease), changeSlots[lease.slot].bytesMax);
  if (read.kind !== "file") return false;
  const { bytes, named } = answerIn(lease.slot, read.bytes);
  if (named !== null && (named.run !== loaded.folder.id || named.lease !== lease.lease)) return false;
  return check(lease.slot, bytes, doorContext(engine, loaded)).ok;
}

/**
 * An agent's answer in what was written down of its message: without its LEASE line and a fence around all of it, as a
 * hook writes it. Bytes without such a line, and the root's own, are what they are.
 */
export function answerIn(
  slot: SlotName,
  bytes: Uint8Array,
): { readonly bytes: Uint8Array; readonly named: LeaseLine | null } {
  const { by, bytesMax } = changeSlots[slot];
  const text = by === "root" ? null : decodeUtf8(bytes, bytesMax);
  const message = text?.ok === true ? leaseOfMessage(text.value) : null;
  return message === null ? { bytes, named: null } : { bytes: Buffer.from(message.body, "utf8"), named: message };
}

/**
 * The checked bytes as a submitting command; the artifact (and, after a writing slot, the tree's snapshot) is durable.
 * Refuses what the slot's door refuses.
 */
export function submission(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  slot: SlotName,
  written: Uint8Array,
  via: SubmitCommand["via"],
): Result<SubmitCommand> {
  const { state } = loaded;
  const { bytes, named } = answerIn(slot, written);
  const checked = check(slot, bytes, doorContext(engine, loaded));
  if (!checked.ok) return checked;
  const pass = "pass" in state.phase ? state.phase.pass : 0;
  const { extension, writesTree } = changeSlots[slot];
  const end =
    slot === "coder"
      ? (checked.value as { readonly lease: { readonly run: string; readonly lease: string } | null })
      : null;
  const signed = named ?? end?.lease ?? null;
  if (signed !== null && signed.run !== loaded.folder.id) {
    return refuse("lease.foreign", "the report names another run", `atlas next --run ${loaded.folder.id}`);
  }
  const out = liveLease(state.leases, slot);
  const base = {
    do: "submit" as const,
    slot,
    bytes: bytes.length,
    via,
    lease: signed?.lease ?? null,
    ...(out === undefined ? {} : { of: out.lease }),
  };
  if (slot === "packet") {
    const { packet } = checked.value as {
      readonly packet: { readonly verify_cmd: string; readonly setup_cmd?: string; readonly baseline?: string };
    };
    const normal = Buffer.from(`${JSON.stringify(packet, null, 2)}\n`, "utf8");
    const hash = writeArtifact(engine.fs, loaded.folder, { slot, pass: 0, extension }, normal);
    return ok({
      ...base,
      sha256: hash,
      packet: {
        hasCommand: packet.verify_cmd !== "",
        hasSetup: packet.setup_cmd !== undefined,
        listedCommand: hasListedCommands(packet),
        baseline: packet.baseline ?? null,
      },
    });
  }
  const hash = writeArtifact(engine.fs, loaded.folder, { slot, pass, extension }, bytes);
  if (!writesTree || state.phase.at !== "code") return ok({ ...base, sha256: hash });
  const { tree } = snapshotsOf(engine, loaded).take(workRoot(loaded, state.phase.tree));
  return ok({ ...base, sha256: hash, tree });
}

export function doorContext(engine: Engine, loaded: Loaded<ChangeState>): DoorContext {
  const root = userTree(loaded);
  return {
    memoryBytes: halfTheMachine(),
    recovered: loaded.state.phase.at === "recover",
    exists: (path) => entryKind(engine.fs, join(root, path)) !== "absent",
  };
}

/** A hook saw the agent that holds the lease end; another role that names it ended for itself only. */
export function wasSeenStopping(engine: Engine, folder: RunFolder, lease: Pick<Lease, "lease" | "role">): boolean {
  return readObserved(engine, folder).some(
    (seen) => seen.type === "stopped" && seen.lease === lease.lease && roleOf(seen.agent) === lease.role,
  );
}

/** The run's own tree that a writing slot was handed out for; nothing where it writes in the user's. */
function ownTree(loaded: Loaded<ChangeState>, slot: string): { readonly tree?: string } {
  const { phase } = loaded.state;
  const writes = isSlotName(slot) && changeSlots[slot].writesTree;
  return writes && phase.at === "code" && phase.tree !== null ? { tree: workRoot(loaded, phase.tree) } : {};
}

/** Marks of live leases and of the awaited submit, for the hooks: who may write which result. Old ones go. */
export function writeMarks(engine: Engine, loaded: Loaded<ChangeState>, awaited: string | null): void {
  const results = join(loaded.folder.ledger, "results");
  makeFolder(engine.fs, results);
  const wanted = new Map<string, string>();
  for (const { lease, slot, role } of loaded.state.leases.live) {
    const epoch = Number(lease.slice(lease.lastIndexOf("@") + 1));
    const mark = { lease, slot, role, epoch, ...ownTree(loaded, slot) };
    wanted.set(`${leaseFileBase(lease)}.lease`, JSON.stringify(mark));
  }
  if (awaited !== null) wanted.set(`${awaited}.submit`, "");
  for (const name of listFolder(engine.fs, results)) {
    const isMark = name.endsWith(".lease") || name.endsWith(".submit");
    if (isMark && !wanted.has(name)) removeQuietly(engine.fs, join(results, name));
  }
  for (const [name, text] of wanted) {
    const path = join(results, name);
    const before = readBounded(engine.fs, path, 4096);
    if (before.kind !== "file" || sha256(before.bytes) !== sha256(text)) replaceFile(engine.fs, path, text, false);
  }
}
