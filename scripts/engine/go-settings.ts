/** GOFLAGS as `go env -w` keeps it: the variable would take its place, so it is read to be carried along. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";

const settingsBytesMax = 64 * 1024;

/** The environment with what go would otherwise read from its settings; unchanged where nothing is set there. */
export function withGoFlags(
  fs: FileSystem,
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (environment.GOFLAGS !== undefined && environment.GOFLAGS !== "") return environment;
  const path = settingsPath(environment);
  const read = path === null ? null : readBounded(fs, path, settingsBytesMax);
  if (read?.kind !== "file") return environment;
  const flags = /^GOFLAGS=(.*)$/m.exec(read.bytes.toString("utf8"))?.[1]?.trim();
  return flags === undefined || flags === "" ? environment : { ...environment, GOFLAGS: flags };
}

function settingsPath({ GOENV = "", HOME = "", XDG_CONFIG_HOME = "", APPDATA = "" }: Readonly<Record<string, string>>) {
  if (GOENV === "off") return null;
  if (GOENV !== "") return isAbsolute(GOENV) ? GOENV : null;
  const home = HOME === "" ? homedir() : HOME;
  if (process.platform === "win32") return APPDATA === "" ? null : join(APPDATA, "go", "env");
  if (process.platform === "darwin") return join(home, "Library", "Application Support", "go", "env");
  return join(XDG_CONFIG_HOME === "" ? join(home, ".config") : XDG_CONFIG_HOME, "go", "env");
}
