/** The eight ways a command can end, each with the fields it has and the one sentence that says it. */

export type CommandEnding =
  | { readonly ending: "exited"; readonly code: number }
  | { readonly ending: "signalled"; readonly signal: string }
  | { readonly ending: "timed-out"; readonly limitMs: number }
  | { readonly ending: "memory"; readonly limitBytes: number }
  | { readonly ending: "output"; readonly limitBytes: number }
  | { readonly ending: "unstarted"; readonly why: UnstartedWhy }
  /** Somebody told the performer to stop (SIGTERM, SIGINT). */
  | { readonly ending: "killed" }
  /** The performer died: nobody saw how the command ended. Never written by a performer. */
  | { readonly ending: "lost" };

/** `folder`: the working folder is not there. `log`: the log cannot be written. `process`: the system refused one. */
export type UnstartedWhy = "folder" | "log" | "process";

const unstartedWords: Readonly<Record<UnstartedWhy, string>> = {
  folder: "its working folder does not exist or cannot be entered",
  log: "its log file cannot be written",
  process: "the system refused to start a process for it",
};

/** One English sentence, of numbers and fixed words only: no byte of the command or of its output. */
export function endingSentence(end: CommandEnding): string {
  switch (end.ending) {
    case "exited":
      return `The command ended by itself with exit code ${end.code}.`;
    case "signalled":
      return `The command was ended by signal ${end.signal}.`;
    case "timed-out":
      return `The command was stopped: it ran longer than its limit of ${inSeconds(end.limitMs)}.`;
    case "memory":
      return `The command was stopped: it used more memory than its limit of ${inBytes(end.limitBytes)}.`;
    case "output":
      return `The command was stopped: it wrote more output than its limit of ${inBytes(end.limitBytes)}.`;
    case "unstarted":
      return `The command was never started: ${unstartedWords[end.why]}.`;
    case "killed":
      return "The command was stopped from outside before it ended.";
    case "lost":
      return "The command's end was not seen: the process that watched it died.";
  }
}

const signalShape = /^SIG[A-Z0-9+]{1,12}$/;

/**
 * The ending among the fields of an untrusted object, or null when they are not exactly one ending a performer may
 * write (`lost` is not one). Fields of other endings must be absent.
 */
export function parseEnding(fields: Readonly<Record<string, unknown>>): CommandEnding | null {
  const { ending, code, signal, limitMs, limitBytes, why } = fields;
  const given = Object.entries({ code, signal, limitMs, limitBytes, why })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name)
    .join();
  if (ending === "killed" && given === "") return { ending };
  if (ending === "exited" && given === "code" && isWhole(code) && code <= 0xffff_ffff) return { ending, code };
  if (ending === "signalled" && given === "signal" && typeof signal === "string" && signalShape.test(signal))
    return { ending, signal };
  if (ending === "timed-out" && given === "limitMs" && isWhole(limitMs)) return { ending, limitMs };
  if ((ending === "memory" || ending === "output") && given === "limitBytes" && isWhole(limitBytes))
    return { ending, limitBytes };
  if (ending === "unstarted" && given === "why" && (why === "folder" || why === "log" || why === "process"))
    return { ending, why };
  return null;
}

/** A whole number from 0 on that arithmetic keeps exact. */
export function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function inSeconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

function inBytes(bytes: number): string {
  const mebibyte = 1024 * 1024;
  return bytes < mebibyte ? `${bytes} bytes` : `${Math.round(bytes / mebibyte)} MiB`;
}
