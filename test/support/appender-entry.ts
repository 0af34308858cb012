/** Built and run as a process of its own: appends notes to one run as fast as it can. Arguments: root, id, name, count. */
import { join } from "node:path";
import type { RunId } from "../../scripts/core/ids.ts";
import { ok } from "../../scripts/core/result.ts";
import { transact } from "../../scripts/engine/transact.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { note, smallEngine } from "./small-run.ts";

const [root = "", id = "", name = "", count = "0"] = process.argv.slice(2);
const atlas = join(root, ".atlas");
const folder = { id: id as RunId, root, atlas, ledger: join(atlas, id), adopted: false };
const engine = smallEngine(realFileSystem, name);

// The barrier: whoever is ready says so and begins when all are.
process.stdout.write("ready\n");
process.stdin.once("data", () => {
  for (let at = 0; at < Number(count); at += 1) {
    const done = transact(engine, folder, () => ok([note(`${name}-${at}`)]));
    if (!done.ok) throw new Error(done.error.code);
  }
  process.exit(0);
});
