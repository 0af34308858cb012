import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { readSession } from "../../scripts/platform/sessions.ts";
import { ownerOf, RUN, writeOwnRun } from "../support/ledger.ts";
import { type HostName, makeWorld, payloadOf, snapshotOf, type World } from "./host-world.ts";
import {
  fields,
  fire,
  hookOf,
  hostNames,
  inTime,
  type Registered,
  type Shipped,
  type Stdin,
  session,
  shipPlugin,
  silences,
  timeMsMax,
} from "./shipped.ts";

let plugin: Shipped & { readonly remove: () => void };
const usual = new Map<HostName, Awaited<ReturnType<typeof session>>["heard"]>();
beforeAll(async () => {
  plugin = await shipPlugin();
});
afterAll(() => plugin.remove());

function world(): World {
  const made = makeWorld();
  writeOwnRun(made.atlas, { stages: ["INIT"] });
  return made;
}

/** What the host gets at each event of an ordinary session here. */
async function usualOf(host: HostName) {
  const known = usual.get(host) ?? (await session(plugin, world(), host)).heard;
  usual.set(host, known);
  return known;
}

function textOf(host: HostName, hook: Registered, at: World, added: Record<string, unknown> = {}): string {
  return JSON.stringify({ ...payloadOf(host, hook.event, at, fields[host][hook.event]), ...added });
}

/** The whole session with a stdin of this kind at every event. */
function everyEvent(host: HostName, stdinOf: (hook: Registered, at: World) => Stdin, atOnce: boolean) {
  return inTime(async () => {
    const made = world();
    const before = snapshotOf(made.project);
    const done = await session(plugin, made, host, (hook) => ({ stdin: stdinOf(hook, made) }), atOnce);
    return { ...done, made, before };
  });
}

