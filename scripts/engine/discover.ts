/** What a headless run takes where its packet says nothing: recorded as assumptions, never asked. */
import { join } from "node:path";
import type { MissingField, Packet } from "../kinds/change/door-packet.ts";
import { entryKind, listFolder, readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { isPlaceholder, manifestIn, scriptOf } from "../verify/command/manifests.ts";
import type { Look } from "../verify/test-command.ts";
import { resolveCommand } from "./readers.ts";

const fileBytesMax = 4 * 1024 * 1024;
const entriesMax = 500;
const testFilesMax = 20;

export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

/** Reads files below `root`; a link, a folder or anything too large is as if it were absent. */
export function lookBelow(fs: FileSystem, root: string): Look {
  return (path) => {
    const read = readBounded(fs, join(root, path), fileBytesMax);
    return read.kind === "file" ? read.bytes.toString("utf8") : null;
  };
}

/** A test command of the fixed list that needs nobody's approval headless; empty: none was found. */
export function discoverCommand(fs: FileSystem, root: string): string {
  const look = lookBelow(fs, root);
  const has = (...names: readonly string[]) => names.some((name) => entryKind(fs, join(root, name)) === "file");
  const script = scriptCommand(look);
  if (script !== "") return script;
  if (has("deno.json", "deno.jsonc")) return "deno test";
  const python = pythonCommand(fs, root, look);
  if (python !== "") return python;
  if (has("Cargo.toml")) return "cargo test";
  if (has("go.mod")) return "go test ./...";
  if (has("Gemfile") && has(".rspec", "spec/spec_helper.rb")) return "bundle exec rspec";
  if (has(".rspec")) return "rspec";
  if (has("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")) return phpCommand(look);
  if (has("pom.xml")) return has("mvnw") ? "./mvnw test" : "mvn test";
  if (has("build.gradle", "build.gradle.kts")) return has("gradlew") ? "./gradlew test" : "gradle test";
  if (namesIn(fs, root).some((name) => /\.(sln|slnx|csproj|fsproj)$/.test(name))) return "dotnet test";
  const { runners, unresolved } = resolveCommand("make test", look);
  return runners.length > 0 && unresolved.length === 0 ? "make test" : "";
}

/** The package manager a manifest or its lockfile names. */
export function packageManagerOf(look: Look): PackageManager {
  const named = /^(npm|pnpm|yarn|bun)@/.exec(manifestIn(look, "")?.packageManager ?? "")?.[1];
  if (named !== undefined) return named as PackageManager;
  if (look("package-lock.json") !== null || look("npm-shrinkwrap.json") !== null) return "npm";
  if (look("pnpm-lock.yaml") !== null) return "pnpm";
  if (look("yarn.lock") !== null) return "yarn";
  return look("bun.lock") !== null || look("bun.lockb") !== null ? "bun" : "npm";
}

/** A placeholder and a script that only says something are no tests. */
function scriptCommand(look: Look): string {
  const script = scriptOf(manifestIn(look, "")?.scripts ?? {}, "test");
  if (script === null || isPlaceholder(script)) return "";
  const manager = packageManagerOf(look);
  const command = manager === "bun" ? "bun run test" : `${manager} test`;
  const { runners, unresolved } = resolveCommand(command, look);
  return runners.length === 0 && unresolved.length === 0 ? "" : command;
}

function pythonCommand(fs: FileSystem, root: string, look: Look): string {
  const files = ["", "tests", "test"].flatMap((folder) =>
    namesIn(fs, join(root, folder))
      .filter((name) => /^test_.*\.py$|_test\.py$/.test(name))
      .map((name) => (folder === "" ? name : `${folder}/${name}`)),
  );
  const isSet =
    ["pytest.ini", ".pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"].some(
      (name) => look(name) !== null,
    ) ||
    /^\[tool\.pytest[.\]]/m.test(look("pyproject.toml") ?? "") ||
    /^\[tool:pytest\]/m.test(look("setup.cfg") ?? "") ||
    /^\[pytest\]/m.test(look("tox.ini") ?? "");
  if (!isSet && files.length === 0) return "";
  const texts = files.slice(0, testFilesMax).map((path) => look(path) ?? "");
  const isUnittest = texts.length > 0 && texts.every((text) => /\bunittest\b/.test(text) && !/\bpytest\b/.test(text));
  // unittest finds tests in the root and in packages alone.
  const isFound = files.every(
    (path) => /^test[^/]*\.py$/.test(path) || look(path.replace(/[^/]+$/, "__init__.py")) !== null,
  );
  if (!isSet && isUnittest && isFound) return "python3 -m unittest";
  if (look("uv.lock") !== null) return "uv run pytest";
  return look("poetry.lock") !== null ? "poetry run pytest" : "pytest";
}

function phpCommand(look: Look): string {
  return /"phpunit\/phpunit"/.test(look("composer.json") ?? "") ? "vendor/bin/phpunit" : "phpunit";
}

function namesIn(fs: FileSystem, folder: string): readonly string[] {
  return entryKind(fs, folder) === "folder" ? listFolder(fs, folder).slice(0, entriesMax) : [];
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
