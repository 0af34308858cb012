/**
 * The pointer: what a hook says of unfinished runs. Numbers, known words and ids of our own form only; no byte of an
 * intent, a file name or an error text. At most `POINTER_CHARS_MAX` characters, whatever the ledgers hold.
 */
import { isSpeakableId } from "../core/ids.ts";
import type { PeekedRun } from "../platform/peek.ts";
import type { CommandWords } from "./event.ts";

export const POINTER_CHARS_MAX = 1000;
const runsShownMax = 5;
const asidesMax = 3;
const refineMax = 2;

export type OwnerWord = "none" | "ours" | "released" | "gone" | "alive";

export interface SpokenRun {
  readonly run: PeekedRun;
  readonly owner: OwnerWord;
  /** Git tracks it and nobody trusted it yet: it came with the repository. */
  readonly tracked: boolean;
}

export interface PointerParts {
  /** Runs that can be resumed, newest first. */
  readonly resumable: readonly SpokenRun[];
  readonly foreign: readonly SpokenRun[];
  readonly unreadable: readonly SpokenRun[];
  readonly tracked: readonly SpokenRun[];
  /** Ids this session has seen unfinished and whose folder is no longer there. */
  readonly vanished: readonly string[];
  /** Folders nobody looked into. */
  readonly unopened: number;
}

/** `hash` gives lower-case hex. Null: nothing to say. */
export function pointerText(parts: PointerParts, words: CommandWords, hash: (text: string) => string): string | null {
  const text = composed(parts, words, hash);
  if (text === null || text.length <= POINTER_CHARS_MAX) return text;
  // The plugin lies under a very long path. The skill says how to start the program where it is not on PATH.
  return composed(parts, { ...words, program: "atlas" }, hash);
}

function composed(parts: PointerParts, words: CommandWords, hash: (text: string) => string): string | null {
  const name = (id: string): string => spokenId(id, hash);
  const { program } = words;
  const resume = (id: string): string => `${program} resume --run ${typed(id)}${words.session}`;
  const [first, ...others] = parts.resumable;
  const asides = [
    ...parts.foreign.map(({ run }) => `atlas: run ${name(run.id)} belongs to another live session; leave it.`),
    ...parts.unreadable.map(({ run }) => unreadableLine(run, name(run.id), program)),
    ...parts.tracked.map(({ run }) => `atlas: run ${name(run.id)} came with the repository; ${program} status.`),
    ...parts.vanished.map((id) => `atlas: run ${name(id)} lost its ledger; ${program} doctor explains.`),
  ];
  const closing =
    "Then do only what it prints. Never redo finished stages; state is on disk, not in this conversation.";
  if (first === undefined) return asides.length === 0 ? null : fitted([], asides, []);
  if (others.length === 0) {
    return fitted(
      [`atlas: unfinished run. ${facts(first, name)}`, `Now run: ${resume(name(first.run.id))}`, closing],
      asides,
      parts.unopened > 0 ? [`and ${parts.unopened} more: ${program} status`] : [],
    );
  }
  const more = parts.resumable.length + parts.unopened - runsShownMax;
  return fitted(
    [
      `atlas: ${parts.resumable.length + parts.unopened} unfinished runs, newest first:`,
      ...parts.resumable.slice(0, runsShownMax).map((spoken) => facts(spoken, name)),
      ...(more > 0 ? [`and ${more} more: ${program} status`] : []),
      `ask the user which, then run: ${resume(parts.resumable.some(({ run }) => name(run.id).startsWith("#")) ? "'ID'" : "ID")}`,
      closing,
    ],
    asides,
    [],
  );
}

/** To a model that ends its turn while its own run waits for it. */
export function goOnText(id: string, words: CommandWords, hash: (text: string) => string): string {
  const name = spokenId(id, hash);
  return [
    `atlas: run ${name} is not over, and its next step is yours.`,
    `Now run: ${words.program} resume --run ${typed(name)}${words.session}`,
    "Then do only what it prints. If the user told you to stop, say so and stop.",
  ].join("\n");
}

/** An id as it may be said: itself in our own form or a UUID, else `#<8 hex of its sha-256>`. */
export function spokenId(id: string, hash: (text: string) => string): string {
  return isSpeakableId(id) ? id : `#${hash(id).slice(0, 8)}`;
}

/** A masked id as a shell takes it: bare, the rest of the line would be a comment. */
function typed(id: string): string {
  return id.startsWith("#") ? `'${id}'` : id;
}

function facts({ run, owner }: SpokenRun, name: (id: string) => string): string {
  const words = [`kind=${run.kind}`, `run=${name(run.id)}`, `stage=${run.stage}`];
  if (run.kind === "change") words.push(`refine=${run.refine}/${refineMax}`);
  if (run.stage !== "unknown") words.push(run.total === null ? `done=${run.done}` : `done=${run.done}/${run.total}`);
  words.push(`owner=${owner}`);
  return words.join(" ");
}

function unreadableLine(run: PeekedRun, id: string, program: string): string {
  if (run.unreadable === "ledger.newer") return `atlas: run ${id} needs a newer atlas; ${program} doctor explains.`;
  return `atlas: run ${id} is unreadable (${run.unreadable}); ${program} doctor explains.`;
}

/** What must be said, then as many asides as there is room for, a few at most. */
function fitted(must: readonly string[], asides: readonly string[], last: readonly string[]): string {
  const lines = [...must];
  let room = POINTER_CHARS_MAX - [...must, ...last].join("\n").length;
  for (const aside of asides.slice(0, asidesMax)) {
    if (room <= aside.length) break;
    lines.push(aside);
    room -= aside.length + 1;
  }
  return [...lines, ...last].join("\n");
}
