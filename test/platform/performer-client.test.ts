import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { EnvironmentFailure } from "../../scripts/core/result.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import {
  endRemains,
  isPerformerAlive,
  type PreparedPerformer,
  preparePerformer,
} from "../../scripts/platform/performer-client.ts";
import { readJob } from "../../scripts/platform/performer-job.ts";
import { type CommandResult, pollResult } from "../../scripts/platform/performer-result.ts";
import { identityOf } from "../../scripts/platform/processes.ts";
import {
  bearers,
  begun,
  bundlePerformer,
  prepare,
  processes,
  resultOf,
  type Stage,
  stage,
  until,
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

/** A command line in a process of its own: prepares, says so, and dies at one word. */
async function ask(
  staged: Stage,
): Promise<{ prepared: PreparedPerformer; die: (word: "die" | "go") => Promise<void> }> {
  const spec = staged.at("spec.json");
  writeFileSync(spec, JSON.stringify({ job: staged.job, jobPath: staged.jobPath }));
  const asker = spawn(process.execPath, [script, "ask", spec], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(asker.stdout), "line");
  const die = async (word: string): Promise<void> => {
    const gone = once(asker, "exit");
    asker.stdin.write(`${word}\n`);
    expect((await gone)[1]).toBe("SIGKILL");
  };
  return { prepared: JSON.parse(line), die };
}

/** A group of its own that has nothing to do with any command. */
function innocent(): { readonly child: ChildProcess; readonly pid: number; readonly start: string } {
  const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const pid = child.pid as number;
  return { child, pid, start: processes.look(pid)?.start as string };
}

describe("before go", () => {
  it("the process and its group are known, and not a byte of the command has run", async () => {
    const staged = stage(": > ran");
    const prepared = await prepare(script, staged);
    expect(prepared.performer).toEqual(identityOf(processes, prepared.performer.pid as number));
    const group = prepared.group as { pgid: number; start: string };
    expect(processes.look(group.pgid)).toMatchObject({ start: group.start, parent: prepared.performer.pid });
    expect(bearers(staged.job.nonce)).toEqual([group.pgid]);
    expect(await wait(begun(prepared, staged), 100)).toEqual({ kind: "running" });
    expect(existsSync(staged.at("ran"))).toBe(false);
    prepared.go();
    expect(resultOf(await wait(begun(prepared, staged)))).toMatchObject({ ending: "exited", code: 0 });
    expect(existsSync(staged.at("ran"))).toBe(true);
  });

  it("a parent that gives up sends everything away", async () => {
    const staged = stage(": > ran");
    const prepared = await prepare(script, staged);
    prepared.giveUp();
    await untilGone(prepared.performer.pid);
    expect(bearers(staged.job.nonce)).toEqual([]);
    expect(existsSync(staged.at("ran")) || existsSync(staged.job.result)).toBe(false);
    expect(await wait(begun(prepared, staged))).toEqual({ kind: "lost", ended: 0, refused: null });
  });

  it("a parent that is killed never has its command run", async () => {
    const staged = stage(": > ran");
    const { prepared, die } = await ask(staged);
    await die("die");
    await untilGone(prepared.performer.pid);
    await untilGone(prepared.group?.pgid ?? null);
    expect(existsSync(staged.at("ran")) || existsSync(staged.job.result)).toBe(false);
  });

  it("a performer that is killed takes the waiting shell with it", async () => {
    const staged = stage(": > ran");
    const prepared = await prepare(script, staged);
    process.kill(prepared.performer.pid as number, "SIGKILL");
    await untilGone(prepared.group?.pgid ?? null);
    prepared.go();
    expect(existsSync(staged.at("ran"))).toBe(false);
  });

  it("the job's secrets are for the owner's eyes and gone once read", async () => {
    const staged = stage("true");
    // An entry that reads nothing and says nothing: the file is seen as it was written.
    const silent: readonly [string, ...string[]] = ["/bin/sh", "-c", 'cp -p "$0" "$0.seen"; exit 1'];
    const { job, jobPath } = staged;
    await expect(preparePerformer({ fs: realFileSystem, entry: silent, job, jobPath })).rejects.toThrow(
      EnvironmentFailure,
    );
    expect(statSync(`${jobPath}.seen`).mode & 0o777).toBe(0o600);
    expect(readJob(realFileSystem, `${jobPath}.seen`)).toEqual({ ok: true, job });
    const prepared = await prepare(script, staged);
    prepared.giveUp();
    expect(readdirSync(staged.folder)).not.toContain("job.json");
  });

  it("a performer that does not speak in time is ended, not waited for", async () => {
    const { job, jobPath, at } = stage("true");
    const mute: readonly [string, ...string[]] = ["/bin/sh", "-c", `echo $$ > '${at("pid")}'; exec sleep 600`];
    const asked = preparePerformer({ fs: realFileSystem, entry: mute, job, jobPath, timeoutMs: 300 });
    await expect(asked).rejects.toMatchObject({ code: "command.unprepared" });
    await untilGone(Number(readFileSync(at("pid"), "utf8")));
  });

  it("a job with a field too many, too few or of another kind is not performed, and the field is named", async () => {
    const good = stage("true").job;
    const bad: [object, string][] = [
      [{ ...good, more: 1 }, "other fields"],
      [{ ...good, v: 2 }, "bad v"],
      [{ ...good, nonce: "a/b" }, "bad nonce"],
      [{ ...good, text: "a\0b" }, "bad text"],
      [{ ...good, text: "x".repeat(65_537) }, "bad text"],
      [{ ...good, cwd: "relative" }, "bad cwd"],
      [{ ...good, timeMs: 0 }, "bad timeMs"],
      [{ ...good, outputBytes: 1.5 }, "bad outputBytes"],
      [{ ...good, environment: { "A=B": "c" } }, "bad environment"],
      [{ ...good, environment: { A: 1 } }, "bad environment"],
    ];
    const { at } = stage("true");
    for (const [job, why] of bad) {
      writeFileSync(at("job.json"), JSON.stringify(job));
      expect(readJob(realFileSystem, at("job.json"))).toMatchObject({ ok: false, why: expect.stringContaining(why) });
    }
    const staged = stage("true");
    const told = preparePerformer({
      fs: realFileSystem,
      entry: [process.execPath, script, "perform"],
      job: { ...staged.job, timeMs: -1 },
      jobPath: staged.jobPath,
    });
    await expect(told).rejects.toThrow("bad timeMs");
  });
});

describe("after go", () => {
  it("the result is found though the parent was killed in the same breath", async () => {
    const staged = stage("echo done; exit 5");
    const { prepared, die } = await ask(staged);
    await die("go");
    const result = resultOf(await wait(begun(prepared, staged)));
    expect(result).toMatchObject({ ending: "exited", code: 5, log: { tail: "done\n" } });
  });

  it("two waits at once agree on a result", async () => {
    const staged = stage("read -r word < fifo; exit 4");
    makeFifo(staged.at("fifo"));
    const prepared = await prepare(script, staged);
    prepared.go();
    const both = [wait(begun(prepared, staged)), wait(begun(prepared, staged))];
    writeFileSync(staged.at("fifo"), "on\n");
    const [one, two] = await Promise.all(both);
    expect(one).toEqual(two);
    expect(resultOf(one as NonNullable<typeof one>)).toMatchObject({ ending: "exited", code: 4 });
  });

  it("a killed performer is lost, and what it left is ended, whoever asks, and asks again", async () => {
    const stubborn = "trap '' TERM; : > one; while :; do sleep 600; done";
    const staged = stage(`sh -c "${stubborn}" & setsid sh -c ': > two; exec sleep 601' & : > three; wait`);
    const prepared = await prepare(script, staged);
    prepared.go();
    for (const name of ["one", "two", "three"]) await untilFile(staged.at(name));
    process.kill(prepared.performer.pid as number, "SIGKILL");
    await untilGone(prepared.performer.pid);
    expect(bearers(staged.job.nonce).length).toBeGreaterThanOrEqual(3);
    const both = await Promise.all([wait(begun(prepared, staged)), wait(begun(prepared, staged))]);
    for (const settled of both) expect(settled).toMatchObject({ kind: "lost", refused: null });
    expect(Math.max(...both.map((settled) => (settled.kind === "lost" ? settled.ended : 0)))).toBeGreaterThanOrEqual(3);
    expect(bearers(staged.job.nonce)).toEqual([]);
    expect(await wait(begun(prepared, staged))).toEqual({ kind: "lost", ended: 0, refused: null });
  });

  it("a result the command forges while it runs is refused, and the true one is told", async () => {
    const staged = stage('printf %s "$FORGED" > result.json; : > forged; read -r word < fifo; exit 9');
    makeFifo(staged.at("fifo"));
    const forged = JSON.stringify(green(staged.job.nonce));
    const armed = { ...staged, job: { ...staged.job, environment: { ...staged.job.environment, FORGED: forged } } };
    const prepared = await prepare(script, armed);
    prepared.go();
    await untilFile(staged.at("forged"));
    expect(pollResult(realFileSystem, staged.job.result, prepared.ticket)).toEqual({
      kind: "refused",
      why: "the result was not written by the command's performer",
    });
    expect(await wait(begun(prepared, armed), 100)).toEqual({ kind: "running" });
    writeFileSync(staged.at("fifo"), "on\n");
    expect(resultOf(await wait(begun(prepared, armed)))).toMatchObject({ ending: "exited", code: 9 });
  });

  it("a command that forges a result and kills its performer is lost, not green", async () => {
    const staged = stage('printf %s "$FORGED" > result.json; kill -9 $PPID; sleep 600');
    const environment = { ...staged.job.environment, FORGED: JSON.stringify(green(staged.job.nonce)) };
    const armed = { ...staged, job: { ...staged.job, environment } };
    const prepared = await prepare(script, armed);
    prepared.go();
    expect(await wait(begun(prepared, armed))).toMatchObject({
      kind: "lost",
      refused: "the result was not written by the command's performer",
    });
    expect(bearers(staged.job.nonce)).toEqual([]);
  });
});

describe("a result file", () => {
  it("of another command, of another shape or of no file at all is refused; none is none", async () => {
    const staged = stage("true");
    const prepared = await prepare(script, staged);
    prepared.go();
    const { ticket } = prepared;
    const honest = resultOf(await wait(begun(prepared, staged)));
    const at = staged.at("other.json");
    const poll = () => pollResult(realFileSystem, at, ticket);
    expect(poll()).toEqual({ kind: "none" });
    writeFileSync(at, JSON.stringify(honest));
    expect(poll()).toEqual({ kind: "result", result: honest });
    const { log } = honest;
    const changed: object[] = [
      { ...honest, nonce: "0123456789ab" },
      { ...honest, key: "0".repeat(64) },
      { ...honest, v: 2 },
      { ...honest, more: 1 },
      { ...honest, ending: "lost", code: undefined },
      { ...honest, ending: "killed" },
      { ...honest, signal: "SIGKILL" },
      { ...honest, code: -1 },
      { ...honest, ms: "1" },
      { ...honest, peakBytes: undefined },
      { ...honest, leftovers: "killed 0" },
      { ...honest, log: { ...log, tail: "x".repeat(4097) } },
      { ...honest, log: { ...log, sha256: "x" } },
      [honest],
    ];
    for (const value of changed) {
      writeFileSync(at, JSON.stringify(value));
      expect([value, poll().kind]).toEqual([value, "refused"]);
    }
    for (const bytes of ["", "{", "null", JSON.stringify(honest).slice(0, -1), "x".repeat(70_000)]) {
      writeFileSync(at, bytes);
      expect(poll().kind).toBe("refused");
    }
    symlinkSync(staged.job.result, staged.at("link"));
    mkdirSync(staged.at("dir"));
    makeFifo(staged.at("fifo"));
    for (const name of ["link", "dir", "fifo"])
      expect(pollResult(realFileSystem, staged.at(name), ticket).kind).toBe("refused");
  });
});

describe("remains", () => {
  it("are never an innocent group that got the number again", async () => {
    const { pid, start, child } = innocent();
    const nonce = "nobody-carries-this";
    expect(await endRemains({ group: { pgid: pid, start: "1" }, nonce })).toBe(0);
    expect(processes.look(pid)?.dead).toBe(false);
    const ended = once(child, "exit");
    expect(await endRemains({ group: { pgid: pid, start }, nonce })).toBe(1);
    expect((await ended)[1]).toBe("SIGTERM");
  });

  it("of a group without its leader count only if a member carries the nonce", async () => {
    const leaderless = async (nonce: string | null): Promise<{ pgid: number; member: number }> => {
      const { at } = stage("true");
      const bare = `env -u ATLAS_COMMAND_NONCE sh -c 'echo $$ > ${at("member")}.new; mv ${at("member")}.new ${at("member")}; exec sleep 600' &`;
      const child = spawn("/bin/sh", ["-c", `${bare} ${nonce === null ? "" : "sleep 601 &"} exit 0`], {
        detached: true,
        stdio: "ignore",
        env: { PATH: process.env.PATH, ...(nonce === null ? {} : { ATLAS_COMMAND_NONCE: nonce }) },
      });
      await once(child, "exit");
      await untilFile(at("member"));
      const member = Number(readFileSync(at("member"), "utf8"));
      onTestFinished(() => {
        if (processes.look(member)?.dead === false) process.kill(member, "SIGKILL");
      });
      return { pgid: child.pid as number, member };
    };
    const foreign = await leaderless(null);
    expect(await endRemains({ group: { pgid: foreign.pgid, start: "1" }, nonce: "nobody-carries-this" })).toBe(0);
    expect(processes.look(foreign.member)?.dead).toBe(false);
    const nonce = `carried-${randomBytes(6).toString("hex")}`;
    const own = await leaderless(nonce);
    expect(await endRemains({ group: { pgid: own.pgid, start: "1" }, nonce })).toBe(2);
    await untilGone(own.member);
  });
});

describe("a performer", () => {
  it("is gone only on proof: no such start time here, or another boot of this machine", async () => {
    const self = identityOf(processes, process.pid);
    if (self === null) throw new Error("this process cannot see itself");
    expect(isPerformerAlive(processes, self)).toBe(true);
    expect(isPerformerAlive(processes, { ...self, start: "1" })).toBe(false);
    const { child, pid } = innocent();
    const other = identityOf(processes, pid);
    child.kill("SIGKILL");
    await until("the end of the child", () => child.signalCode !== null);
    expect(other && isPerformerAlive(processes, other)).toBe(false);
    const known = { ...processes, look: processes.look, place: { ...processes.place, machine: "m", boot: "b" } };
    const there = { ...self, machine: "m", boot: "b" };
    expect(isPerformerAlive(known, there)).toBe(true);
    expect(isPerformerAlive(known, { ...there, boot: "earlier" })).toBe(false);
    expect(isPerformerAlive(known, { ...there, machine: "another", start: "1" })).toBe(true);
    expect(isPerformerAlive(known, { ...there, namespace: "another", start: "1" })).toBe(true);
    expect(isPerformerAlive(known, { ...there, namespace: "another", start: "1" }, true)).toBe(false);
  });
});

function makeFifo(path: string): void {
  execFileSync("mkfifo", [path]);
}

/** What a command would like us to believe. */
function green(nonce: string): CommandResult {
  const log = { sha256: "0".repeat(64), bytes: 10, tail: "3 passed\n" };
  return { v: 1, nonce, key: "0".repeat(64), ending: "exited", code: 0, ms: 5, peakBytes: 1, log, leftovers: "none" };
}
