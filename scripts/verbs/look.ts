/** The verbs that only look, in a bundle of their own: a list of runs should not wait for the code that changes them. */
import { readArguments } from "./arguments.ts";
import { ping } from "./ping.ts";
import { guarded, runVerb, type Verb } from "./run-verb.ts";
import { status } from "./status.ts";

const verbs: Readonly<Record<string, Verb>> = { ping, status };

export async function run(argv: string[], entry: { readonly build: string }): Promise<number> {
  return guarded(argv, entry, () => runVerb(readArguments(argv), verbs, argv.includes("--json")));
}