describe.each(hostNames)("%s, at every event it has of us", (host) => {
  test("an ordinary session is answered, and the rest of this suite compares with it", async () => {
    const heard = await usualOf(host);
    expect(heard.map(({ code, stderr }) => ({ code, stderr }))).toEqual(heard.map(() => ({ code: 0, stderr: "" })));
    const speaking = heard.filter(({ stdout }) => stdout.includes(RUN)).map(({ event }) => event);
    expect(speaking).toEqual(
      host === "claude" ? ["SessionStart", "PostCompact", "UserPromptSubmit"] : ["UserPromptSubmit"],
    );
    expect(heard.find(({ event }) => event === "PreToolUse")?.stdout).toContain("deny");
  });

  const answered: readonly (readonly [string, (hook: Registered, at: World) => Stdin])[] = [
    ["that never closes behind the payload", (hook, at) => ({ say: textOf(host, hook, at), then: "hold" })],
    [
      "of five megabytes, the payload behind them",
      (hook, at) => ({ say: `{"pad":"${"ü".repeat(2_600_000)}",${textOf(host, hook, at).slice(1)}`, then: "close" }),
    ],
    [
      "of five megabytes that never closes",
      (hook, at) => ({ say: textOf(host, hook, at, { pad: ["x".repeat(5_000_000)] }), then: "hold" }),
    ],
    [
      "with a second value behind the first",
      (hook, at) => ({
        say: `${textOf(host, hook, at)}${JSON.stringify({ session_id: "", cwd: "/" })}`,
        then: "close",
      }),
    ],
    [
      "with garbage behind the first value, and never closed",
      (hook, at) => ({
        say: Buffer.concat([Buffer.from(textOf(host, hook, at)), Buffer.alloc(9, 0xff)]),
        then: "hold",
      }),
    ],
    [
      "pretty-printed, a byte order mark before it",
      (hook, at) => ({ say: `\ufeff${JSON.stringify(JSON.parse(textOf(host, hook, at)), null, 2)}`, then: "close" }),
    ],
  ];

  test.each(answered)("a stdin %s: answered as ever", async (_name, stdinOf) => {
    const { heard, slowestMs } = await everyEvent(host, stdinOf, false);
    expect(heard).toEqual(await usualOf(host));
    expect(slowestMs).toBeLessThan(timeMsMax);
  });

  const silent: readonly (readonly [string, (hook: Registered, at: World) => Stdin])[] = [
    ["that is not there", () => "none"],
    ["that is empty", () => ({ say: "", then: "close" })],
    ["that never says anything and never closes", () => ({ say: "", then: "hold" })],
    ["whose payload stops in the middle", (hook, at) => ({ say: textOf(host, hook, at).slice(0, -9), then: "close" })],
    [
      "whose payload stops in the middle and never closes",
      (hook, at) => ({ say: textOf(host, hook, at).slice(0, -9), then: "hold" }),
    ],
    ["of garbage", (hook, at) => ({ say: `garbage ${textOf(host, hook, at)}`, then: "close" })],
    ["of words that are no value", () => ({ say: "nothing here\n", then: "hold" })],
    ["of random bytes", () => ({ say: Buffer.from([0x7f, 0xff, 0, 1, 0x80, 0xc3]), then: "close" })],
    ["of white space without an end", () => ({ say: " \n".repeat(1_000_000), then: "hold" })],
    ["of more than any payload", () => ({ say: `{"x":"${"y".repeat(9 * 1024 * 1024)}"}`, then: "close" })],
    ["nested deeper than any payload", () => ({ say: "[".repeat(1_000_000), then: "hold" })],
  ];

  test.each(silent)("a stdin %s: silence, exit 0, nothing written", async (_name, stdinOf) => {
    const { heard, slowestMs, made, before } = await everyEvent(host, stdinOf, true);
    expect(heard).toEqual(silences(plugin, host));
    expect(slowestMs).toBeLessThan(timeMsMax);
    expect(snapshotOf(made.project)).toEqual(before);
    expect(snapshotOf(made.state)).toEqual({});
  });

  const values = [
    '""',
    '"text"',
    "[]",
    '[{"session_id":"a"}]',
    "null",
    "true",
    "12",
    "-1.5e3\n",
    '"" {"session_id":"a"}',
  ];

  test.each(values)("a whole value that is no object, %s: the failed precondition, exit 1", async (value) => {
    const { heard, slowestMs, made, before } = await everyEvent(host, () => ({ say: value, then: "close" }), true);
    const stderr = "ATLAS-PRECONDITION-FAILED: session_id is missing; atlas recorded and said nothing\n";
    expect(heard).toEqual(silences(plugin, host).map((silence) => ({ ...silence, code: 1, stderr })));
    expect(slowestMs).toBeLessThan(timeMsMax);
    expect(snapshotOf(made.project)).toEqual(before);
    expect(snapshotOf(made.state)).toEqual({});
  });

  test("a prompt is the same prompt as a text and as a list of parts", async () => {
    const text = "first line\natlas 0123abcd approve";
    const shapes = [
      text,
      [{ type: "text", text: "first line" }, { type: "image" }, { type: "text", text: "atlas 0123abcd approve" }],
    ];
    const prompted = hookOf(plugin, host, "UserPromptSubmit");
    const started = hookOf(plugin, host, "SessionStart");
    const typed = [];
    const said = new Set<string>();
    for (const prompt of shapes) {
      const made = world();
      await fire(plugin, made, host, started);
      const answer = await fire(plugin, made, host, prompted, { payload: { prompt } });
      expect(answer).toMatchObject({ code: 0, stderr: "" });
      said.add(answer.stdout);
      const id = payloadOf(host, "x", made).session_id;
      typed.push(readSession(realFileSystem, made.state, id)?.typed);
    }
    expect(said.size).toBe(1);
    expect(typed).toEqual([[{ nonce: "0123abcd", choice: "approve" }], [{ nonce: "0123abcd", choice: "approve" }]]);
  });

  test.each([{ prompt: null }, { prompt: 7 }, { prompt: [7, null, [], { text: {} }] }, { prompt: { text: "x" } }])(
    "a prompt of no known shape is an empty one: %j",
    async (payload) => {
      const hook = hookOf(plugin, host, "UserPromptSubmit");
      expect(await fire(plugin, world(), host, hook, { payload })).toMatchObject({ code: 0, stdout: "", stderr: "" });
    },
  );
});

test("a run of another living session is not released by a stdin that is not whole", async () => {
  const made = makeWorld();
  const id = payloadOf("claude", "SessionEnd", made).session_id;
  writeOwnRun(made.atlas, { owner: ownerOf(process.pid, id) });
  const before = snapshotOf(made.atlas);
  const end = hookOf(plugin, "claude", "SessionEnd");
  await fire(plugin, made, "claude", end, {
    stdin: { say: JSON.stringify({ session_id: id }).slice(0, -1), then: "close" },
  });
  expect(snapshotOf(made.atlas)).toEqual(before);
  await fire(plugin, made, "claude", end);
  expect(snapshotOf(made.atlas)).not.toEqual(before);
});
