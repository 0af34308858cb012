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
  const cache = cacheFolder();
  const claude = (version: ClaudeVersion): string => {
    const modules = installed(cache, `claude-code-${version}`, [`@anthropic-ai/claude-code@${version}`]);
    return checked(claudeProgram(modules), ["--version"], version);
  };
  const modules = installed(cache, `kimi-code-${kimiVersion}`, ["node@24", `@moonshot-ai/kimi-code@${kimiVersion}`]);
  const kimi = [join(modules, ".bin", "node"), join(modules, "@moonshot-ai", "kimi-code", "dist", "main.mjs")] as const;
  checked(kimi[0], [kimi[1], "--version"], kimiVersion);
  return { claude: { "2.1.332": claude("2.1.332"), "2.1.197": claude("2.1.197") }, kimi };
}

const lookUpMs = 5_000;
const newestMs = 30_000;

/** The newest Claude Code where the registry has one that is newer than `known`; else, or too late, why there is none. */
export function newestClaude(
  known: string,
  words: Words = npm,
): { readonly program: string } | { readonly none: string } {
  const asked = words(["view", "@anthropic-ai/claude-code", "version"], lookUpMs);
  if (asked === null) return { none: "the registry did not answer" };
  const version = asked.trim();
  if (!/^\d+(\.\d+){2}$/.test(version)) return { none: "the registry named no version" };
  if (version.localeCompare(known, "en", { numeric: true }) <= 0) return { none: `nothing newer than ${known}` };
  const cache = cacheFolder();
  try {
    const modules = installed(cache, `claude-code-${version}`, [`@anthropic-ai/claude-code@${version}`], newestMs);
    return { program: checked(claudeProgram(modules), ["--version"], version) };
  } catch (error) {
    return { none: `${version} could not be installed: ${String(error).slice(0, 500)}` };
  }
}

type Words = (words: readonly string[], timeoutMs: number) => string | null;

/** What npm prints; null where it fails, or takes longer. */
function npm(words: readonly string[], timeout: number): string | null {
  const done = spawnSync("npm", words, { encoding: "utf8", timeout, stdio: ["ignore", "pipe", "ignore"] });
  return done.status === 0 ? done.stdout : null;
}

function cacheFolder(): string {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "atlas-test-hosts");
  mkdirSync(cache, { recursive: true });
  return cache;
}

/** The native program, where npm did not run the script that links it as well. */
function claudeProgram(modules: string): string {
  const native = join(modules, "@anthropic-ai", `claude-code-${process.platform}-${process.arch}`, "claude");
  return existsSync(native) ? native : join(modules, ".bin", "claude");
}

/** Its `node_modules`. */
function installed(cache: string, name: string, packages: readonly string[], timeout = installMs): string {
  const folder = join(cache, name);
  const modules = join(folder, "node_modules");
  if (existsSync(modules)) return modules;
  const made = mkdtempSync(join(cache, ".new-"));
  const words = ["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--prefix", made, ...packages];
  const done = spawnSync("npm", words, { encoding: "utf8", timeout, stdio: ["ignore", "pipe", "pipe"] });
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
