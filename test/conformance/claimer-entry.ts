/** Built and run as a process of its own: claims one run over and over; each acknowledged line is said at once. Arguments: folder, id, root. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import type { RunId } from "../../scripts/core/ids.ts";
import { ok } from "../../scripts/core/result.ts";
import { claimEvent } from "../../scripts/engine/owning.ts";
import { transact } from "../../scripts/engine/transact.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { smallEngine } from "../support/small-run.ts";

const [ledger = "", id = "", root = ""] = process.argv.slice(2);
const atlas = join(root, ".atlas");
const folder = { id: id as RunId, root, atlas, ledger, adopted: ledger.endsWith("adopted") };
const engine = smallEngine(realFileSystem, "claimer");

for (;;) {
  const done = transact(engine, folder, (loaded) => ok([claimEvent(engine, loaded, "resume", [])]));
  if (!done.ok) throw new Error(done.error.code);
  const { seq, sum } = done.value.loaded.tip;
  writeSync(1, `${seq} ${sum}\n`);
}
