/** What stands in the way of reading a place or a run, named before anything is read or written there. */
import { join } from "node:path";
import type { RefusalCode } from "../core/result.ts";
import { entryKind, errno, failure, listFolder } from "../platform/files.ts";
import { type Identity, type Listing, placeIdentity, recallListing } from "../platform/listing.ts";
import type { Place } from "../platform/places.ts";
import { stateFolder } from "../platform/sessions.ts";
import type { Engine } from "./context.ts";
import type { RunFolder } from "./ledger.ts";

/** A place with the names in it, sorted. One that may not be read is said to be one: it is not empty. */
function listPlace(engine: Engine, place: Place): { readonly place: Place; readonly names: readonly string[] } {
  if (!place.trusted) return { place, names: place.why === "another user's" ? listFolder(engine.fs, place.atlas) : [] };
  const names = listAllowed(engine, place.atlas);
  return names === null
    ? { place: { ...place, trusted: false, why: "unreadable" }, names: [] }
    : { place, names: names.sort() };
}

export interface Listed {
  readonly place: Place;
  /** Of a recalled place the open runs alone. */
  readonly names: readonly string[];
  readonly recalled: Listing | null;
  /** What the place was before it was read; null: it is not to be remembered. */
  readonly before: Identity | null;
}

/** A place with its names, or with what was found in it when it was exactly as it is now. */
export function listedPlace(engine: Engine, place: Place, recalls: boolean): Listed {
  if (!recalls || !place.trusted) return { ...listPlace(engine, place), recalled: null, before: null };
  const { atlas, state, now } = memoryOf(engine, place);
  const recalled = recallListing(engine.fs, atlas, state, now);
  if (recalled !== null) return { place, names: recalled.open, recalled, before: null };
  const before = placeIdentity(engine.fs, atlas);
  return { ...listPlace(engine, place), recalled, before };
}

/** Where, and when, a look at a place is remembered. */
export function memoryOf(engine: Engine, { atlas }: Place): { atlas: string; state: string | null; now: number } {
  return { atlas, state: stateFolder(engine.environment), now: engine.moment.now };
}

/** False: we have no right to. Throws for a failing disk. */
export function canList(engine: Engine, folder: string): boolean {
  return listAllowed(engine, folder) !== null;
}

function listAllowed(engine: Engine, folder: string): string[] | null {
  try {
    return engine.fs.readdirSync(folder);
  } catch (error) {
    const code = errno(error);
    if (code === "EACCES" || code === "EPERM") return null;
    throw failure(error, folder);
  }
}

/** Folders of a run that its commands write into: a link there would lead every write out of the run. */
const partNames = ["artifacts", "results", "packets", "worktree", "git"] as const;

/** The first folder of a run that is something else; null: all are folders or not there yet. */
export function oddPart(
  engine: Engine,
  folder: RunFolder,
): { readonly code: RefusalCode; readonly reason: string } | null {
  for (const name of partNames) {
    const kind = entryKind(engine.fs, join(folder.ledger, name));
    if (kind === "link") return { code: "ledger.linked", reason: `${name} is a link` };
    if (kind !== "folder" && kind !== "absent") return { code: "ledger.bad_folder", reason: `${name} is no folder` };
  }
  return null;
}
