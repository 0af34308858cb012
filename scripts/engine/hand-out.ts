/** The packets of live leases: written before the instruction that names them is printed, and never changed after. */
import { join } from "node:path";
import { leaseFileBase } from "../core/lease-file.ts";
import { agentPrompt, coderPacket, criticPacket, scoutPacket } from "../kinds/change/agent-packet.ts";
import { check } from "../kinds/change/doors.ts";
import type { AgentPacket } from "../kinds/change/packet-sheet.ts";
import { type ChangeState, filledKey } from "../kinds/change/state.ts";
import type { Lease } from "../parts/lease.ts";
import type { Pass } from "../parts/passes.ts";
import { isSlotName } from "../parts/slots.ts";
import { changesBetween, patchOrNull, sizesOf } from "../platform/changes.ts";
import { entryKind, makeFolder, readBounded, replaceFile, syncFolder } from "../platform/files.ts";
import { type CriticName, criticNames } from "../verify/critic.ts";
import { ARTIFACT_BYTES_MAX, readArtifact } from "./artifacts.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf, workRoot } from "./effects.ts";
import { readEvidence, verdictOf } from "./judge.ts";
import type { Loaded } from "./ledger.ts";
import { maskedValue } from "./masked.ts";
import { readPacket } from "./packets.ts";
import { doorContext, resultsOf } from "./results.ts";
import { skillAdvice } from "./skills.ts";

const filesMax = 40;
const pathsMax = 2000;

/** Absolute path of the packet of a lease. */
export function packetPath(loaded: Loaded, lease: string): string {
  return join(loaded.folder.ledger, "packets", leaseFileBase(lease), "packet.md");
}

/** The one-line prompt for an agent of a lease. */
export function promptOf(loaded: Loaded, lease: string): string {
  return agentPrompt(packetPath(loaded, lease), loaded.folder.id, lease);
}

/** Writes the packets that are not there yet. A packet that is there stays: its agent may be reading it. */
export function writePackets(engine: Engine, loaded: Loaded<ChangeState>): void {
  for (const lease of loaded.state.leases.live) {
    const path = packetPath(loaded, lease.lease);
    if (entryKind(engine.fs, path) === "file") continue;
    const packet = packetFor(engine, loaded, lease);
    if (packet === null) continue;
    writeSheet(engine, path, packet);
  }
}

/**
 * The parts first, the sheet that names them last. A sheet that stands is whole, and so is what it names, because it is
 * never written twice; one that the power took is written by the next command, so its name is not waited for.
 */
export function writeSheet(engine: Engine, path: string, whole: AgentPacket): void {
  // A diff, a tail, an answer of an agent: whatever a packet is made of, a model reads it.
  const packet = maskedValue(whole, engine.environment, path);
  const folder = join(path, "..");
  makeFolder(engine.fs, folder);
  const folders = new Set<string>();
  for (const { name, text } of packet.files) {
    const beside = join(folder, name);
    makeFolder(engine.fs, join(beside, ".."));
    replaceFile(engine.fs, beside, text, "content");
    folders.add(join(beside, ".."));
  }
  for (const one of folders) syncFolder(engine.fs, one);
  if (folders.size > 0) syncFolder(engine.fs, folder);
  replaceFile(engine.fs, path, packet.markdown, "content");
}

function packetFor(engine: Engine, loaded: Loaded<ChangeState>, lease: Lease): AgentPacket | null {
  const { state, folder } = loaded;
  const packet = readPacket(engine, loaded);
  if (packet === null) return null;
  const { phase } = state;
  const tree = "tree" in phase ? phase.tree : null;
  const failures = failuresOf(state, lease.slot);
  const basis = {
    root: workRoot(loaded, tree),
    run: folder.id,
    lease: lease.lease,
    nonce: engine.moment.fresh("packet") + engine.moment.fresh("packet"),
    packet,
    errors: failures > 0 ? faultsOf(engine, loaded, lease) : [],
  };
  if (phase.at === "scout") return scoutPacket({ ...basis, filesMax: failures > 0 ? filesMax / 2 : filesMax });
  if (phase.at === "code") return coderSheet(engine, loaded, basis, phase.pass, failures);
  const evidence = phase.at === "critique" ? readEvidence(engine, loaded, phase.pass) : null;
  if (evidence === null || !isCritic(lease.slot)) return null;
  const snapshots = snapshotsOf(engine, loaded);
  const { before, coded } = evidence.tree;
  const changes = changesBetween(snapshots, before, coded);
  const sizes = sizesOf(
    snapshots,
    changes.map(({ newBlob }) => newBlob),
  );
  const changed = changes.map(({ path, newBlob }) => ({ path, bytes: sizes.get(newBlob) ?? 0 }));
  return criticPacket({
    ...basis,
    critic: lease.slot,
    diff: patchOrNull(snapshots, before, coded)?.toString("utf8") ?? withoutPatch(changed),
    changed,
    evidence,
    extras: { ignoredWritten: [] },
  });
}

