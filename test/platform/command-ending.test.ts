import { describe, expect, it } from "vitest";
import { type CommandEnding, endingSentence, parseEnding } from "../../scripts/platform/command-ending.ts";
import { parsePsTable } from "../../scripts/platform/process-table.ts";

const endings: readonly CommandEnding[] = [
  { ending: "exited", code: 3 },
  { ending: "signalled", signal: "SIGSEGV" },
  { ending: "timed-out", limitMs: 1_500_000 },
  { ending: "memory", limitBytes: 64 * 1024 * 1024 },
  { ending: "output", limitBytes: 1000 },
  { ending: "unstarted", why: "folder" },
  { ending: "killed" },
  { ending: "lost" },
];

describe("an ending", () => {
  it("has one sentence of its own, with its numbers in it", () => {
    expect(endings.map(endingSentence)).toEqual([
      "The command ended by itself with exit code 3.",
      "The command was ended by signal SIGSEGV.",
      "The command was stopped: it ran longer than its limit of 1500 s.",
      "The command was stopped: it used more memory than its limit of 64 MiB.",
      "The command was stopped: it wrote more output than its limit of 1000 bytes.",
      "The command was never started: its working folder does not exist or cannot be entered.",
      "The command was stopped from outside before it ended.",
      "The command's end was not seen: the process that watched it died.",
    ]);
  });

  it("is read back as it was written; nobody can write that it was lost", () => {
    for (const end of endings) expect(parseEnding({ ...end })).toEqual(end.ending === "lost" ? null : end);
  });

  it("with the fields of another one, or without its own, is none", () => {
    for (const end of endings) {
      expect(parseEnding({ ...end, signal: "SIGKILL", code: 0 })).toBeNull();
      if (Object.keys(end).length > 1) expect(parseEnding({ ending: end.ending })).toBeNull();
    }
    expect(parseEnding({ ending: "signalled", signal: "SIGX; rm" })).toBeNull();
    expect(parseEnding({ ending: "exited", code: "0" })).toBeNull();
    expect(parseEnding({ ending: "green" })).toBeNull();
  });
});

describe("a process table of ps", () => {
  it("gives pid, parent, group and start as one process has them, zombies marked", () => {
    const text =
      "    1     0     1 Ss   Mon Nov 30 19:00:00 2026\n  812   1   812 Z+   Tue Dec  1 01:02:03 2026    \nrubbish\n";
    expect(parsePsTable(text)).toEqual([
      { pid: 1, parent: 0, group: 1, session: null, start: "Mon Nov 30 19:00:00 2026", dead: false },
      { pid: 812, parent: 1, group: 812, session: null, start: "Tue Dec 1 01:02:03 2026", dead: true },
    ]);
  });
});
