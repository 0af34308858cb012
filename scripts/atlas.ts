/**
 * The entry: argv in, exit code out. Hooks are answered in this bundle; every other verb lives in the bundle beside
 * it, loaded only then.
 */
import { dirname, join } from "node:path";
import { hook } from "./hosts/hook.ts";

/** One id for all bundles of a build, injected by it. */
declare const ATLAS_BUILD: string;

interface Verbs {
  run(argv: string[], entry: { readonly build: string }): Promise<number>;
}

async function main(argv: string[]): Promise<void> {
  if (argv[0] === "hook") {
    const code = await hook(argv, dirname(__dirname));
    // The host's end of stdin may stay open for ever.
    process.exit(code);
  }
  let verbs: Verbs;
  try {
    // A computed path: the bundler must leave this one to node.
    verbs = require(join(__dirname, "verbs.cjs")) as Verbs;
  } catch (error) {
    process.exitCode = broken(argv, error);
    return;
  }
  process.exitCode = await verbs.run(argv, { build: ATLAS_BUILD });
}

/** The installation is not whole: exit code 4. */
function broken(argv: readonly string[], cause: unknown): number {
  const reason = `dist/verbs.cjs beside this file cannot be loaded: ${String(cause).split("\n")[0]}`;
  const fix = "reinstall the atlas plugin";
  if (argv.includes("--json"))
    process.stdout.write(`${JSON.stringify({ error: { code: "install.broken", reason, fix } })}\n`);
  process.stderr.write(`atlas: ${reason}; ${fix}\n`);
  return 4;
}

void main(process.argv.slice(2));
