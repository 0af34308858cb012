/** What makes a fresh tree ready for its tests, as far as the lockfile says it and it stays inside the tree. */
import type { Packet } from "../kinds/change/door-packet.ts";
import type { FileSystem } from "../platform/fs.ts";
import { readJson, record } from "../verify/command/manifests.ts";
import type { Runner } from "../verify/runner.ts";
import type { Look } from "../verify/test-command.ts";
import { lookBelow, packageManagerOf } from "./discover.ts";
import { resolveCommand } from "./readers.ts";

const scripted: ReadonlySet<Runner> = new Set<Runner>([
  "vitest",
  "jest",
  "mocha",
  "node-test",
  "ava",
  "playwright",
  "bun",
]);

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A set-up of the fixed list; empty: none is needed, or none is safe. Cargo, go, maven, gradle and dotnet fetch what they
 * need by themselves. `requirements.txt` and a Gemfile install outside the tree, so they are left alone.
 */
export function discoverSetup(fs: FileSystem, root: string, verify: string, environment: Environment): string {
  const look = lookBelow(fs, root);
  const { runners } = resolveCommand(verify, look);
  const words = verify.trim().split(/\s+/, 2).join(" ");
  // uv's own environment stands in the tree; poetry's does where it is told to, unless another one is active.
  if (words === "uv run") return look("uv.lock") === null ? "" : "uv sync --frozen";
  if (words === "poetry run") {
    const isActive = (environment.VIRTUAL_ENV ?? "") !== "" || (environment.CONDA_PREFIX ?? "") !== "";
    if (isActive || look("poetry.lock") === null) return "";
    return "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction";
  }
  if (runners.length === 0 || runners.some((runner) => scripted.has(runner))) return scriptedSetup(look);
  const needsVendor = runners.includes("phpunit") && look("composer.lock") !== null;
  return needsVendor ? "composer install --no-interaction" : "";
}

/** The packet with a set-up where it has none, and whether one was added. */
export function withSetup(
  fs: FileSystem,
  root: string,
  packet: Packet,
  environment: Environment,
): { readonly packet: Packet; readonly assumed: readonly string[] } {
  const setup =
    packet.setup_cmd === undefined && packet.verify_cmd !== ""
      ? discoverSetup(fs, root, packet.verify_cmd, environment)
      : "";
  if (setup === "") return { packet, assumed: [] };
  return { packet: { ...packet, setup_cmd: setup }, assumed: ["setup_cmd"] };
}

function scriptedSetup(look: Look): string {
  if (look("package.json") === null) return "";
  switch (packageManagerOf(look)) {
    case "npm": {
      const lock = look("npm-shrinkwrap.json") ?? look("package-lock.json");
      const packages = record(readJson(lock)?.packages);
      const isEmpty = packages !== null && Object.keys(packages).every((path) => path === "");
      return lock === null || isEmpty ? "" : "npm ci";
    }
    case "pnpm":
      return look("pnpm-lock.yaml") === null ? "" : "pnpm install --frozen-lockfile";
    case "yarn": {
      const lock = look("yarn.lock");
      if (lock === null) return "";
      return lock.includes("__metadata:") ? "yarn install --immutable" : "yarn install --frozen-lockfile";
    }
    case "bun":
      return look("bun.lock") === null && look("bun.lockb") === null ? "" : "bun install --frozen-lockfile";
  }
}
