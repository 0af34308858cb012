import { join } from "node:path";
import { expect, test } from "vitest";
import { picture } from "../support/hostile-world.ts";
import { handedOut, heardBy, seat, shipped } from "../support/replay.ts";
import { logBytes } from "../support/scripted-run.ts";

const product = shipped();

test.each(["claude", "kimi"] as const)(
  "C-25 %s: without proof of the owner nothing is blocked, ordered or written; another session gets one line at most",
  async (host) => {
    const world = product.world();
    await handedOut((await seat(world, 1)).session, "scout");
    const before = logBytes(world);
    const beside = await seat(world, 2, { name: host });
    const shot = picture(join(world.project, ".atlas"));
    for (const id of ["", "null", undefined, null]) {
      for (const on of [host === "claude" ? "SessionStart" : "UserPromptSubmit", "Stop"]) {
        const more = { session_id: id, source: "resume", prompt: "x", stop_hook_active: false };
        const told = await beside.session.hook(host, on, more);
        expect([on, told.code, told.stdout], String(id)).toEqual([on, 1, ""]);
        expect(told.stderr).toMatch(/^ATLAS-PRECONDITION-FAILED: .*\n$/);
      }
    }
    const stop = await beside.session.hook(host, "Stop", { stop_hook_active: false });
    expect(stop).toMatchObject({ code: 0, stdout: "", stderr: "" });
    if (host === "claude") {
      const notice = heardBy(host, await beside.session.hook(host, "SessionStart", { source: "resume" }));
      expect(notice).toMatch(/^atlas: run \S+ belongs to another live session; leave it\.$/);
    }
    expect(picture(join(world.project, ".atlas"))).toEqual(shot);
    expect(logBytes(world)).toBe(before);
  },
);
