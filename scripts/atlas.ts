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

const nodeMajorMin = 20;

async function main(argv: string[]): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < nodeMajorMin) {
    process.exitCode = tooOld(argv);
    return;
  }
  if (argv[0] === "hook") {
    const code = await hook(argv, dirname(__dirname));
    // The host's end of stdin may stay open for ever.
    process.exit(code);
  }
  let verbs: Verbs;
  try {
    // A computed path: the bundler must leave this one to node.
    verbs = require(join(__dirname, bundleOf(argv))) as Verbs;
  } catch (error) {
    process.exitCode = broken(argv, error);
    return;
  }
  const code = await verbs.run(argv, { build: ATLAS_BUILD });
  // A verb that looks leaves nothing running and has written everything.
  if (bundleOf(argv) === "look.cjs") process.exit(code);
  process.exitCode = code;
}

/** The verbs that only look, and those that begin each turn, have smaller bundles, which are there sooner. */
function bundleOf(argv: readonly string[]): string {
  if (argv.includes("--help")) return "verbs.cjs";
  if (argv[0] === "status" || argv[0] === "ping") return "look.cjs";
  return argv[0] === "resume" || argv[0] === "next" ? "steps.cjs" : "verbs.cjs";
}

/** The installation is not whole: exit code 4. */
function broken(argv: readonly string[], cause: unknown): number {
  const reason = `dist/${bundleOf(argv)} beside this file cannot be loaded: ${String(cause).split("\n")[0]}`;
  return unfit(argv, { code: "install.broken", reason, fix: "reinstall the atlas plugin" });
}

/** A hook says so at a session's start and lets the session go on; for a command it is exit code 4. */
function tooOld(argv: readonly string[]): number {
  const reason = `node ${process.versions.node} is too old`;
  const fix = `install Node ${nodeMajorMin} or newer, or set ATLAS_NODE`;
  if (argv[0] === "hook" && !argv.includes("SessionStart")) return 0;
  const code = unfit(argv, { code: "install.node", reason, fix });
  return argv[0] === "hook" ? 0 : code;
}

function unfit(argv: readonly string[], error: { code: string; reason: string; fix: string }): number {
  if (argv.includes("--json")) process.stdout.write(`${JSON.stringify({ error })}\n`);
  process.stderr.write(`atlas: ${error.reason}; ${error.fix}\n`);
  return 4;
}

void main(process.argv.slice(2));
