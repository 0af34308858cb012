import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeOwnRun } from "../support/ledger.ts";
import { hookCommands, installed, shipped } from "../support/replay.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import { sessionId } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

const product = shipped();
/** Five for a shell and a node that many others run beside; a hook that waits for an end waits for hours. */
const patienceMs = 2000 + 5000;

test("C-15: a hook acts on the first whole value, gives up on any other input, and never waits for stdin to end", async () => {
  const world = product.world();
  writeOwnRun(join(world.project, ".atlas"));
  const plugin = installed(product, tempFolder());
  const payload = (more: object) =>
    JSON.stringify({
      session_id: sessionId(1),
      cwd: world.project,
      hook_event_name: "SessionStart",
      source: "startup",
      ...more,
    });
  const inputs = {
    whole: payload({}),
    "with a second value behind": `${payload({})}{"session_id":"x"}`,
    "of 5 MB": payload({ filler: "x".repeat(5_000_000) }),
    nothing: "",
    garbage: "\u0000\u0001 not json {]",
    half: payload({}).slice(0, -1),
  };
  const run = (host: "claude" | "kimi", text: string) => {
    const env = cliEnvironment({ ...world.env, CLAUDE_PLUGIN_ROOT: plugin.root, KIMI_PLUGIN_ROOT: plugin.root });
    const command = hookCommands(host).get("SessionStart") as string;
    const child = spawn("/bin/sh", ["-c", command], { cwd: world.project, env, stdio: ["pipe", "pipe", "ignore"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const begun = performance.now();
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString("utf8");
    });
    child.stdin.on("error", () => {});
    // Written and left open.
    child.stdin.write(text);
    return new Promise<{ code: number | null; said: boolean; inTime: boolean }>((resolve) => {
      child.on("close", (code) =>
        resolve({ code, said: out.includes("atlas: unfinished run."), inTime: performance.now() - begun < patienceMs }),
      );
    });
  };
  const spoken = new Set(["whole", "with a second value behind", "of 5 MB"]);
  for (const host of ["claude", "kimi"] as const) {
    const names = Object.entries(inputs).filter(([name]) => host === "claude" || !spoken.has(name));
    const answers = await Promise.all(names.map(([, text]) => run(host, text)));
    expect(names.map(([name], at) => [host, name, answers[at]])).toEqual(
      names.map(([name]) => [host, name, { code: 0, said: spoken.has(name), inTime: true }]),
    );
  }
});
