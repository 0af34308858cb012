/**
 * Every ledger folded from its first line, and whether what lies beside it agrees. Reads only; repairs nothing.
 * What it has no time for is counted and said, never passed over as good.
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isRunId } from "../core/ids.ts";
import type { RefusalCode } from "../core/result.ts";
import { type ChangeState, filledKey } from "../kinds/change/state.ts";
import { type WeaveState, weave } from "../kinds/weave/kind.ts";
import type { Pass } from "../parts/passes.ts";
import { changeSlots, isSlotName } from "../parts/slots.ts";
import type { Trees } from "../parts/tree.ts";
import { entryKind } from "../platform/files.ts";
import { FINISHED, markedIds, PACKED, readMarks } from "../platform/finished.ts";
import { checkForeign, DAG_ARTIFACT } from "./adopt.ts";
import { type ArtifactName, artifactPath, readArtifact } from "./artifacts.ts";
import { treePathsOf } from "./clean-trees.ts";
import type { Engine } from "./context.ts";
import { bad, type Check, fine, guarded, shellQuoted } from "./doctor-check.ts";
import { type Loaded, loadRun } from "./ledger.ts";
import { PACKET_ARTIFACT } from "./packets.ts";
import type { Found, FoundRun } from "./runs.ts";

export interface LedgerWish {
  /** Whether this atlas can fork a run. */
  readonly canFork: boolean;
  /** On the process's own monotonic clock, milliseconds: from then on nothing more is opened. */
  readonly untilMs: number;
}

export function checkLedgers(engine: Engine, found: Found, wish: LedgerWish): readonly Check[] {
  const checks: Check[] = [];
  const { runs } = found;
  // What can still be mended comes first, should the time not suffice for all.
  const ordered = [...runs.filter((run) => !run.view.terminal), ...runs.filter((run) => run.view.terminal)];
  let folded = 0;
  let foreign = 0;
  let unopened = 0;
  for (const run of ordered) {
    if (performance.now() > wish.untilMs) {
      unopened += 1;
      continue;
    }
    const named = `ledger ${run.view.id}`;
    const wrong = guarded(named, () => checkRun(engine, run, named, wish.canFork));
    if (wrong.length === 0 && run.loaded === null) foreign += 1;
    else if (wrong.length === 0) folded += 1;
    checks.push(...wrong);
  }
  const originals = foreign === 0 ? "" : `; ${foreign} of the original's readable`;
  checks.push(fine("ledgers", `${folded} folded from the first line, nothing wrong with them${originals}`));
  if (unopened > 0) {
    const why = `${unopened} more were not folded again: there are too many for one look`;
    checks.push(bad("ledgers", why, "atlas doctor --run ID"));
  }
  return checks;
}

/** What is wrong with one run; empty: nothing. */
function checkRun(engine: Engine, run: FoundRun, name: string, canFork: boolean): readonly Check[] {
  if (run.loaded === null) return unreadable(engine, run, name, canFork);
  // Without a snapshot the list has folded from the first line already.
  const isFolded = entryKind(engine.fs, join(run.folder.ledger, "snapshot.json")) === "absent";
  const read = isFolded ? { ok: true as const, loaded: run.loaded } : loadRun(engine.fs, run.folder, false);
  if (!read.ok)
    return [damaged(run, name, read.unreadable.code, read.unreadable.reason, read.unreadable.lastGoodSeq, canFork)];
  const { loaded } = read;
  return [
    ...untrusted(run, name),
    ...snapshot(run.loaded, loaded),
    ...artifacts(engine, loaded),
    ...trees(engine, loaded),
    ...diverged(engine, loaded, name),
  ];
}

function unreadable(engine: Engine, run: FoundRun, name: string, canFork: boolean): readonly Check[] {
  const said = /^(?:unreadable: )?([a-z_]+\.[a-z_]+)(?:: (.*))?$/s.exec(run.view.why);
  if (run.view.why.startsWith("newer: "))
    return [damaged(run, name, "ledger.newer", run.view.why.slice(7), 0, canFork)];
  if (!run.view.why.startsWith("unreadable: ")) return untrusted(run, name);
  const code = (said?.[1] ?? "ledger.unreadable") as RefusalCode;
  if (run.original !== null) {
    return [bad(name, `the original's run cannot be adopted: ${run.view.why}`, `atlas abandon --run ${run.view.id}`)];
  }
  // The list has no last good line: reading again gives it, unless that would follow a link.
  const again = code === "ledger.linked" ? null : loadRun(engine.fs, run.folder, false);
  const good = again === null || again.ok ? 0 : again.unreadable.lastGoodSeq;
  return [damaged(run, name, code, said?.[2] ?? "", good, canFork)];
}

function damaged(
  run: FoundRun,
  name: string,
  code: RefusalCode,
  reason: string,
  good: number,
  canFork: boolean,
): Check {
  const said = `${code}: ${reason}`;
  if (code === "ledger.newer") return bad(name, said, "update the atlas plugin");
  const prefix = good > 0 ? `; lines 1 to ${good} are good` : "";
  const fork = canFork && good > 0;
  return bad(
    name,
    `${said}${prefix}`,
    `atlas ${fork ? "fork" : "abandon"} --run ${run.view.id}${fork ? ` --at ${good}` : ""}`,
  );
}

function untrusted(run: FoundRun, name: string): readonly Check[] {
  if (!run.view.why.startsWith("untrusted.")) return [];
  const why = run.view.why === "untrusted.tracked" ? "git tracks it" : "it is another user's";
  return [
    bad(
      name,
      `${run.view.why}: ${why}, so it was not written by this user's runs`,
      `atlas resume --run ${run.view.id} --trust`,
    ),
  ];
}