/** Why the answer before was not taken, read from what lies there: the same after any crash. */
function faultsOf(engine: Engine, loaded: Loaded<ChangeState>, lease: Lease): readonly string[] {
  const { slot } = lease;
  const attempt = Number(/#(\d+)@/.exec(lease.lease)?.[1] ?? 1);
  const [path] = isSlotName(slot) ? resultsOf(engine, loaded.folder, slot, attempt - 1) : [];
  const read = path === undefined ? null : readBounded(engine.fs, path, ARTIFACT_BYTES_MAX);
  if (!isSlotName(slot) || read?.kind !== "file") return ["an answer before was not taken: it was late or missing"];
  const checked = check(slot, read.bytes, doorContext(engine, loaded));
  return [checked.ok ? "an answer before was not taken: it was late" : checked.error.reason];
}

function coderSheet(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  basis: Omit<Parameters<typeof coderPacket>[0], "scout" | "plan" | "assumptions" | "refine" | "narrower" | "skills">,
  pass: Pass,
  failures: number,
): AgentPacket {
  const { state } = loaded;
  const before = (pass - 1) as Pass;
  const evidence = pass === 0 ? null : readEvidence(engine, loaded, before);
  const refine =
    pass === 0
      ? null
      : {
          pass,
          blocking: evidence === null ? [] : verdictOf(engine, loaded, before).blocking,
          tail: evidence?.command.log.tail ?? "",
        };
  const touched =
    failures === 0 || state.base === null || state.checkpoint === null
      ? []
      : changesBetween(snapshotsOf(engine, loaded), state.base, state.checkpoint).map((change) => change.path);
  return coderPacket({
    ...basis,
    scout: textOf(engine, loaded, "scout", "json"),
    plan: textOf(engine, loaded, "plan", "md"),
    skills: skillAdvice(engine, loaded, basis.packet.intent),
    assumptions: state.assumed.map((field) => `${field}: the default was taken`),
    refine,
    narrower:
      failures === 0
        ? null
        : { unmetCriteria: basis.packet.success_criteria, touchedFiles: touched, filesMax: filesMax / 2 },
  });
}

function textOf(engine: Engine, loaded: Loaded<ChangeState>, slot: string, extension: string): string | null {
  const filled = loaded.state.filled[filledKey(slot, 0)];
  if (filled === undefined) return null;
  return readArtifact(engine.fs, loaded.folder, { slot, pass: 0, extension }, filled.sha256).toString("utf8");
}

function failuresOf(state: ChangeState, slot: string): number {
  const { phase } = state;
  if (phase.at === "critique") return phase.failures[slot as CriticName] ?? 0;
  return "failures" in phase ? phase.failures : 0;
}

function isCritic(slot: string): slot is CriticName {
  return (criticNames as readonly string[]).includes(slot);
}

/** What stands where a patch is too large: the paths, to be read in the tree itself. */
function withoutPatch(changed: readonly { readonly path: string; readonly bytes: number }[]): string {
  const shown = changed.slice(0, pathsMax).map(({ path, bytes }) => `${JSON.stringify(path)} ${bytes}`);
  const more = changed.length - shown.length;
  return [
    "The patch is too large to be handed over. Read the changed files themselves; their paths and sizes in bytes:",
    ...shown,
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join("\n");
}
