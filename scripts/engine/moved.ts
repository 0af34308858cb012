/** The guard against a moved folder: a run's trees, packets and git pointers hold the paths it began with. */
import { quoted } from "../core/quote.ts";
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import { entryKind } from "../platform/files.ts";
import type { Engine } from "./context.ts";
import type { Loaded } from "./ledger.ts";

const pathCharsMax = 300;

/**
 * Refuses `run.moved` for an unfinished run that lies elsewhere than it was opened, or whose working tree is gone: an
 * agent would be sent to the old place, where there may be another copy.
 */
export function checkPlace(engine: Engine, loaded: Loaded): Result<null, Refusal> {
  const { root, top } = loaded.state.head;
  const { folder, headline } = loaded;
  if (headline.terminal) return ok(null);
  const isHere = root === folder.root;
  if (isHere && (top === null || entryKind(engine.fs, top) === "folder")) return ok(null);
  const place = quoted(isHere ? (top ?? "") : root, pathCharsMax);
  return refuse(
    "run.moved",
    `run ${folder.id} was opened in ${place}, and that has moved: move it back, or abandon the run`,
    `atlas abandon --run ${folder.id}`,
  );
}
