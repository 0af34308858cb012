/** What a headless run takes where its packet says nothing: recorded as assumptions, never asked. */
import { join } from "node:path";
import type { MissingField, Packet } from "../kinds/change/door-packet.ts";
import { entryKind, readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";

const manifestBytesMax = 1024 * 1024;

/** A test command of the fixed list that needs nobody's approval headless; empty: none was found. */
export function discoverCommand(fs: FileSystem, root: string): string {
  const has = (name: string): boolean => entryKind(fs, join(root, name)) === "file";
  if (hasTestScript(fs, join(root, "package.json"))) return "npm test";
  if (has("pytest.ini") || has("conftest.py")) return "pytest";
  if (has("Cargo.toml")) return "cargo test";
  if (has("go.mod")) return "go test ./...";
  if (has("Gemfile") && has(".rspec")) return "bundle exec rspec";
  return "";
}

function hasTestScript(fs: FileSystem, path: string): boolean {
  const read = readBounded(fs, path, manifestBytesMax);
  if (read.kind !== "file") return false;
  try {
    const manifest = JSON.parse(read.bytes.toString("utf8")) as { scripts?: { test?: unknown } } | null;
    return typeof manifest?.scripts?.test === "string";
  } catch {
    return false;
  }
}

/** The packet with every missing field filled by its default, and which ones were. */
export function withDefaults(
  fs: FileSystem,
  root: string,
  packet: Packet,
  missing: readonly MissingField[],
): { readonly packet: Packet; readonly assumed: readonly string[] } {
  let full = packet;
  for (const field of missing) {
    if (field === "scope_paths") full = { ...full, scope_paths: ["."] };
    if (field === "verify_cmd") full = { ...full, verify_cmd: discoverCommand(fs, root) };
    if (field === "success_criteria") full = { ...full, success_criteria: [packet.intent.trim().slice(0, 500)] };
  }
  return { packet: full, assumed: missing };
}
