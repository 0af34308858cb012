import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bearers,
  begun,
  bundlePerformer,
  perform,
  prepare,
  resultOf,
  stage,
  untilFile,
  untilGone,
  wait,
} from "../support/performances.ts";

let script: string;
let remove: () => void;
beforeAll(async () => {
  ({ script, remove } = await bundlePerformer());
});
afterAll(() => remove());

describe("a performed command", () => {
  it("ends with its own exit code, its output in the log and in no pipe", async () => {
    const staged = stage("echo out; echo err >&2; exit 7");
    const result = await perform(script, staged);
    const bytes = readFileSync(staged.job.log);
    expect(bytes.toString()).toBe("out\nerr\n");
    expect(result).toMatchObject({ v: 1, nonce: staged.job.nonce, ending: "exited", code: 7, leftovers: "none" });
    expect(result.log).toEqual({
      sha256: createHash("sha256").update(bytes).digest("hex"),
      bytes: bytes.length,
      tail: "out\nerr\n",
    });
    expect(result.ms).toBeLessThan(10_000);
    expect(bearers(staged.job.nonce)).toEqual([]);
  });

  it("that kills itself is signalled, not exited", async () => {
    const result = await perform(script, stage("kill -SEGV $$"));
    expect(result).toMatchObject({ ending: "signalled", signal: "SIGSEGV" });
    expect(result).not.toHaveProperty("code");
  });

  it("reaches the shell byte for byte, whatever stands in it", async () => {
    const text = `printf '%s|' 'single' "dou\\"ble" \\$HOME "\${UNSET-\`echo tick\`}" 'naïve – 日本' <<'END'\nhere\nEND\nprintf 'second line %s' "$0 $#"`;
    const result = await perform(script, stage(text));
    expect(result.log.tail).toBe('single|dou"ble|$HOME|tick|naïve – 日本|second line /bin/sh 0');
  });

  it("has an empty stdin, no inherited pipe, a session of its own and only the environment it was given", async () => {
    const text = 'cat; [ -e /proc/$$/fd/3 ] && echo three || echo none; cut -d" " -f5,6 /proc/$$/stat; echo $$; env';
    const environment = {
      PATH: process.env.PATH ?? "",
      GIT_DIR: "/nowhere",
      GIT_INDEX_FILE: "x",
      ATLAS_NODE_OPTIONS: "--no-warnings",
      ATLAS_NODE_PATH: "",
      KEPT: "yes",
    };
    const staged = stage(text, { environment });
    const { log } = await perform(script, staged);
    const [third, ids, pid, ...env] = readFileSync(staged.job.log, "utf8").trim().split("\n");
    expect(third).toBe("none");
    expect(ids).toBe(`${pid} ${pid}`);
    const names = env.map((line) => line.split("=")[0]).filter((name) => name !== "_" && name !== "SHLVL");
    expect(new Set(names)).toEqual(new Set(["PATH", "PWD", "KEPT", "NODE_OPTIONS", "ATLAS_COMMAND_NONCE"]));
    expect(env).toContain("NODE_OPTIONS=--no-warnings");
    expect(env).toContain(`ATLAS_COMMAND_NONCE=${staged.job.nonce}`);
    expect(log.bytes).toBeGreaterThan(0);
  });

  it("past its time is ended with grandchildren that ignore SIGTERM and one in another session", async () => {
    const stubborn = (name: string) => `sh -c "trap '' TERM HUP INT; : > ${name}; while :; do sleep 600; done"`;
    const staged = stage(`${stubborn("one")} & setsid ${stubborn("two")} & wait`, { timeMs: 1500 });
    const result = await perform(script, staged);
    expect(existsSync(staged.at("one")) && existsSync(staged.at("two"))).toBe(true);
    expect(result).toMatchObject({ ending: "timed-out", limitMs: 1500 });
    expect(result.leftovers).toMatch(/^killed [4-9]$/);
    expect(result.ms).toBeLessThan(3500);
    expect(bearers(staged.job.nonce)).toEqual([]);
  });

  it("that exits well leaves no background child behind, not even in another session", async () => {
    const staged = stage("sleep 600 & setsid sleep 601 & exit 0");
    const result = await perform(script, staged);
    expect(result).toMatchObject({ ending: "exited", code: 0, leftovers: "killed 2" });
    expect(bearers(staged.job.nonce)).toEqual([]);
  });

  it("that clears its environment and leaves its session is remembered from an earlier look", async () => {
    const staged = stage("env -i /usr/bin/setsid sh -c 'echo $$ > hidden; exec sleep 600' & sleep 1; exit 0");
    const result = await perform(script, staged);
    expect(result).toMatchObject({ ending: "exited", code: 0, leftovers: "killed 1" });
    await untilGone(Number(readFileSync(staged.at("hidden"), "utf8")));
  });

  it("that floods its output is stopped, and the log is cut at the limit", async () => {
    const staged = stage("yes", { outputBytes: 1_000_000 });
    const result = await perform(script, staged);
    expect(result).toMatchObject({ ending: "output", limitBytes: 1_000_000, log: { bytes: 1_000_000 } });
    expect(statSync(staged.job.log).size).toBe(1_000_000);
  });

  it("that overflows in its last moment and exits well is not green", async () => {
    const result = await perform(script, stage("head -c 2000000 /dev/zero; exit 0", { outputBytes: 1_000_000 }));
    expect(result.ending).toBe("output");
  });

  it("that grows past its memory is stopped, children counted", async () => {
    const grow = "const a=[];setInterval(()=>a.push(Buffer.alloc(8e6,1)),10)";
    const memoryBytes = 150_000_000;
    const staged = stage(`'${process.execPath}' -e '${grow}' & '${process.execPath}' -e '${grow}'`, { memoryBytes });
    const result = await perform(script, staged);
    expect(result).toMatchObject({ ending: "memory", limitBytes: memoryBytes });
    expect(result.peakBytes).toBeGreaterThan(memoryBytes);
    expect(bearers(staged.job.nonce)).toEqual([]);
  });

  it("whose folder is missing was never started, and says so in a result", async () => {
    const staged = stage("echo never");
    const result = await perform(script, { ...staged, job: { ...staged.job, cwd: staged.at("missing") } });
    expect(result).toMatchObject({ ending: "unstarted", why: "folder", peakBytes: null, log: { bytes: 0 } });
  });

  it("whose log cannot be opened was never started", async () => {
    const staged = stage("echo never > ran");
    const result = await perform(script, { ...staged, job: { ...staged.job, log: staged.folder } });
    expect(result).toMatchObject({ ending: "unstarted", why: "log" });
    expect(existsSync(staged.at("ran"))).toBe(false);
  });

  it("too large for the system was never started", async () => {
    const environment = { PATH: "/bin", HUGE: "x".repeat(200_000) };
    expect(await perform(script, stage("echo never", { environment }))).toMatchObject({
      ending: "unstarted",
      why: "process",
    });
  });

  it("whose performer is asked to stop is killed; SIGHUP is not asking", async () => {
    const staged = stage(": > started; exec sleep 600");
    const prepared = await prepare(script, staged);
    prepared.go();
    await untilFile(staged.at("started"));
    const pid = prepared.performer.pid as number;
    process.kill(pid, "SIGHUP");
    expect(await wait(begun(prepared, staged), 200)).toEqual({ kind: "running" });
    process.kill(pid, "SIGTERM");
    const result = resultOf(await wait(begun(prepared, staged)));
    expect(result).toMatchObject({ ending: "killed" });
    expect(bearers(staged.job.nonce)).toEqual([]);
  });

  it("masks secrets in the tail and never splits a character", async () => {
    const environment = { PATH: "/usr/bin:/bin", DEPLOY_TOKEN: "tök-1234", PLAIN: "visible" };
    const text = `i=0; while [ $i -lt 3000 ]; do printf 'é'; i=$((i+1)); done; printf '%s' "$DEPLOY_TOKEN $PLAIN"; printf '\\303'`;
    const staged = stage(text, { environment });
    const { log } = await perform(script, staged);
    expect(readFileSync(staged.job.log, "latin1")).toContain(Buffer.from("tök-1234").toString("latin1"));
    expect(log.tail).toMatch(/^é+\*\*\* visible$/);
    expect(Buffer.byteLength(log.tail)).toBeGreaterThan(4000);
    expect(Buffer.byteLength(log.tail)).toBeLessThanOrEqual(4096);
  });

  it("that writes 300 MB costs its performer less than 100 MB", async () => {
    const staged = stage("head -c 300000000 /dev/zero");
    process.env.PERFORMER_PEAK_FILE = staged.at("peak");
    const prepared = await prepare(script, staged).finally(() => {
      delete process.env.PERFORMER_PEAK_FILE;
    });
    prepared.go();
    const result = resultOf(await wait(begun(prepared, staged)));
    expect(result).toMatchObject({ ending: "exited", code: 0, log: { bytes: 300_000_000 } });
    await untilGone(prepared.performer.pid);
    const peakBytes = Number(readFileSync(staged.at("peak"), "utf8"));
    expect(peakBytes).toBeGreaterThan(10_000_000);
    expect(peakBytes).toBeLessThan(100_000_000);
  });
});
