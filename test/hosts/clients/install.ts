/**
 * The real clients, from npm into a cache outside the checkout: `$XDG_CACHE_HOME/atlas-test-hosts`, by default
 * `~/.cache/atlas-test-hosts`. What is there is used again.
 *
 * What a failure leaves behind: a folder `.new-*` in the cache, never half a client under its own name.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const claudeVersions = ["2.1.332", "2.1.197"] as const;
export type ClaudeVersion = (typeof claudeVersions)[number];
export const kimiVersion = "2.1.0";

export interface Clients {
  /** The program of each version. */
  readonly claude: Readonly<Record<ClaudeVersion, string>>;
  /** A node new enough for it, and its script. */
  readonly kimi: readonly [node: string, script: string];
}

const installMs = 300_000;

/** Throws with npm's own words where a client cannot be had. */
export function installClients(): Clients {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "atlas-test-hosts");
  mkdirSync(cache, { recursive: true });
  const claude = (version: ClaudeVersion): string => {
    const modules = installed(cache, `claude-code-${version}`, [`@anthropic-ai/claude-code@${version}`]);
    return checked(claudeProgram(modules), ["--version"], version);
  };
  const modules = installed(cache, `kimi-code-${kimiVersion}`, ["node@24", `@moonshot-ai/kimi-code@${kimiVersion}`]);
  const kimi = [join(modules, ".bin", "node"), join(modules, "@moonshot-ai", "kimi-code", "dist", "main.mjs")] as const;
  checked(kimi[0], [kimi[1], "--version"], kimiVersion);
  return { claude: { "2.1.332": claude("2.1.332"), "2.1.197": claude("2.1.197") }, kimi };
}

/** The native program, where npm did not run the script that links it as well. */
function claudeProgram(modules: string): string {
  const native = join(modules, "@anthropic-ai", `claude-code-${process.platform}-${process.arch}`, "claude");
  return existsSync(native) ? native : join(modules, ".bin", "claude");
}

/** Its `node_modules`. */
function installed(cache: string, name: string, packages: readonly string[]): string {
  const folder = join(cache, name);
  const modules = join(folder, "node_modules");
  if (existsSync(modules)) return modules;
  const made = mkdtempSync(join(cache, ".new-"));
  const words = ["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix", made, ...packages];
  const done = spawnSync("npm", words, { encoding: "utf8", timeout: installMs, stdio: ["ignore", "pipe", "pipe"] });
  if (done.status !== 0) {
    rmSync(made, { recursive: true, force: true });
    throw new Error(`npm could not install ${packages.join(" ")}: ${done.error?.message ?? done.stderr}`);
  }
  try {
    renameSync(made, folder);
  } catch {
    // Somebody else was faster.
    rmSync(made, { recursive: true, force: true });
  }
  return modules;
}

function checked(program: string, words: readonly string[], version: string): string {
  const done = spawnSync(program, words, { encoding: "utf8", timeout: 60_000 });
  if (!done.stdout?.includes(version)) {
    throw new Error(`${program} is not version ${version}: ${done.error?.message ?? done.stderr ?? done.stdout}`);
  }
  return program;
}
