/** The two processes of a performance as one script: `perform <job>`, and `ask <spec>`, a command line that can die. */
import { readFileSync, writeFileSync } from "node:fs";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { performCommand } from "../../scripts/platform/performer.ts";
import { preparePerformer } from "../../scripts/platform/performer-client.ts";

const [role, path] = process.argv.slice(2);

if (role === "perform") {
  await performCommand(path as string);
  const peakFile = process.env.PERFORMER_PEAK_FILE;
  if (peakFile !== undefined) writeFileSync(peakFile, String(process.resourceUsage().maxRSS * 1024));
} else {
  // Says what it prepared, then obeys one word: "die" before go, or "go" and die in the same breath.
  const spec = JSON.parse(readFileSync(path as string, "utf8"));
  const prepared = await preparePerformer({
    fs: realFileSystem,
    entry: [process.execPath, process.argv[1] as string, "perform"],
    job: spec.job,
    jobPath: spec.jobPath,
  });
  process.stdout.write(`${JSON.stringify(prepared)}\n`);
  process.stdin.once("data", (word) => {
    if (word.toString().trim() === "go") prepared.go();
    process.kill(process.pid, "SIGKILL");
  });
}
