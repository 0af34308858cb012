/** The line between a performer and the command line that started it: descriptor 3, both ways, for the start only. */
import { Socket } from "node:net";
import type { ProcessIdentity } from "../core/owner.ts";
import { UsageError } from "../core/result.ts";
import { isWhole } from "./command-ending.ts";
import type { CommandGroup } from "./command-members.ts";
import { isRecord } from "./performer-job.ts";

/** What a performer says of itself before it may begin. */
export interface PerformerWords {
  readonly performer: ProcessIdentity;
  /** Null when nothing was started, or the system has no groups. */
  readonly group: CommandGroup | null;
  readonly seal: string;
}

export interface ParentLine {
  /** Says the words; true when "go" came, false when the parent hung up, died, or `stop` was raised before. */
  agree(words: PerformerWords, stop: AbortSignal): Promise<boolean>;
  /** Says why there will be nothing. */
  fail(why: string): void;
}

const lineBytesMax = 4096;

/** The performer's end. Throws UsageError when nobody holds the other one. */
export function openParentLine(): ParentLine {
  let socket: Socket;
  try {
    socket = new Socket({ fd: 3, readable: true, writable: true });
  } catch {
    throw new UsageError("perform-command is started by verify, not by hand", "atlas verify");
  }
  socket.on("error", () => {});
  return {
    agree: (words, stop) => {
      const answer = firstLine(socket, stop);
      socket.write(`${JSON.stringify(words)}\n`);
      return answer.then((line) => {
        socket.destroy();
        return line === "go";
      });
    },
    fail: (why) => {
      socket.end(`${JSON.stringify({ failed: why })}\n`);
      socket.unref();
    },
  };
}

/** The first line that comes, without its end; null when the stream ends, fails, or says too much before. */
export function firstLine(socket: Socket, stop: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    let text = Buffer.alloc(0);
    const give = (line: string | null): void => {
      socket.removeListener("data", take);
      resolve(line);
    };
    const take = (bytes: Buffer): void => {
      text = Buffer.concat([text, bytes]);
      const end = text.indexOf(0x0a);
      if (end !== -1) give(text.subarray(0, end).toString("utf8"));
      else if (text.length > lineBytesMax) give(null);
    };
    socket.on("data", take);
    socket.once("end", () => give(null));
    socket.once("close", () => give(null));
    if (stop.aborted) give(null);
    else stop.addEventListener("abort", () => give(null), { once: true });
  });
}

export function parseWords(line: string): PerformerWords | { readonly failed: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = null;
  }
  if (!isRecord(value)) return { failed: "it did not say who it is" };
  if (typeof value.failed === "string") return { failed: value.failed.slice(0, 200) };
  const { performer, group, seal } = value;
  if (!isIdentity(performer) || !(group === null || isGroup(group)) || typeof seal !== "string")
    return { failed: "it did not say who it is" };
  return { performer, group, seal };
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (!isRecord(value) || !isWhole(value.pid) || typeof value.start !== "string") return false;
  const texts = [value.machine, value.boot, value.namespace];
  return texts.every((text) => text === null || typeof text === "string") && (value.uid === null || isWhole(value.uid));
}

function isGroup(value: unknown): value is CommandGroup {
  return isRecord(value) && isWhole(value.pgid) && value.pgid > 1 && typeof value.start === "string";
}
