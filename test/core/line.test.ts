import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  LINE_BYTES_MAX,
  LINE_VERSION,
  lastLine,
  NO_SUM,
  ORIGIN,
  readChain,
  sealLine,
  type Tip,
} from "../../scripts/core/line.ts";
import { sha256 } from "../../scripts/platform/hash.ts";

interface Note {
  readonly type: string;
  readonly text: string;
}

const by = { verb: "test", pid: 1, session: null, epoch: 1 };

function seal(seq: number, prev: string, text: string, more: { v?: number; stage?: string } = {}) {
  const body = { v: LINE_VERSION, seq, prev, ts: "2026-11-30T19:00:00.000Z", run_id: "r", by, ...more };
  return sealLine({ ...body, events: [{ type: "note", text }] }, sha256);
}

/** A chain of sealed lines, one a text. */
function sealAll(texts: readonly string[], tip: Pick<Tip, "seq" | "sum"> = ORIGIN) {
  let { seq, sum } = tip;
  return texts.map((text) => {
    seq += 1;
    const line = seal(seq, sum, text);
    sum = line.sum;
    return line;
  });
}

/** As the engine appends: a newline before and behind. */
function logOf(lines: readonly { readonly text: string }[]): Buffer {
  return Buffer.from(lines.map((line) => `\n${line.text}\n`).join(""), "utf8");
}

function read(bytes: Uint8Array, from: Tip = ORIGIN, known: readonly string[] = []) {
  return readChain<Note>(bytes, sha256, from, known);
}

function textsOf(chain: ReturnType<typeof read>): readonly string[] {
  return chain.lines.map((line) => line.events[0]?.text ?? "");
}

const anyText = fc.string({ unit: "binary", maxLength: 40 });
const texts = fc.array(anyText, { minLength: 1, maxLength: 8 });

describe("a chain", () => {
  test("gives back what was sealed, and its tip is the end of the bytes", () => {
    fc.assert(
      fc.property(texts, (given) => {
        const lines = sealAll(given);
        const bytes = logOf(lines);
        const chain = read(bytes);
        expect(textsOf(chain)).toEqual(given);
        expect(chain).toMatchObject({ noise: 0, end: { at: "end" } });
        expect(chain.tip).toEqual({ seq: given.length, sum: lines.at(-1)?.sum, offset: bytes.length });
      }),
    );
  });

  test("ends every line with its sum, over the raw bytes before it", () => {
    const line = seal(1, NO_SUM, "ü", { stage: "CODED" });
    const at = line.text.lastIndexOf(',"sum":"');
    expect(line.text.slice(at)).toBe(`,"sum":"${line.sum}"}`);
    expect(sha256(line.text.slice(0, at))).toBe(line.sum);
    expect(Object.keys(JSON.parse(line.text) as object)).toEqual(
      ["v", "seq", "prev", "ts", "run_id", "stage", "by", "events", "sum"], // biome-ignore format: one list
    );
    expect(NO_SUM).toMatch(/^0{64}$/);
  });

  test("two readings of any bytes are equal, and none throws", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      texts.map((given) => new Uint8Array(logOf(sealAll(given)))),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const bytes = Buffer.concat(pieces);
        expect(read(bytes)).toEqual(read(bytes));
      }),
    );
  });

  test("reading on from any tip gives what reading from the start gives", () => {
    fc.assert(
      fc.property(texts, fc.nat(), (given, cut) => {
        const bytes = logOf(sealAll(given));
        const whole = read(bytes);
        const kept = cut % (given.length + 1);
        const tip = kept === 0 ? ORIGIN : read(logOf(sealAll(given.slice(0, kept)))).tip;
        const rest = read(bytes.subarray(tip.offset), tip);
        expect([...whole.lines.slice(0, kept), ...rest.lines]).toEqual(whole.lines);
        expect(rest.tip).toEqual(whole.tip);
      }),
    );
  });
});

