import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { manifests, readPlugin } from "../../scripts/build/manifests.ts";
import { repositoryRoot } from "../support/run-cli.ts";

const plugin = readPlugin(repositoryRoot);
const generated = manifests(plugin);
const parsed = (path: string) => JSON.parse(generated.get(path) ?? "null") as Record<string, unknown>;
const isThere = (path: string) => existsSync(join(repositoryRoot, path));

/** Events both hosts know, from their own documentation: an unknown one is dropped or breaks the plugin. */
const knownEvents = new Set([
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Stop",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
]);

describe("manifests", () => {
  test.each([...generated.keys()])("%s is as generated from plugin.json", (path) => {
    expect(readFileSync(join(repositoryRoot, path), "utf8")).toBe(generated.get(path));
  });

  test("one name, version and description everywhere", () => {
    for (const path of [".claude-plugin/plugin.json", ".kimi-plugin/plugin.json"])
      expect(parsed(path)).toMatchObject({
        name: plugin.name,
        version: plugin.version,
        description: plugin.description,
        license: "MIT",
      });
    expect(plugin.name).toMatch(/^[a-z0-9][a-z0-9_-]{0,63}$/);
    expect(typeof plugin.author.name).toBe("string");
  });

  test("Claude Code's: paths begin with ./ and exist, no folder of agents is named", () => {
    const manifest = parsed(".claude-plugin/plugin.json");
    expect(manifest.skills).toMatch(/^\.\//);
    expect(isThere(String(manifest.skills))).toBe(true);
    expect(Object.keys(manifest)).not.toContain("agents");
    const market = parsed(".claude-plugin/marketplace.json") as {
      name: string;
      owner: { name: string };
      plugins: { name: string; source: string }[];
    };
    expect(market).toMatchObject({ name: "atlas", owner: { name: plugin.author.name } });
    expect(market.plugins.map(({ name, source }) => [name, source])).toEqual([["atlas", "./"]]);
  });

  test("Claude Code's hooks: known events, quoted root, bounded time, no wildcard", () => {
    const { hooks } = parsed("hooks/hooks.json") as {
      hooks: Record<string, { matcher?: string; hooks: { type: string; command: string; timeout: number }[] }[]>;
    };
    expect(Object.keys(hooks)).toEqual(expect.arrayContaining(["SessionStart", "PostCompact", "SessionEnd"]));
    for (const [event, entries] of Object.entries(hooks)) {
      expect(knownEvents.has(event), event).toBe(true);
      for (const { matcher, hooks: commands } of entries) {
        if (matcher !== undefined) expect(matcher).not.toMatch(/[*.?]|^$/);
        if (event === "PreToolUse") expect(matcher).toBe("Agent|Task|Write|Edit|MultiEdit|NotebookEdit");
        for (const { type, command, timeout } of commands) {
          expect(type).toBe("command");
          expect(command).toMatch(new RegExp(`"\\$CLAUDE_PLUGIN_ROOT/hooks/run" hook --host claude --on ${event}$`));
          expect(timeout).toBeLessThanOrEqual(event === "SessionEnd" ? 2 : 5);
        }
      }
    }
    // Every source of a session start: `startup|resume|clear|compact` would miss `fork`.
    expect(hooks.SessionStart?.map(({ matcher }) => matcher)).toEqual([undefined]);
  });

  test("Kimi Code's: strict hook entries, a session skill that exists by its own name", () => {
    const manifest = parsed(".kimi-plugin/plugin.json") as {
      skills: string;
      sessionStart: { skill: string };
      hooks: Record<string, unknown>[];
    };
    expect(Array.isArray(manifest.hooks)).toBe(true);
    for (const hook of manifest.hooks) {
      const { event, matcher, command, timeout, ...rest } = hook;
      expect(rest).toEqual({});
      expect(knownEvents.has(String(event)), String(event)).toBe(true);
      if (matcher !== undefined) expect(() => new RegExp(String(matcher))).not.toThrow();
      if (event === "PreToolUse") expect(matcher).toMatch(/^\^\(.*\)\$$/);
      expect(command).toMatch(new RegExp(`"\\$KIMI_PLUGIN_ROOT/hooks/run" hook --host kimi --on ${event}$`));
      expect(Number.isInteger(timeout) && Number(timeout) >= 1 && Number(timeout) <= 600).toBe(true);
    }
    const skill = join(repositoryRoot, manifest.skills, manifest.sessionStart.skill, "SKILL.md");
    expect(readFileSync(skill, "utf8")).toMatch(new RegExp(`^---\nname: ${manifest.sessionStart.skill}\n`));
  });

  test("an event is listed once a host", () => {
    for (const rows of [plugin.hooks.claude, plugin.hooks.kimi]) {
      const events = rows.map(({ event }) => event);
      expect(new Set(events).size).toBe(events.length);
    }
  });
});
