/** Reading a packet as its agent does: what is trusted, what is fenced, and whether every fence holds. */
import { expect } from "vitest";
import type { AgentPacket } from "../../scripts/kinds/change/packet-sheet.ts";

/** The shortest there may be: what the fence puts in its place is longer. */
export const nonce = "5eed5eed";
export const open = `<<<DATA ${nonce}`;
export const close = `DATA ${nonce} end>>>`;

export function size(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What stands between a text's fences; the text outside them in `outside`. */
export function unfenced(text: string): { readonly bodies: readonly string[]; readonly outside: string } {
  const bodies: string[] = [];
  let outside = "";
  let rest = text;
  for (let at = rest.indexOf(open); at >= 0; at = rest.indexOf(open)) {
    outside += rest.slice(0, at);
    const end = rest.indexOf(`\n${close}`, at);
    expect(end).toBeGreaterThan(at);
    bodies.push(rest.slice(rest.indexOf("\n", at) + 1, Math.max(end, rest.indexOf("\n", at) + 1)));
    rest = rest.slice(end + 1 + close.length);
  }
  return { bodies, outside: outside + rest };
}

/** Three trusted lines, fences, nothing else; every fence whole; sizes kept. */
export function expectSound({ markdown, files }: AgentPacket): void {
  expect(size(markdown)).toBeLessThanOrEqual(60 * 1024);
  const lines = markdown.split("\n");
  for (const line of lines.slice(0, 3)) expect(line).not.toBe("");
  const { bodies, outside } = unfenced(lines.slice(3).join("\n"));
  expect(outside.trim()).toBe("");
  expect(markdown.split(open)).toHaveLength(bodies.length + 1);
  expect(markdown.split(close)).toHaveLength(bodies.length + 1);
  expect(bodies.join("\n")).not.toContain(nonce);
  for (const { name, text } of files) {
    expect(name).toMatch(/^[a-z]+\/\d{3}\.(txt|json|patch)$/);
    expect(size(text)).toBeLessThanOrEqual(60 * 1024);
    expect([text.split(open).length, text.split(close).length]).toEqual([2, 2]);
    expect(unfenced(text).outside.trim()).toBe("");
    expect(markdown).toContain(`${name} (${size(text)} bytes)`);
  }
}
