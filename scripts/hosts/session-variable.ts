/** `ATLAS_SESSION_ID` for the host's later shell commands, through the file the host names; written once. */
import { constants } from "node:fs";
import { isAbsolute } from "node:path";
import { isSessionId } from "../core/ids.ts";
import { readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";

const fileBytesMax = 64 * 1024;

/** An empty, relative, linked or unwritable file is left alone: nothing depends on the variable. */
export function exportSession(fs: FileSystem, file: string | undefined, session: string): void {
  if (file === undefined || !isAbsolute(file) || !isSessionId(session)) return;
  const line = `export ATLAS_SESSION_ID=${session}`;
  const read = readBounded(fs, file, fileBytesMax);
  if (read.kind === "bad") return;
  const before = read.kind === "file" ? read.bytes.toString("utf8") : "";
  if (before.split("\n").includes(line)) return;
  const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let fd: number | null = null;
  try {
    fd = fs.openSync(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | careful, 0o600);
    const bytes = Buffer.from(before === "" || before.endsWith("\n") ? `${line}\n` : `\n${line}\n`, "utf8");
    fs.writeSync(fd, bytes, 0, bytes.length, null);
  } catch {
    // Unwritable: the session id is in the host's own variables as well.
  } finally {
    if (fd !== null) fs.closeSync(fd);
  }
}
