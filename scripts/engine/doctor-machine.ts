/** What the program itself stands on: node, git, host, installation, environment. Reads, and probes one folder. */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { isSpeakableId } from "../core/ids.ts";
import { entryKind, readBounded } from "../platform/files.ts";
import { gitVersion, gitVersionMin, isOlder } from "../platform/git.ts";
import { sha256 } from "../platform/hash.ts";
import { realPath } from "../platform/repository.ts";
import { stateFolder } from "../platform/sessions.ts";
import type { Engine } from "./context.ts";
import { bad, type Check, fine, guarded, shellQuoted } from "./doctor-check.ts";
import { probeWrite } from "./doctor-places.ts";

const nodeMajorMin = 20;
const bundleBytesMax = 16 * 1024 * 1024;
const manifestBytesMax = 1024 * 1024;
const reinstall = "reinstall the atlas plugin";

/** `build`: the id of the bundle that runs; null when it was not built. */
export function checkMachine(engine: Engine, build: string | null): readonly Check[] {
  return [
    ...guarded("node", () => [nodeCheck(process.versions.node)]),
    ...guarded("git", () => [gitCheck(engine)]),
    ...guarded("host", () => [hostCheck(engine)]),
    ...guarded("machine id", () => [machineCheck(engine)]),
    ...guarded("installation", () => installation(engine, build)),
    ...guarded("path", () => [pathCheck(engine)]),
    ...guarded("environment", () => environment(engine)),
    ...guarded("state folder", () => [stateCheck(engine)]),
  ];
}

export function nodeCheck(version: string): Check {
  if (Number(version.split(".")[0]) >= nodeMajorMin) return fine("node", `node ${version}`);
  return bad("node", `node ${version} is too old`, `install node ${nodeMajorMin} or newer`);
}

function gitCheck(engine: Engine): Check {
  const version = gitVersion(engine.git);
  const said = `git ${version.join(".")}`;
  if (!isOlder(version, gitVersionMin)) return fine("git", said);
  return bad("git", `${said} is too old`, `install git ${gitVersionMin[0]}.${gitVersionMin[1]} or newer`);
}

function hostCheck(engine: Engine): Check {
  const { self, environment: env, processes } = engine;
  const session = self.session === null ? "no session" : `session ${spoken(self.session)}`;
  if (self.pid === null) {
    const why = "no host process among our ancestors, so nobody can prove that an owner is gone";
    return bad("host", `${session}; ${why}`, "start atlas from the host's own shell, not from a detached one");
  }
  const name = (processes.look(self.pid)?.name ?? "gone").replace(/[^A-Za-z0-9._-]/g, "?");
  const how = env.CLAUDE_PID === String(self.pid) ? "named by CLAUDE_PID" : "the nearest ancestor that is no shell";
  return fine("host", `${self.host}: process ${self.pid} (${name}), ${how}; ${session}, ${howSession(engine)}`);
}

function howSession(engine: Engine): string {
  const { session } = engine.self;
  const named = engine.environment.CLAUDE_CODE_SESSION_ID;
  // A variable that leaked from another session decides nothing; whoever wonders shall see it.
  const note = named === undefined || named === session ? "" : "; CLAUDE_CODE_SESSION_ID names another";
  return `${sourceOfSession(engine)}${note}`;
}

function sourceOfSession(engine: Engine): string {
  const { session } = engine.self;
  if (session === null) return "not found";
  if (session.startsWith("proc-")) return "made of the process";
  return session === engine.environment.CLAUDE_CODE_SESSION_ID ? "from the host's variables" : "from its record";
}

function machineCheck(engine: Engine): Check {
  if (engine.processes.place.machine !== null) {
    const note = engine.exclusive ? "; ATLAS_EXCLUSIVE=1: other containers' owners count as gone" : "";
    return fine("machine id", `present${note}`);
  }
  const why = "this machine has no id, so no owner can be proved gone and each resume asks for --take-over";
  const fix = "ATLAS_EXCLUSIVE=1 atlas resume";
  return engine.exclusive
    ? fine("machine id", "none; ATLAS_EXCLUSIVE=1 stands for it")
    : bad("machine id", `${why}; where only this container uses the folder, set ATLAS_EXCLUSIVE=1`, fix);
}

