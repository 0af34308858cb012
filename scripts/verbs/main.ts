/**
 * The verbs' bundle: argv in, exit code out. Exit: 0 done, 1 a bug, 2 usage, 3 refused, 4 the environment.
 * With `--json` stdout is exactly one JSON object.
 */
import { performCommand } from "../platform/performer.ts";
import { abandon } from "./abandon.ts";
import { answer } from "./answer.ts";
import { readArguments } from "./arguments.ts";
import { clean } from "./clean.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { forkVerb } from "./fork.ts";
import { graph } from "./graph.ts";
import { help } from "./help.ts";
import { next } from "./next.ts";
import { ping } from "./ping.ts";
import { report } from "./report.ts";
import { resumeVerb } from "./resume.ts";
import { rollback } from "./rollback.ts";
import { guarded, put, runVerb, type Verb } from "./run-verb.ts";
import { startVerb } from "./start.ts";
import { status } from "./status.ts";
import { submit } from "./submit.ts";
import { verify } from "./verify.ts";

const verbs: Readonly<Record<string, Verb>> = {
  abandon,
  answer,
  clean,
  doctor,
  fork: forkVerb,
  graph,
  next,
  ping,
  report,
  resume: resumeVerb,
  rollback,
  start: startVerb,
  status,
  submit,
  verify,
};

export async function run(argv: string[], entry: { readonly build: string }): Promise<number> {
  return guarded(argv, entry, async () => {
    const json = argv.includes("--json");
    const [verb] = argv;
    if (verb === "perform-command") {
      await performCommand(argv[1] ?? "");
      return 0;
    }
    if (verb === undefined || verb === "help" || argv.includes("--help")) {
      const text = help(verb);
      put(1, json ? `${JSON.stringify({ help: text })}\n` : text);
      return verb === undefined ? 2 : 0;
    }
    const given = readArguments(argv);
    if (verb === "demo") return await demo(given);
    return runVerb(given, verbs, json);
  });
}
