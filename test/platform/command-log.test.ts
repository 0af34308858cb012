import { createHash } from "node:crypto";
import { closeSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finishLog, maskedTail, openLog, secretsOf } from "../../scripts/platform/command-log.ts";
import { realFileSystem as fs } from "../../scripts/platform/fs.ts";
import { tempFolder } from "../support/temp.ts";

const limit = 1_000_000;

function logged(folder: string, bytes: Buffer | string, secrets: readonly Buffer[] = [], bytesMax = limit) {
  const path = join(folder, "log");
  const log = openLog(fs, path);
  writeSync(log.writeFd, Buffer.from(bytes as string));
  const kept = finishLog(fs, log, path, bytesMax, secrets);
  closeSync(log.writeFd);
  closeSync(log.readFd);
  return { ...kept, path };
}

describe("a finished log", () => {
  it("starts empty, whatever a lost attempt left there", () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "log"), "of an earlier attempt");
    expect(logged(folder, "new")).toMatchObject({ bytes: 3, tail: "new" });
  });

  it("is hashed as it lies there, cut at its limit", () => {
    const { sha256, bytes, path } = logged(tempFolder(), Buffer.alloc(700_000, "ab"), [], 600_001);
    const left = readFileSync(path);
    expect([bytes, left.length]).toEqual([600_001, 600_001]);
    expect(sha256).toBe(createHash("sha256").update(left).digest("hex"));
  });

  it("shows no part of a secret, wherever the tail begins or the log ends", () => {
    const folder = tempFolder();
    const secret = "QWERTYUIOPasdfghjkl0123456789";
    const secrets = secretsOf({ MY_API_KEY: secret, SESSION_TOKEN: "x1y2" });
    for (let after = 4096 - 70; after <= 4096 + 40; after += 1) {
      const { tail } = logged(folder, `${".".repeat(5000)}${secret}${"x1y2".repeat(9)}${"-".repeat(after)}`, secrets);
      expect(tail).toMatch(/^\.*\**-*$/);
    }
    for (let shown = 8; shown <= secret.length; shown += 1)
      expect(logged(folder, `said ${secret.slice(0, shown)}`, secrets).tail).toBe("said ***");
  });

  it("has a tail of at most 4096 bytes of valid text, whatever bytes there are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 9000, size: "max" }), fc.nat(40), (bytes, skip) => {
        const tail = maskedTail(Buffer.from(bytes), skip, []);
        expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(4096);
        expect(Buffer.from(tail).toString()).toBe(tail);
      }),
      { numRuns: 50 },
    );
  });

  it("never splits a character of any width", () => {
    const folder = tempFolder();
    for (const character of ["é", "日", "🙂"])
      for (let after = 0; after < 4; after += 1) {
        const { tail } = logged(folder, character.repeat(3000) + ".".repeat(after));
        expect(tail.replaceAll(character, "")).toBe(".".repeat(after));
        expect(Buffer.byteLength(tail)).toBeGreaterThan(4096 - 4);
      }
    const torn = Buffer.concat([Buffer.from("ok "), Buffer.from("🙂").subarray(0, 3)]);
    expect(logged(folder, torn).tail).toBe("ok ");
  });

  it("masks each line of a secret of several lines, and no value too short to be one", () => {
    const folder = tempFolder();
    const secrets = secretsOf({ SIGNING_KEY: "-----BEGIN\nabcdefgh\n-----END", PASS: "no", PLAIN: "visible" });
    expect(logged(folder, "x abcdefgh no visible", secrets).tail).toBe("x *** no visible");
    expect(secretsOf({ npm_config__authToken: "abcd" }).map(String)).toEqual(["abcd"]);
  });
});