describe("a torn write", () => {
  test("cut at any byte leaves exactly the lines before it, and the next append heals it", () => {
    const lines = sealAll(["one", "two", "drei ü", "four"]);
    const bytes = logOf(lines);
    const ends = lines.map((_line, at) => logOf(lines.slice(0, at + 1)).length - 1);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const whole = ends.filter((end) => end <= cut).length;
      const chain = read(bytes.subarray(0, cut));
      expect(chain.lines).toHaveLength(whole);
      expect(chain.end).toEqual({ at: "end" });
      const next = sealAll(["next"], chain.tip);
      const healed = read(Buffer.concat([bytes.subarray(0, cut), logOf(next)]));
      expect(textsOf(healed)).toEqual([...["one", "two", "drei ü", "four"].slice(0, whole), "next"]);
      expect(healed.end).toEqual({ at: "end" });
    }
  });

  test("garbage between any two lines is skipped and counted, never taken", () => {
    const garbage = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(texts, fc.array(garbage, { minLength: 9, maxLength: 9 }), (given, between) => {
        const parts = sealAll(given).flatMap((line, at) => [between[at] ?? new Uint8Array(), logOf([line])]);
        const chain = read(Buffer.concat([...parts, between[8] ?? new Uint8Array()]));
        expect(textsOf(chain)).toEqual(given);
        expect(chain.end).toEqual({ at: "end" });
      }),
    );
  });

  test("garbage inserted at any byte leaves a prefix of what was sealed, or names the rot behind it", () => {
    const given = ["one", "two", "three"];
    const lines = sealAll(given);
    const bytes = logOf(lines);
    fc.assert(
      fc.property(fc.nat(bytes.length), fc.uint8Array({ minLength: 1, maxLength: 20 }), (at, garbage) => {
        const chain = read(Buffer.concat([bytes.subarray(0, at), garbage, bytes.subarray(at)]));
        expect(textsOf(chain)).toEqual(given.slice(0, chain.lines.length));
        // A line lost in the middle is followed by a whole one: that is rot and never silence.
        if (chain.lines.length < given.length - 1) expect(chain.end.at).toBe("broken");
      }),
    );
  });

  test("any changed byte loses its line, and the lines behind it are rot that says where", () => {
    const lines = sealAll(["one", "two", "three"]);
    const bytes = logOf(lines);
    const second = logOf(lines.slice(0, 1)).length;
    const third = logOf(lines.slice(0, 2)).length;
    for (let at = second + 1; at < third - 1; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 0x01;
      const chain = read(changed);
      expect(textsOf(chain)).toEqual(["one"]);
      expect(chain.end).toMatchObject({ at: "broken", lastGoodSeq: 1 });
      expect(chain.end.at === "broken" && chain.end.offset).toBeGreaterThan(second);
    }
  });
});

describe("a race", () => {
  test("the first valid line for a seq wins; the losers are noise, wherever they stand", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.tuple(fc.nat(), fc.nat(), anyText), { maxLength: 6 }), (given, late) => {
        const lines: { text: string; sum: string }[] = [...sealAll(given)];
        for (const [where, which, text] of late) {
          // Sealed behind a line that had a successor when it landed.
          const seq = (which % given.length) + 1;
          const prev = seq === 1 ? NO_SUM : (sealAll(given)[seq - 2] as { sum: string }).sum;
          const winner = lines.findIndex((line) => line.sum === sealAll(given)[seq - 1]?.sum);
          lines.splice(winner + 1 + (where % (lines.length - winner)), 0, seal(seq, prev, `${text} lost`));
        }
        const chain = read(logOf(lines));
        expect(textsOf(chain)).toEqual(given);
        expect(chain).toMatchObject({ noise: late.length, end: { at: "end" } });
      }),
    );
  });

  test("a line that skips a seq, or repeats one, is none, though it names the tip", () => {
    const [one] = sealAll(["one"]);
    for (const seq of [1, 3, 0, -1]) {
      const chain = read(logOf([one!, seal(seq, one!.sum, "odd"), seal(2, one!.sum, "two")]));
      expect(textsOf(chain)).toEqual(["one", "two"]);
      expect(chain).toMatchObject({ noise: 1, end: { at: "end" } });
    }
  });

  test("the same sealed line twice counts once", () => {
    const [one, two] = sealAll(["one", "two"]);
    const chain = read(logOf([one!, one!, two!, two!, one!]));
    expect(textsOf(chain)).toEqual(["one", "two"]);
    expect(chain).toMatchObject({ noise: 3, end: { at: "end" } });
  });

  test("behind a tip a lost race looks like rot, unless the sums before the tip are known", () => {
    const lines = sealAll(["one", "two", "three"]);
    const before = read(logOf(lines.slice(0, 2)));
    const late = logOf([seal(2, lines[0]!.sum, "late"), lines[2]!]);
    expect(read(late, before.tip).end.at).toBe("broken");
    const chain = read(late, before.tip, [lines[0]!.sum]);
    expect(textsOf(chain)).toEqual(["three"]);
    expect(chain.noise).toBe(1);
  });
});

