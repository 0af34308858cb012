import { expect, test } from "vitest";
import { admitted, type Room } from "../../scripts/parts/admission.ts";

const critics = ["correctness-critic", "code-quality-critic", "security-critic"];
const room = (freeMb: number, totalMb = 16_000): Room => ({ freeMb, totalMb });

test("V-39: at most three agents are at work at once, whatever memory there is", () => {
  const many = [...critics, "context-scout", "elite-coder"];
  expect(admitted(many, [], room(100_000, 100_000))).toEqual([0, 1, 2]);
  expect(admitted(many, ["elite-coder"], null)).toEqual([0, 1]);
  expect(admitted(many, critics, null)).toEqual([]);
});

test("V-39: what stays free is never less than 3072 MB, or a fifth of a smaller machine", () => {
  expect(admitted(critics, [], room(3072 + 3 * 700))).toEqual([0, 1, 2]);
  expect(admitted(critics, [], room(3072 + 3 * 700 - 1))).toEqual([0, 1]);
  expect(admitted(critics, [], room(1000 + 700, 5000))).toEqual([0]);
  expect(admitted(critics, ["elite-coder"], room(3072 + 699))).toEqual([]);
  // What does not fit is passed over, not waited for.
  expect(admitted(["elite-coder", "context-scout"], ["elite-coder"], room(3072 + 700))).toEqual([1]);
});

test("V-39: all together take at most 4608 MB, or three fifths of a larger machine", () => {
  const coders = ["elite-coder", "elite-coder", "elite-coder"];
  expect(admitted(coders, [], room(7000, 7680))).toEqual([0, 1, 2]);
  expect(admitted(["elite-coder"], ["x", "y"], room(50_000, 1000))).toEqual([0]);
  expect(admitted(["elite-coder"], ["x", "y", "z"].slice(0, 2), room(50_000, 50_000))).toEqual([0]);
});

test("V-39: one at least always goes: a small machine is slow and never stuck", () => {
  expect(admitted(["elite-coder"], [], room(0, 512))).toEqual([0]);
  expect(admitted(critics, [], room(0))).toEqual([0]);
  expect(admitted(critics, [critics[0] as string], room(0))).toEqual([]);
  expect(admitted([], [], room(0))).toEqual([]);
});