function installation(engine: Engine, build: string | null): readonly Check[] {
  const checks: Check[] = [];
  const at = (name: string): string => join(engine.pluginRoot, name);
  for (const name of ["atlas.cjs", "look.cjs", "steps.cjs", "verbs.cjs"]) {
    const read = readBounded(engine.fs, at(`dist/${name}`), bundleBytesMax);
    if (read.kind !== "file") {
      checks.push(bad("installation", `dist/${name} is ${read.kind === "bad" ? read.why : "missing"}`, reinstall));
    } else if (build !== null && !read.bytes.includes(build)) {
      checks.push(bad("installation", `dist/${name} is of another build than the one that runs`, reinstall));
    }
  }
  const launcher = at("hooks/run");
  const read = readBounded(engine.fs, launcher, manifestBytesMax);
  if (read.kind !== "file") checks.push(bad("installation", "hooks/run is missing: no hook can start", reinstall));
  else if (read.bytes.includes("\r\n")) {
    checks.push(
      bad("installation", "hooks/run has CRLF line ends: sh cannot run it", "git config core.autocrlf input"),
    );
  } else if (process.platform !== "win32") {
    const tried = spawnSync("/bin/sh", ["-n", launcher], { timeout: 2000, killSignal: "SIGKILL" });
    if (tried.status !== 0) checks.push(bad("installation", "hooks/run cannot be read by sh", reinstall));
  }
  for (const name of ["plugin.json", ".claude-plugin/plugin.json", ".kimi-plugin/plugin.json", "hooks/hooks.json"]) {
    if (!isJsonObject(engine, at(name))) {
      checks.push(bad("installation", `${name} is missing or not JSON: a host does not load the plugin`, reinstall));
    }
  }
  if (checks.length > 0) return checks;
  return [fine("installation", `${engine.pluginRoot}, build ${build ?? "of the sources"}`)];
}

function isJsonObject(engine: Engine, path: string): boolean {
  const read = readBounded(engine.fs, path, manifestBytesMax);
  if (read.kind !== "file") return false;
  try {
    const value: unknown = JSON.parse(read.bytes.toString("utf8"));
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}

/** Both are ways to work: printed commands name the program where `atlas` is not found. */
function pathCheck(engine: Engine): Check {
  const folders = (engine.environment.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const names = process.platform === "win32" ? ["atlas.cmd", "atlas.exe"] : ["atlas"];
  const found = folders.find((folder) => names.some((name) => entryKind(engine.fs, join(folder, name)) !== "absent"));
  if (found !== undefined) return fine("path", `atlas is on PATH, in ${found}`);
  const program = `node ${shellQuoted(join(engine.pluginRoot, "dist", "atlas.cjs"))}`;
  return fine("path", "atlas is not on PATH; type the program's whole name instead", program);
}

function environment(engine: Engine): readonly Check[] {
  const { CLAUDE_ENV_FILE: file, CLAUDE_PLUGIN_ROOT: root } = engine.environment;
  const checks: Check[] = [];
  if (file !== undefined) {
    const kind = isAbsolute(file) ? entryKind(engine.fs, file) : null;
    const sound = kind === "file" || (kind === "absent" && entryKind(engine.fs, dirname(file)) === "folder");
    const why = "CLAUDE_ENV_FILE names no file that can be written, so ATLAS_SESSION_ID is not exported";
    checks.push(
      sound ? fine("environment", "CLAUDE_ENV_FILE is usable") : bad("environment", why, "unset CLAUDE_ENV_FILE"),
    );
  }
  if (root !== undefined) {
    const same = isAbsolute(root) && realPath(engine.fs, root) === realPath(engine.fs, engine.pluginRoot);
    const why = "CLAUDE_PLUGIN_ROOT names another copy of a plugin than the one that runs";
    checks.push(
      same
        ? fine("environment", "CLAUDE_PLUGIN_ROOT is this plugin")
        : bad("environment", why, "unset CLAUDE_PLUGIN_ROOT"),
    );
  }
  return checks;
}

function stateCheck(engine: Engine): Check {
  const name = "state folder";
  const state = stateFolder(engine.environment);
  const lost = "sessions are not remembered across processes";
  if (state === null) return bad(name, `neither XDG_STATE_HOME nor HOME is an absolute path; ${lost}`, "export HOME");
  const kind = entryKind(engine.fs, state);
  const mend = `chmod u+rwx ${shellQuoted(state)}`;
  if (kind === "link") return bad(name, `${state} is a link; ${lost}`, `rm ${shellQuoted(state)}`);
  if (kind === "folder") {
    const why = probeWrite(engine.fs, state);
    return why === null ? fine(name, `${state} is writable`) : bad(name, `${state}: ${why}; ${lost}`, mend);
  }
  if (kind !== "absent") return bad(name, `${state} is not a folder; ${lost}`, `rm ${shellQuoted(state)}`);
  let above = dirname(state);
  while (entryKind(engine.fs, above) === "absent" && dirname(above) !== above) above = dirname(above);
  try {
    accessSync(above, constants.W_OK | constants.X_OK);
    return fine(name, `${state} is made at the next session's start`);
  } catch {
    return bad(name, `${state} cannot be made; ${lost}`, `chmod u+rwx ${shellQuoted(above)}`);
  }
}

function spoken(session: string): string {
  return isSpeakableId(session) || /^proc-\d+-[0-9-]*$/.test(session) ? session : `#${sha256(session).slice(0, 8)}`;
}