describe("what editors and disks do to a log", () => {
  test("one trailing carriage return a line is ignored", () => {
    const bytes = logOf(sealAll(["one", "two"]));
    const crlf = Buffer.from(bytes.toString("utf8").replaceAll("\n", "\r\n"), "utf8");
    expect(textsOf(read(crlf))).toEqual(["one", "two"]);
    const twice = Buffer.from(bytes.toString("utf8").replaceAll("\n", "\r\r\n"), "utf8");
    expect(read(twice).lines).toEqual([]);
  });

  test("a byte order mark before the first line's newline costs nothing", () => {
    const chain = read(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), logOf(sealAll(["one", "two"]))]));
    expect(textsOf(chain)).toEqual(["one", "two"]);
  });

  test("NULs are noise", () => {
    const [one, two] = sealAll(["one", "two"]);
    const chain = read(Buffer.concat([logOf([one!]), Buffer.alloc(5000), logOf([two!])]));
    expect(textsOf(chain)).toEqual(["one", "two"]);
    expect(chain.noise).toBe(1);
  });

  test("a last line without its newline counts", () => {
    const bytes = logOf(sealAll(["one", "two"]));
    expect(textsOf(read(bytes.subarray(0, -1)))).toEqual(["one", "two"]);
  });
});

describe("the line that bytes end with", () => {
  test("is found behind anything, whole or not at all", () => {
    const lines = sealAll(["one", "zwei ü"]);
    const bytes = logOf(lines);
    for (const tail of ["", "\n", "\r\n", "\n\n"]) {
      expect(lastLine(Buffer.concat([bytes, Buffer.from(tail)]), sha256)?.sum).toBe(lines[1]?.sum);
    }
    expect(lastLine(bytes.subarray(3), sha256)?.seq).toBe(2);
    expect(lastLine(bytes.subarray(logOf(lines.slice(0, 1)).length + 2), sha256)).toBeNull();
    expect(lastLine(Buffer.from(bytes.toString().replace("zwei", "iewz")), sha256)).toBeNull();
    for (const none of ["", "\n\n", "{}", "\0"]) expect(lastLine(Buffer.from(none), sha256)).toBeNull();
  });
});

describe("limits", () => {
  test(`a line of ${LINE_BYTES_MAX} bytes counts, one more byte is noise`, () => {
    const empty = Buffer.byteLength(seal(1, NO_SUM, "").text);
    const most = seal(1, NO_SUM, "x".repeat(LINE_BYTES_MAX - empty));
    expect(Buffer.byteLength(most.text)).toBe(LINE_BYTES_MAX);
    expect(read(logOf([most])).lines).toHaveLength(1);
    const more = seal(1, NO_SUM, "x".repeat(LINE_BYTES_MAX - empty + 1));
    expect(read(logOf([more]))).toMatchObject({ lines: [], noise: 1, end: { at: "end" } });
  });

  test("a newer line stops the reading and says its version, at any place", () => {
    const [one, two] = sealAll(["one", "two"]);
    const newer = seal(3, two!.sum, "three", { v: LINE_VERSION + 1 });
    const chain = read(logOf([one!, two!, newer, seal(4, newer.sum, "four")]));
    expect(textsOf(chain)).toEqual(["one", "two"]);
    expect(chain.end).toEqual({ at: "newer", version: LINE_VERSION + 1, lastGoodSeq: 2 });
  });

  test("64 MiB of newlines, braces or NULs are read within two seconds", { timeout: 20_000 }, () => {
    for (const filler of ["\n", "{}\n", "{\n}", "\0"]) {
      const bytes = Buffer.alloc(64 * 1024 * 1024, filler);
      const begun = performance.now();
      expect(read(bytes).lines).toEqual([]);
      expect(performance.now() - begun, JSON.stringify(filler)).toBeLessThan(2000);
    }
  });
});

describe("a self-consistent line of another shape is noise, never a line", () => {
  const sealed = (open: string) => `${open},"sum":"${sha256(open)}"}`;
  test.each([
    ["no events", '{"v":1,"seq":1,"prev":"0","ts":"","run_id":"r","by":{}'],
    ["events of another shape", '{"v":1,"seq":1,"prev":"0","ts":"","run_id":"r","by":{},"events":[7]'],
    ["an event without a type", '{"v":1,"seq":1,"prev":"0","ts":"","run_id":"r","by":{},"events":[{}]'],
    ["a seq that is text", '{"v":1,"seq":"1","prev":"0","ts":"","run_id":"r","by":{},"events":[]'],
    ["a null by", '{"v":1,"seq":1,"prev":"0","ts":"","run_id":"r","by":null,"events":[]'],
    ["a stage that is a number", '{"v":1,"seq":1,"prev":"0","ts":"","run_id":"r","stage":1,"by":{},"events":[]'],
    ["no JSON", "{it is"],
    ["deep", `{"a":${"[".repeat(60_000)}`],
  ])("%s", (_name, open) => {
    const chain = read(Buffer.from(`\n${sealed(open)}\n`));
    expect(chain).toMatchObject({ lines: [], noise: 1, end: { at: "end" } });
  });
});
