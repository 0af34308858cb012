/** The verbs that begin every turn, in a bundle of their own: a resume should not wait for the code of all the others. */
import { readArguments } from "./arguments.ts";
import { next } from "./next.ts";
import { resumeVerb } from "./resume.ts";
import { guarded, runVerb, type Verb } from "./run-verb.ts";

const verbs: Readonly<Record<string, Verb>> = { next, resume: resumeVerb };

export async function run(argv: string[], entry: { readonly build: string }): Promise<number> {
  return guarded(argv, entry, () => runVerb(readArguments(argv), verbs, argv.includes("--json")));
}
