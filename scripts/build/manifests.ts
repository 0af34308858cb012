/** The root `plugin.json` is the only manifest people edit; each host's own form is derived from it here. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFacts } from "./inputs.ts";

/** One hook, said once for a host. `timeout` in seconds. */
export interface HookRow {
  readonly event: string;
  readonly matcher?: string;
  readonly timeout: number;
}

export interface PluginSource {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author: { readonly name: string };
  readonly license: string;
  readonly homepage?: string;
  readonly keywords: readonly string[];
  readonly skills: string;
  readonly sessionStart: { readonly skill: string };
  readonly hooks: { readonly claude: readonly HookRow[]; readonly kimi: readonly HookRow[] };
}

export function readPlugin(root: string): PluginSource {
  const plugin = JSON.parse(readFileSync(join(root, "plugin.json"), "utf8")) as PluginSource;
  const { name, version } = packageFacts(root);
  if (plugin.name !== name || plugin.version !== version)
    throw new Error(`plugin.json says ${plugin.name} ${plugin.version}, package.json says ${name} ${version}`);
  return plugin;
}

/** Path (relative to the root) to content of every generated manifest. */
export function manifests(plugin: PluginSource): ReadonlyMap<string, string> {
  return new Map([
    [".claude-plugin/plugin.json", json(claudeManifest(plugin))],
    [".claude-plugin/marketplace.json", json(claudeMarketplace(plugin))],
    [".kimi-plugin/plugin.json", json(kimiManifest(plugin))],
    ["hooks/hooks.json", json(claudeHooks(plugin.hooks.claude))],
  ]);
}

function about(plugin: PluginSource) {
  return {
    name: plugin.name,
    version: plugin.version,
    description: plugin.description,
    author: plugin.author,
    ...(plugin.homepage === undefined ? {} : { homepage: plugin.homepage }),
    license: plugin.license,
    keywords: plugin.keywords,
  };
}

/** Claude Code finds skills, agents and hooks/hooks.json by their places; naming a folder of agents is an error. */
function claudeManifest(plugin: PluginSource) {
  return { ...about(plugin), skills: plugin.skills };
}

function claudeMarketplace(plugin: PluginSource) {
  return {
    name: plugin.name,
    description: plugin.description,
    owner: plugin.author,
    plugins: [{ name: plugin.name, source: "./", description: plugin.description, version: plugin.version }],
  };
}

/** Kimi Code scans `skills` only when it is named, finds `agents/` by itself, and takes hooks as a strict list. */
function kimiManifest(plugin: PluginSource) {
  const hooks = plugin.hooks.kimi.map(({ event, matcher, timeout }) => ({
    event,
    ...(matcher === undefined ? {} : { matcher }),
    command: hookCommand("kimi", "KIMI_PLUGIN_ROOT", event),
    timeout,
  }));
  return { ...about(plugin), skills: plugin.skills, sessionStart: plugin.sessionStart, hooks };
}

function claudeHooks(rows: readonly HookRow[]) {
  const hooks: Record<string, object[]> = {};
  for (const { event, matcher, timeout } of rows) {
    const hook = { type: "command", command: hookCommand("claude", "CLAUDE_PLUGIN_ROOT", event), timeout };
    const entries = hooks[event] ?? [];
    entries.push({ ...(matcher === undefined ? {} : { matcher }), hooks: [hook] });
    hooks[event] = entries;
  }
  return { hooks };
}

/**
 * The shell expands the variable itself, inside quotes. A host's own `${…}` substitution would paste the path into
 * the command, and a quote or `$` in it would then be code. Without a launcher (no root told, a plugin half removed)
 * the hook is silent: a shell that finds no script ends with 2, which both hosts take as "block this tool".
 *
 * On Windows Claude Code hands the line to Git's bash and Kimi Code to cmd, where `true` is no command: cmd goes on
 * to the batch file and reads no further, every POSIX shell begins behind the first `;`.
 */
function hookCommand(host: string, rootVariable: string, event: string): string {
  const words = `hook --host ${host} --on ${event}`;
  const batch = `"%${rootVariable}%\\hooks\\run.cmd"`;
  const launcher = `"$${rootVariable}/hooks/run"`;
  return `true || ${batch} ${words} || exit 0; test -r ${launcher} || exit 0; exec /bin/sh ${launcher} ${words}`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
