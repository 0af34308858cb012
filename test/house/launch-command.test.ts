import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { manifests, readPlugin } from "../../scripts/build/manifests.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { tempFolder } from "../support/temp.ts";

const generated = manifests(readPlugin(repositoryRoot));

function commandsOf(host: "claude" | "kimi"): readonly string[] {
  const path = host === "claude" ? "hooks/hooks.json" : ".kimi-plugin/plugin.json";
  return [...(generated.get(path) ?? "").matchAll(/"command": (".*")/g)].map(
    (match) => JSON.parse(match[1] ?? "") as string,
  );
}

const hosts = [
  ["claude", "CLAUDE_PLUGIN_ROOT"],
  ["kimi", "KIMI_PLUGIN_ROOT"],
] as const;

/** As both hosts do it. `undefined`: the host did not tell its plugin's folder. */
function runHook(command: string, variable: string, root: string | undefined) {
  const env = { ...process.env, ...(root === undefined ? {} : { [variable]: root }) };
  const child = spawnSync("/bin/sh", ["-c", command], { env, input: "{}" });
  return { code: child.status, stdout: child.stdout.toString(), stderr: child.stderr.toString() };
}

function launcherIn(folder: string, script: string): string {
  mkdirSync(join(folder, "hooks"), { recursive: true });
  writeFileSync(join(folder, "hooks", "run"), script);
  return folder;
}

describe("hook commands, run as a host runs them", () => {
  test.each(hosts)(
    "%s: a root with spaces, quotes, $, backticks and non-ASCII letters is one word",
    (host, variable) => {
      const name = `a b "c" 'd' $HOME $(touch x) \`touch y\` ünï; exit 9`;
      const folder = launcherIn(join(tempFolder(), name), 'printf "%s\\n" "$0" "$@"\n');
      const commands = commandsOf(host);
      expect(commands.length).toBeGreaterThan(4);
      for (const command of commands) {
        const { code, stdout, stderr } = runHook(command, variable, folder);
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        const event = command.split(" ").at(-1);
        const words = [join(folder, "hooks", "run"), "hook", "--host", host, "--on", event];
        expect(stdout.split("\n").slice(0, -1)).toEqual(words);
      }
    },
  );

  test.each(hosts)("%s: without a launcher or a known root a hook is silent and blocks nothing", (host, variable) => {
    for (const command of commandsOf(host))
      for (const root of [undefined, "", tempFolder()])
        expect(runHook(command, variable, root)).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test.each(hosts)("%s: without a PATH the shell is still found", (host, variable) => {
    const folder = launcherIn(tempFolder(), "echo here\n");
    const [command = ""] = commandsOf(host);
    const child = spawnSync("/bin/sh", ["-c", command], { env: { PATH: "/nonexistent", [variable]: folder } });
    expect({ code: child.status, stdout: child.stdout.toString() }).toEqual({ code: 0, stdout: "here\n" });
  });

  test.each(hosts)("%s: cmd comes to the batch file and no further, a POSIX shell never to it", (host, variable) => {
    for (const command of commandsOf(host)) {
      const words = `hook --host ${host} --on ${command.split(" ").at(-1)}`;
      const [forCmd = "", forShell = ""] = command.split(" || exit 0; test ");
      expect(forCmd).toBe(`true || "%${variable}%\\hooks\\run.cmd" ${words}`);
      // Nothing that cmd would take for an operator or a variable but the `||` it never reaches.
      expect(forShell.replace(" || ", " ")).not.toMatch(/[&|<>^%()]/);
      const folder = launcherIn(tempFolder(), "echo launcher\n");
      const decoy = join(folder, `%${variable}%\\hooks\\run.cmd`);
      writeFileSync(decoy, "#!/bin/sh\necho decoy\n", { mode: 0o755 });
      const child = spawnSync("/bin/sh", ["-c", command], { cwd: folder, env: { PATH: folder, [variable]: folder } });
      expect(child.stdout.toString()).toBe("launcher\n");
    }
  });

  test.each(hosts)("%s: the launcher's exit code and stdin are the hook's", (host, variable) => {
    const folder = launcherIn(tempFolder(), "cat; exit 2\n");
    const [command = ""] = commandsOf(host);
    expect(runHook(command, variable, folder)).toEqual({ code: 2, stdout: "{}", stderr: "" });
  });
});
