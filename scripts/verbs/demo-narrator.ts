/** The demo's voice: short lines for a person, as things happen. */
import { writeSync } from "node:fs";
import type { HostLine } from "./demo-lines.ts";

export interface Narrator {
  title(text: string): void;
  /** A word in the margin and what there is to say; long text goes on below. */
  row(word: string, text: string): void;
  /** Text as it came, set off from the demo's own. */
  quote(text: string): void;
  hear(line: HostLine): void;
}

const marginChars = 12;
const textChars = 88;
/** What a command did by itself is told where it means something to a reader. */
const telling = /^(opened|took|handed out|make-tree|keep-tree|remove-tree|ended|claimed|command recorded|judged)/;
const alike = /^--(claim|packet)$/;

export function narratorTo(fd: number): Narrator {
  const row = (word: string, text: string): void => {
    const [first = "", ...others] = wrapped(text);
    put(fd, `  ${word.padEnd(marginChars)}${first}\n`);
    for (const line of others) put(fd, `  ${"".padEnd(marginChars)}${line}\n`);
  };
  return {
    row,
    title: (text) => put(fd, `\n${text}\n`),
    quote: (text) => put(fd, `${text.trimEnd().replace(/^/gm, "    | ")}\n`),
    hear(line) {
      if (line.say === "agent") row("agent", `${line.role} ${line.is}, lease ${line.lease}`);
      if (line.say !== "ran") return;
      row("$", shortly(line.words));
      const did = line.printed.did
        .filter((one) => telling.test(one))
        .map((one) => one.replace(/ refs\/\S+$/, "").replace(/^opened$/, `opened run ${line.printed.run.id}`));
      if (did.length > 0) row("", did.join(", "));
    },
  };
}

/** Without what is the same in every command: the claim, and but for `resume` the run. */
function shortly(words: readonly string[]): string {
  const isAlike = (word = ""): boolean => alike.test(word) || (word === "--run" && words[1] !== "resume");
  return words.filter((word, at) => !isAlike(word) && !isAlike(words[at - 1])).join(" ");
}

/** Broken at blanks; a longer word stays whole. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= textChars) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Synchronous, so that nothing is lost where the process ends; a reader that went away is its own affair. */
export function put(fd: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") return;
    }
  }
}
