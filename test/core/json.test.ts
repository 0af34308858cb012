import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStrictJson } from "../../scripts/core/json.ts";
import { quoted } from "../../scripts/core/quote.ts";

const limits = { bytesMax: 1 << 24, depthMax: 64 };

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function codeOf(text: string | Uint8Array, given = limits): string {
  const result = parseStrictJson(typeof text === "string" ? bytes(text) : text, given);
  return result.ok ? "ok" : result.error.code;
}

function escapedEverywhere(key: string): string {
  return [...Array(key.length).keys()]
    .map((at) => `\\u${key.charCodeAt(at).toString(16).padStart(4, "0").toUpperCase()}`)
    .join("");
}

/** A JSON text around `inner`, `depth` containers deep, with siblings whose keys and strings look like structure. */
function wrapped(inner: string, depth: number): string {
  let text = inner;
  for (let level = 0; level < depth; level += 1) {
    text = level % 2 === 0 ? `{"x{[":"\\"}:","k" :\n${text},"\\\\":[]}` : `["a\\\\", "b:" , ${text} , {}]`;
  }
  return text;
}

describe("strict JSON", () => {
  it("gives the value JSON.parse gives wherever it accepts, and accepts what JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? 2 : 0);
        fc.pre(!text.includes("__proto__"));
        const result = parseStrictJson(bytes(text), limits);
        expect(result.ok && result.value).toEqual(JSON.parse(text));
      }),
    );
  });

  it("never accepts a text that JSON.parse does not, and never throws", () => {
    const pieces = fc.constantFrom(
      ...'{}[]:,"\\ \n01-eE.tfn',
      "true",
      "null",
      "NaN",
      "Infinity",
      '"a"',
      "\\u0061",
      "\ufeff",
      "é",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 24 }), (parts) => {
        const text = parts.join("");
        const result = parseStrictJson(bytes(text), limits);
        if (result.ok) expect(result.value).toEqual(JSON.parse(text.replace(/^\ufeff/, "")));
        else expect(result.error.fix).not.toBe("");
      }),
      { numRuns: 3000 },
    );
  });

  it("never accepts a key twice in one object, at any depth and however it is spelled", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 6 }).filter((key) => key !== "__proto__"),
        fc.nat(20),
        fc.boolean(),
        fc.array(fc.constantFrom('"m":{"z":1}', '"n":[{"z":2}]', '"o":"\\"z\\":"'), { maxLength: 3 }),
        (key, depth, escaped, between) => {
          fc.pre(!["m", "n", "o", "k", "x{[", "\\"].includes(key));
          const again = escaped ? `"${escapedEverywhere(key)}"` : JSON.stringify(key);
          const members = [`${JSON.stringify(key)}:1`, ...new Set(between), `${again}\t: 2`];
          expect(codeOf(wrapped(`{${members.join(",")}}`, depth))).toBe("slot.duplicate_key");
          expect(codeOf(wrapped(`{${members.slice(0, -1).join(",")}}`, depth))).toBe("ok");
        },
      ),
    );
    expect(codeOf('{"a":1,"\\u0061":2}')).toBe("slot.duplicate_key");
    expect(codeOf('{"a":{"a":{"a":1}},"b":["a","a"],"c":[{"a":1},{"a":1}]}')).toBe("ok");
  });

  it("refuses __proto__ as a key in any spelling, and takes it as a value", () => {
    expect(codeOf('{"__proto__":{"admin":true}}')).toBe("slot.json");
    expect(codeOf('[{"\\u005f_proto__":1}]')).toBe("slot.json");
    expect(codeOf('{"a":"__proto__"}')).toBe("ok");
  });

  it.each([
    "",
    " ",
    "nul",
    "NaN",
    "Infinity",
    "-Infinity",
    '{"a":NaN}',
    "{} {}",
    "{}x",
    "[1,]",
    "{'a':1}",
    '"\n"',
    "\ufeff\ufeff{}",
    "{} \u00a0",
  ])("refuses %j as no JSON value", (text) => expect(codeOf(text)).toBe("slot.json"));

  it("strips one byte order mark and refuses bytes that are not UTF-8", () => {
    expect(codeOf("\ufeff{}")).toBe("ok");
    expect(codeOf(new Uint8Array([0x22, 0xff, 0x22]))).toBe("slot.encoding");
    expect(codeOf(new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe("slot.encoding");
    expect(codeOf(new Uint8Array([0x7b, 0x00, 0x7d, 0x00]))).toBe("slot.json");
  });

  it("takes exactly the depth and the size it was given", () => {
    expect(codeOf("[[[]]]", { bytesMax: 6, depthMax: 3 })).toBe("ok");
    expect(codeOf("[[[]]]", { bytesMax: 6, depthMax: 2 })).toBe("slot.depth");
    expect(codeOf("[[[]]]", { bytesMax: 5, depthMax: 3 })).toBe("slot.too_large");
    expect(codeOf('"[[[["', { bytesMax: 6, depthMax: 0 })).toBe("ok");
  });

  it("answers fast and without a stack overflow whatever megabytes come in", () => {
    const million = 1_000_000;
    const hostile: readonly [string, string][] = [
      ["[".repeat(8 * million), "slot.depth"],
      ['{"a":'.repeat(million), "slot.depth"],
      ['"'.repeat(4 * million), "slot.json"],
      ["\\".repeat(4 * million), "slot.json"],
      [`{"a"${" ".repeat(4 * million)}}`, "slot.json"],
      [`[${'"a" ,'.repeat(million)}1]`, "ok"],
      [`{${Array.from({ length: 200_000 }, (_, at) => `"k${at}":1`).join(",")},"k0":2}`, "slot.duplicate_key"],
    ];
    for (const [text, code] of hostile) {
      const before = performance.now();
      expect(codeOf(text)).toBe(code);
      expect(performance.now() - before).toBeLessThan(3000);
    }
  });
});

describe("a quoted piece of untrusted text", () => {
  it("is one bounded line of printable ASCII, whatever it is made of", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const piece = quoted(text, 20);
        expect(piece).toMatch(/^"[\x20-\x7e]*"$/);
        expect(piece.length).toBeLessThanOrEqual(2 + 3 + 20 * 6);
      }),
    );
    expect(quoted("a\nb\u202e\ud800")).toBe('"a\\nb\\u202e\\ud800"');
  });
});