/** What the other verbs believe against what the lines say. */
function snapshot(believed: Loaded, folded: Loaded): readonly Check[] {
  const plain = ({ state, headline, tip }: Loaded): unknown => JSON.parse(JSON.stringify([state, headline, tip]));
  if (isDeepStrictEqual(plain(believed), plain(folded))) return [];
  const path = join(folded.folder.ledger, "snapshot.json");
  return [bad(`snapshot ${folded.folder.id}`, "it does not agree with the ledger", `rm ${shellQuoted(path)}`)];
}

/** Every artifact the ledger names by its hash. */
function namedArtifacts(loaded: Loaded): readonly (readonly [ArtifactName, string])[] {
  if (loaded.kind.name === weave.name) {
    const { dag } = loaded.state as WeaveState;
    return dag === null ? [] : [[DAG_ARTIFACT, dag]];
  }
  if (loaded.kind.name !== "change") return [];
  const { packet, filled } = loaded.state as ChangeState;
  const named: (readonly [ArtifactName, string])[] = packet === null ? [] : [[PACKET_ARTIFACT, packet]];
  for (const [key, { sha256 }] of Object.entries(filled)) {
    const slot = key.slice(0, key.lastIndexOf("."));
    const pass = Number(key.slice(key.lastIndexOf(".") + 1)) as Pass;
    const extension = isSlotName(slot) ? changeSlots[slot].extension : "json";
    if (filledKey(slot, pass) === key) named.push([{ slot, pass, extension }, sha256]);
  }
  return named;
}

function artifacts(engine: Engine, loaded: Loaded): readonly Check[] {
  return namedArtifacts(loaded).flatMap(([name, hash]) =>
    guarded(`artifact ${loaded.folder.id}`, () => {
      // A name from a line: it becomes a path only when it is one of ours.
      if (!/^[a-z][a-z-]{0,31}$/.test(name.slot) || !/^[0-9a-f]{64}$/.test(hash)) {
        return [bad(`artifact ${loaded.folder.id}`, "the ledger names one that cannot be ours", abandon(loaded))];
      }
      try {
        readArtifact(engine.fs, loaded.folder, name, hash);
        return [];
      } catch {
        const kind = entryKind(engine.fs, artifactPath(loaded.folder, name, hash));
        const why = kind === "absent" ? "is missing" : "holds other bytes than the ledger names";
        return [bad(`artifact ${loaded.folder.id}`, `${name.slot}.${name.pass} ${why}`, abandon(loaded))];
      }
    }),
  );
}

function abandon(loaded: Loaded): string {
  return `atlas ${loaded.headline.terminal ? "report" : "abandon"} --run ${loaded.folder.id}`;
}

/** Trees of an unfinished run that are recorded as standing and are not there. */
function trees(engine: Engine, loaded: Loaded): readonly Check[] {
  if (loaded.headline.terminal) return [];
  const all = (loaded.state as { readonly trees?: Trees }).trees?.all ?? [];
  return all
    .filter((tree) => tree.status === "ready" || tree.status === "stale")
    .filter((tree) => treePathsOf(engine, loaded, tree).every((path) => entryKind(engine.fs, path) !== "folder"))
    .map((tree) => {
      const name = /^[A-Za-z0-9./_-]{1,200}$/.test(tree.name) ? tree.name : "of a name that is not ours";
      const why = `the working tree ${name} is recorded and not there`;
      return bad(`tree ${loaded.folder.id}`, why, `atlas resume --run ${loaded.folder.id}`);
    });
}

function diverged(engine: Engine, loaded: Loaded, name: string): readonly Check[] {
  if (loaded.headline.terminal || loaded.state.head.origin !== "kimi-atlas") return [];
  const foreign = checkForeign(engine, loaded);
  return foreign.ok ? [] : [bad(name, `${foreign.error.code}: ${foreign.error.reason}`, foreign.error.fix)];
}

/** Markers of runs that are not finished, and finished runs that lost theirs. `one`: only one run was looked for. */
export function checkMarkers(engine: Engine, found: Found, one: boolean): readonly Check[] {
  const checks: Check[] = [];
  const orphans: string[] = [];
  for (const { atlas } of found.places.filter((place) => place.trusted)) {
    const folder = join(atlas, FINISHED);
    const kind = entryKind(engine.fs, folder);
    if (kind !== "folder" && kind !== "absent") {
      checks.push(bad("finished markers", `${folder} is not a folder`, `rm ${shellQuoted(folder)}`));
    }
    const marked = markedIds(readMarks(engine.fs, atlas));
    const here = new Map(found.runs.filter((run) => run.folder.atlas === atlas).map((run) => [run.view.id, run]));
    for (const id of marked) if (!one && isRunId(id) && !here.has(id)) orphans.push(id);
    for (const [id, run] of here) {
      if (run.loaded === null || !run.trusted) continue;
      const terminal = run.view.terminal;
      if (marked.has(id) && !terminal) {
        // Without their file the others are marked anew by the next status.
        const own = entryKind(engine.fs, join(folder, id)) !== "absent";
        const mark = shellQuoted(join(folder, own ? id : PACKED));
        const why = `it is marked finished and is not: status and hooks pass it over; to go on with it: rm ${mark}`;
        checks.push(bad(`marker ${id}`, why, `atlas abandon --run ${id}`));
      }
      if (!marked.has(id) && terminal) {
        checks.push(bad(`marker ${id}`, "it is finished and lost its marker, which costs time only", "atlas status"));
      }
    }
  }
  const gone = orphans.length === 0 ? "" : `; ${orphans.length} of runs whose folder is gone`;
  return [...checks, fine("finished markers", `${found.finished} finished${gone}`)];
}
