/**
 * npm run crash: every command that writes is SIGKILLed at every one of its calls, and every run is driven to its end
 * afterwards. `-- --step N` tries every N-th point, `--only TEXT` (any number of times) the rows whose title holds it, `--workers N`.
 */
import { fork } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { builtPlugin } from "../support/scripted-run.ts";
import { keptFolder } from "../support/temp.ts";
import type { Job, Share } from "./job.ts";
import { weaponsOf } from "./point.ts";
import { seeded } from "./points.ts";
import { scenarios } from "./scenarios.ts";
import { requirePtrace } from "./strace.ts";

const { values } = parseArgs({
  options: {
    step: { type: "string", default: "1" },
    only: { type: "string", multiple: true, default: [""] },
    workers: { type: "string", default: "2" },
  },
});
const step = Math.max(1, Number(values.step));
const seed = Number.parseInt(process.env.ATLAS_SEED ?? "", 10) || Math.floor(Math.random() * 0x7fffffff);

async function main(): Promise<number> {
  requirePtrace();
  const random = seeded(seed);
  const jobs: Job[] = scenarios
    .flatMap(({ name }) =>
      weaponsOf(name).flatMap((weapon) =>
        (["same owner", "new owner"] as const).map((resumer) => ({
          scenario: name,
          resumer,
          weapon,
          step,
          first: 1 + Math.floor(random() * step),
        })),
      ),
    )
    .filter((job) => values.only.some((text) => titleOf(job).includes(text)));
  console.log(`seed ${seed} (ATLAS_SEED); every ${step === 1 ? "" : `${step}th `}point of ${jobs.length} rows`);
  const plugin = await builtPlugin();
  const folder = keptFolder("atlas-crash-");
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      folder.remove();
      plugin.remove();
      process.exit(130);
    });
  }
  const begun = performance.now();
  let tried = 0;
  let faults = 0;
  const tell = (job: Job, share: Share): void => {
    tried += share.tried;
    faults += share.faults.length;
    console.log(
      `${titleOf(job)}: ${share.tried} points (${share.known} as an earlier one), ${share.faults.length} faults`,
    );
    for (const fault of share.faults) console.log(`  FAULT ${fault}`);
  };
  try {
    const names = Array.from({ length: Number(values.workers) }, (_, at) => join(realpathSync(folder.path), `w${at}`));
    await Promise.all(names.map((base) => work(plugin.root, base, jobs, tell)));
  } finally {
    folder.remove();
    plugin.remove();
  }
  const minutes = Math.round((performance.now() - begun) / 60_000);
  console.log(`${tried} points tried, ${faults} faults, ${minutes} minutes, seed ${seed}`);
  return faults === 0 && tried > 0 ? 0 : 1;
}

function titleOf(job: Job): string {
  return `${job.scenario}, ${job.weapon}, ${job.resumer}`;
}

/** One worker, until no job is left. */
function work(root: string, base: string, jobs: Job[], tell: (job: Job, share: Share) => void): Promise<void> {
  const child = fork(fileURLToPath(new URL("./worker.ts", import.meta.url)), [root, base], {
    execArgv: process.execArgv,
  });
  return new Promise((resolve, reject) => {
    let job = jobs.shift();
    const next = (): void => {
      if (job === undefined) child.disconnect();
      else child.send(job);
    };
    child.on("message", (share: Share) => {
      tell(job as Job, share);
      job = jobs.shift();
      next();
    });
    child.on("error", reject);
    child.on("exit", (code) => (job === undefined ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    next();
  });
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
