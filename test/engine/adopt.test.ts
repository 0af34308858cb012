/** Adopting a foreign run: once, by one, from files that stay as they were read, and only where they can be trusted. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Answer,
  atlas,
  buildPlugin,
  copyOf,
  fingerprint,
  hook,
  ledgerLines,
  type Plugin,
  startHost,
} from "../support/adopted-world.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await buildPlugin();
});
afterAll(() => plugin.remove());

const session = "11111111-2222-4333-8444-555555555555";
const runOf = (project: string, id = "sess-a") => join(project, ".atlas", id);
const adoptedOf = (project: string, id?: string) => join(runOf(project, id), "adopted");
const resume = (project: string, ...more: string[]) => atlas(plugin, project, ["resume", ...more]);

describe("foreign files that change after they were adopted", () => {
  function diverged(): { project: string; claim: string } {
    const project = copyOf("single-04-grounded");
    const { claim } = resume(project).json;
    appendFileSync(
      join(runOf(project), "log.jsonl"),
      '{"run_id": "sess-a", "stage": "CODED", "ts": "2026-11-30T18:00:00Z"}\n',
    );
    return { project, claim };
  }

  test("stop every command that decides, and none of them changes a byte", () => {
    const { project, claim } = diverged();
    const plan = join(project, "plan.md");
    writeFileSync(plan, "# Plan\n");
    const before = fingerprint(project);
    const submit = ["submit", "--run", "sess-a", "--claim", claim, "--slot", "plan", "--file", plan];
    for (const told of [resume(project), resume(project, "--claim", claim), atlas(plugin, project, submit)]) {
      expect(told).toMatchObject({ code: 3, json: { refused: { code: "adopt.diverged" } } });
      expect(told.json.refused.fix).toBe("atlas resume --run sess-a --readopt");
    }
    // The artifact of a refused submit may lie there: nothing names it.
    expect(fingerprint(project, ["artifacts"])).toEqual(without(before, "artifacts"));
    expect(ledgerLines(adoptedOf(project)).at(-1)?.by.verb).toBe("resume");
  });

  test("are adopted anew only by the human's own word, and the superseded adoption is kept beside, whole", () => {
    const { project } = diverged();
    const before = fingerprint(adoptedOf(project));
    const asked = resume(project, "--readopt");
    expect(asked).toMatchObject({ code: 3, json: { refused: { code: "gate.unattested" } } });
    expect(resume(project, "--readopt").json.refused.fix).toBe(asked.json.refused.fix);
    expect(fingerprint(adoptedOf(project))).toEqual(before);

    hook(plugin, project, "UserPromptSubmit", { session_id: session, prompt: `yes: ${asked.json.refused.fix}` });
    const { code, json } = resume(project, "--readopt");
    expect(code).toBe(0);
    expect(json).toMatchObject({ epoch: 1, run: { stage: "CODED" }, next: { do: "ask", gate: "approve-command" } });
    const [aside, ...more] = readdirSync(runOf(project)).filter((name) => name.startsWith("adopted."));
    expect(more).toEqual([]);
    const kept = fingerprint(join(runOf(project), aside as string));
    expect({ ...kept, "observed.jsonl": "" }).toEqual({ ...before, "observed.jsonl": "" });
  });

  test("a word typed for another claim readopts nothing", () => {
    const { project } = diverged();
    hook(plugin, project, "UserPromptSubmit", { session_id: session, prompt: "atlas 0123abcd readopt" });
    expect(resume(project, "--readopt")).toMatchObject({ code: 3, json: { refused: { code: "gate.unattested" } } });
  });

  test("a sub-run's files count, the original's telemetry does not", () => {
    const project = copyOf("graph-003-nodes");
    resume(project);
    appendFileSync(join(runOf(project, "sess-g"), "hooks.jsonl"), '{"event": "PostToolUse"}\n');
    expect(resume(project).code).toBe(0);
    appendFileSync(join(runOf(project, "sess-g"), "tasks", "n0", "log.jsonl"), "\n");
    expect(resume(project)).toMatchObject({ code: 3, json: { refused: { code: "adopt.diverged" } } });
  });
});

function without(found: Readonly<Record<string, string>>, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(found).filter(([path]) => !path.split("/").includes(name)));
}

test.each(["single-04-grounded", "graph-003-nodes"])(
  "of eight hosts that adopt %s at once one owns it, the others are told who",
  async (world) => {
    const project = copyOf(world);
    const id = world.startsWith("graph") ? "sess-g" : "sess-a";
    const hosts = await Promise.all(Array.from({ length: 8 }, () => startHost(plugin, project)));
    const told = await Promise.all(hosts.map((host) => host.run(["resume"])));
    const winners = hosts.filter((_host, at) => told[at]?.code === 0);
    expect(winners).toHaveLength(1);
    const owner = winners[0]?.pid;
    for (const { code, json } of told) {
      if (code === 0) continue;
      expect({ code, refused: json.refused?.code, json }).toMatchObject({ code: 3, refused: "run.owned" });
      expect(json.refused.reason).toContain(`process ${owner} `);
    }
    const claims = ledgerLines(adoptedOf(project, id)).flatMap((line) =>
      line.events.filter((event: Answer) => event.type === "claimed"),
    );
    expect(claims.map((claim: Answer) => [claim.epoch, claim.owner.pid])).toEqual([[1, owner]]);
    expect(readdirSync(join(project, ".atlas")).filter((name) => name.startsWith(".new-"))).toEqual([]);
  },
);

test("a host that is gone loses an adopted run to the next one, which claims and does not adopt again", async () => {
  const project = copyOf("single-04-grounded");
  const host = await startHost(plugin, project);
  const first = (await host.run(["resume"])).json;
  expect(resume(project)).toMatchObject({ code: 3, json: { refused: { code: "run.owned" } } });
  await host.kill();
  const { code, json } = resume(project);
  expect(code).toBe(0);
  expect(json).toMatchObject({ epoch: 2, did: ["claimed epoch 2"], next: { do: "submit", slot: "plan" } });
  const plan = join(project, "plan.md");
  writeFileSync(plan, "# Plan\n");
  const stale = ["submit", "--run", "sess-a", "--claim", first.claim, "--slot", "plan", "--file", plan];
  expect(atlas(plugin, project, stale)).toMatchObject({ code: 3, json: { refused: { code: "claim.stale" } } });
});

describe("a ledger this user's runs did not write", () => {
  const git = (cwd: string, ...args: string[]) => {
    const done = spawnSync("git", args, { cwd, encoding: "utf8" });
    expect(done.stderr).toBe("");
    return done.stdout;
  };

  function refusedAsUntrusted(project: string, why: string, ...from: string[]): void {
    const before = fingerprint(project, [".git"]);
    const runs = atlas(plugin, project, ["status", ...from]).json.runs;
    expect(runs).toMatchObject([{ id: "sess-a", resumable: false, why }]);
    for (const more of [[], ["--run", "sess-a"], ["--newest"], ["--session", "sess-a"], ["--trust"]]) {
      const { code, json } = resume(project, ...more, ...from);
      expect(code).toBe(3);
      // What lies beside such a ledger cannot vouch for it: only a terminal can.
      expect(json.refused.code).toBe(more.includes("--trust") ? "gate.unattested" : "run.untrusted");
    }
    expect(fingerprint(project, [".git"])).toEqual(before);
  }

  test("because git tracks it: listed with the reason, and never resumed unasked", () => {
    const project = copyOf("single-04-grounded");
    git(project, "init", "-q");
    git(project, "add", "-f", ".atlas");
    refusedAsUntrusted(project, "untrusted.tracked");
  });

  test("because git tracks it, seen from a subfolder and from a linked working tree", () => {
    const project = copyOf("single-04-grounded");
    git(project, "init", "-q");
    git(project, "add", "-f", ".atlas");
    git(project, "commit", "-qm", "one");
    mkdirSync(join(project, "src"));
    refusedAsUntrusted(project, "untrusted.tracked", "--cwd", join(project, "src"));
    const linked = join(tempFolder(), "linked");
    git(project, "worktree", "add", "-q", "--detach", linked);
    for (const run of atlas(plugin, linked, ["status"]).json.runs) expect(run.why).toBe("untrusted.tracked");
    expect(resume(linked, "--run", "sess-a")).toMatchObject({ code: 3, json: { refused: { code: "run.untrusted" } } });
  });

  // Only root can give a file away; what a stranger owns is never ours to prepare otherwise.
  if (process.getuid?.() === 0) {
    test("because another user owns the folder", () => {
      const project = copyOf("single-04-grounded");
      chownSync(join(project, ".atlas"), 12345, 12345);
      refusedAsUntrusted(project, "untrusted.owner");
    });

    test.each(["", "log.jsonl", "state.json"])(
      "because another user owns the run's %j, though the place is ours",
      (name) => {
        const project = copyOf("single-04-grounded");
        lchownSync(join(runOf(project), name), 12345, 12345);
        refusedAsUntrusted(project, "untrusted.owner");
      },
    );
  }

  test("because .atlas is a link: named as one, never followed", () => {
    const elsewhere = copyOf("single-04-grounded");
    const project = tempFolder();
    symlinkSync(join(elsewhere, ".atlas"), join(project, ".atlas"));
    const before = fingerprint(elsewhere);
    const { json } = atlas(plugin, project, ["status"]);
    expect(json).toMatchObject({ runs: [], places: [{ root: project, trusted: false, why: "a link" }] });
    expect(resume(project)).toMatchObject({ code: 0, json: { run: null } });
    expect(resume(project, "--run", "sess-a")).toMatchObject({ code: 3, json: { refused: { code: "run.unknown" } } });
    expect(fingerprint(elsewhere)).toEqual(before);
  });

  test("because the run's folder, or our own part of it, is a link: listed, never followed", () => {
    const elsewhere = copyOf("single-04-grounded");
    const before = fingerprint(elsewhere);
    const project = tempFolder();
    mkdirSync(join(project, ".atlas"));
    symlinkSync(runOf(elsewhere), runOf(project));
    expect(atlas(plugin, project, ["status"]).json.runs).toMatchObject([
      { id: "sess-a", resumable: false, why: expect.stringContaining("link") },
    ]);
    expect(resume(project, "--run", "sess-a").code).toBe(3);
    expect(fingerprint(elsewhere)).toEqual(before);

    const own = copyOf("single-04-grounded");
    resume(own);
    const moved = join(tempFolder(), "moved");
    renameSync(adoptedOf(own), moved);
    symlinkSync(moved, adoptedOf(own));
    const there = fingerprint(moved);
    expect(resume(own, "--run", "sess-a").code).toBe(3);
    expect(fingerprint(moved)).toEqual(there);
  });
});

test("adopting leaves nothing behind where the folder cannot be written, and says so", () => {
  const project = copyOf("single-04-grounded");
  // A file where our folder would go: as little to be had as on a read-only disk, and root is held by it too.
  writeFileSync(adoptedOf(project), "");
  const before = fingerprint(project);
  const { code } = resume(project);
  expect([3, 4]).toContain(code);
  expect(existsSync(adoptedOf(project)) && readFileSync(adoptedOf(project), "utf8")).toBe("");
  expect(fingerprint(project)).toEqual(before);
});

test("a headless adoption runs a foreign command only if it is a listed one; any other ends UNVERIFIED and says so", () => {
  for (const [command, reason] of [
    ["npm test", null],
    ["sh -c 'touch ran'", "command.unapproved"],
  ] as const) {
    const project = copyOf("single-05-coded");
    for (const words of [
      ["init", "-q", "."],
      ["add", "a.txt"],
      ["commit", "-qm", "x"],
    ]) {
      writeFileSync(join(project, "a.txt"), "a\n");
      execFileSync("git", words, { cwd: project });
    }
    const path = join(project, ".atlas", "sess-a", "state.json");
    const state = JSON.parse(readFileSync(path, "utf8"));
    const head = execFileSync("git", ["rev-parse", "HEAD"], { cwd: project, encoding: "utf8" }).trim();
    writeFileSync(path, JSON.stringify({ ...state, verify_cmd: command, baseline_sha: head }));
    const told = atlas(plugin, project, ["resume", "--headless"]);
    if (reason === null) expect(told.json.next).toMatchObject({ do: "run" });
    else {
      expect(told.json.next).toMatchObject({ do: "report", status: "unverified", why: [reason] });
      expect(existsSync(join(project, "ran"))).toBe(false);
    }
  }
});
