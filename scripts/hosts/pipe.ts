/**
 * Reading a pipe or a socket without `process.stdin`, whose modules (net, stream, tty) cost a fifth of node's own
 * start. The handle is node's, undocumented: whatever is not as expected gives null, and the caller uses the stream.
 */
import { fstatSync } from "node:fs";

/**
 * Major versions of node this was tried with. In any other an unexpected handle could end the process beyond the
 * reach of a catch.
 */
const provenMajors: ReadonlySet<string> = new Set(["20", "22", "24"]);

interface PipeHandle {
  open(fd: number): unknown;
  readStart(): unknown;
  readStop(): unknown;
  onread: (bytes: unknown) => void;
}

interface PipeBinding {
  readonly Pipe?: new (type: number) => PipeHandle;
  readonly constants?: { readonly SOCKET?: number };
}

/** Gives how to stop, or null when `fd` cannot be read this way; nothing has been read then. */
export function readPipe(fd: number, take: (chunk: Uint8Array | null) => void): (() => void) | null {
  try {
    if (process.platform === "win32" || !provenMajors.has(process.versions.node.split(".")[0] ?? "")) return null;
    // There node would say on stderr that the handle is undocumented.
    if (isPendingDeprecationOn()) return null;
    const stat = fstatSync(fd);
    if (!stat.isFIFO() && !stat.isSocket()) return null;
    const binding = (process as unknown as { binding(name: string): PipeBinding }).binding("pipe_wrap");
    if (typeof binding.Pipe !== "function" || typeof binding.constants?.SOCKET !== "number") return null;
    const handle = new binding.Pipe(binding.constants.SOCKET);
    if (handle.open(fd) !== 0) return null;
    handle.onread = (bytes) => {
      if (bytes instanceof ArrayBuffer) take(new Uint8Array(bytes));
      // Its end, or an error: both end what can be known.
      else if (!ArrayBuffer.isView(bytes)) take(null);
      else take(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    };
    if (handle.readStart() !== 0) return null;
    return () => {
      handle.readStop();
    };
  } catch {
    return null;
  }
}

function isPendingDeprecationOn(): boolean {
  return process.env.NODE_PENDING_DEPRECATION === "1" || process.execArgv.includes("--pending-deprecation");
}
