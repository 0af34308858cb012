/** Does one job after the other for `crash.ts`, in a folder of its own. */
import { join } from "node:path";
import type { Plugin } from "../support/scripted-run.ts";
import { doJob, type Job, type Share } from "./job.ts";

const [root = "", base = ""] = process.argv.slice(2);
const plugin: Plugin = { root, cli: join(root, "dist", "atlas.cjs"), remove: () => {} };

/** Nobody may be left to tell. */
const tell = (share: Share): void => {
  if (process.connected) process.send?.(share);
};

process.on("message", (job: Job) => {
  doJob(plugin, base, job).then(tell, (error: unknown) => tell({ tried: 0, known: 0, faults: [String(error)] }));
});
process.on("disconnect", () => process.exit(0));
