/** `resume --wait`: blocks until something changes, so that no model ever sleeps or spins. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Refusal, Result } from "../core/result.ts";
import { listFolder } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import type { Engine } from "./context.ts";
import { type ResumeOutcome, type ResumeWish, resume } from "./resume.ts";

const lookMs = 200;

/** As `resume`; while the answer would be `await`, waits up to `waitMs` for a result, an observation or a line. */
export async function resumeWaiting(engine: Engine, wish: ResumeWish): Promise<Result<ResumeOutcome, Refusal>> {
  const begun = performance.now();
  let outcome = await resume(engine, wish);
  while (outcome.ok && outcome.value.run?.next.do === "await") {
    const { loaded, claim, id } = outcome.value.run;
    const before = mark(engine.fs, loaded.folder.ledger);
    while (mark(engine.fs, loaded.folder.ledger) === before) {
      if (performance.now() - begun >= wish.waitMs) return outcome;
      await sleep(lookMs);
    }
    outcome = await resume(engine, { ...wish, run: id, claim, redo: null });
  }
  return outcome;
}

/** Changes when a result, an observation or a line has come. */
function mark(fs: FileSystem, ledger: string): string {
  const size = (name: string): number => {
    try {
      return fs.lstatSync(join(ledger, name)).size;
    } catch {
      return -1;
    }
  };
  const results = listFolder(fs, join(ledger, "results")).filter((name) => name.endsWith(".out"));
  return `${size("log.jsonl")} ${size("observed.jsonl")} ${results.join(" ")}`;
}
