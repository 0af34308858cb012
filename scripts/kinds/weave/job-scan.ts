/** A job of a plan, stepped over on a walk: where its parts lie, so that only a job that is wanted becomes a value. */
import { type JsonWalk, OffTheWalk, OPEN_LIST, OPEN_OBJECT, QUOTE } from "../../core/json-walk.ts";
import { type DagJob, JOB_STATES, type JobState } from "./plan-dag.ts";

export const bytesOf = (word: string): Uint8Array => new TextEncoder().encode(word);
// A mark within the document is a letter like any other.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const JOB_ID = bytesOf("job_id");
const KIND = bytesOf("kind");
const DEPS = bytesOf("deps");
const ATTEMPTS = bytesOf("attempts");
const STATE = bytesOf("state");
const stateWords = JOB_STATES.map((state) => ({ state, word: bytesOf(state) }));
const none: readonly string[] = [];

export class JobScan {
  /** Of the job stepped over last: its id among the bytes. */
  idFrom = -1;
  idTo = -1;
  /** Where the list of its dependencies begins; -1: it names none. */
  depsAt = -1;
  state: JobState = "PENDING";
  private kindFrom = -1;
  private kindTo = -1;
  private attempts = 0;
  private readonly bytes: Uint8Array;
  private readonly walk: JsonWalk;

  constructor(bytes: Uint8Array, walk: JsonWalk) {
    this.bytes = bytes;
    this.walk = walk;
  }

  /** Over the job the walk stands at. Throws `OffTheWalk` where a parser has to look at it. */
  step(): void {
    const { walk } = this;
    this.idFrom = this.kindFrom = this.depsAt = -1;
    this.attempts = 0;
    this.state = "PENDING";
    walk.enter(OPEN_OBJECT);
    for (let more = walk.firstKey(); more; more = walk.nextKey()) {
      mustBePlain(walk);
      if (walk.is(JOB_ID)) {
        text(walk);
        this.idFrom = walk.from;
        this.idTo = walk.to;
      } else if (walk.is(KIND)) this.kind();
      else if (walk.is(DEPS)) {
        walk.next();
        this.depsAt = walk.at;
        walk.enter(OPEN_LIST);
        for (let dep = walk.firstItem(); dep; dep = walk.nextItem()) text(walk);
      } else if (walk.is(ATTEMPTS)) this.attempts = count(this.bytes, walk);
      else if (walk.is(STATE)) this.state = stateAt(walk);
      else walk.skip();
    }
    if (this.idFrom < 0) throw new OffTheWalk();
  }

  /** The job that begins at `from`, as a value; without its dependencies where they are met. */
  jobAt(from: number, isMet: boolean): DagJob {
    this.walk.at = from;
    this.step();
    const { idFrom, idTo, kindFrom, kindTo, depsAt, attempts, state } = this;
    const kind = kindFrom < 0 ? null : this.read(kindFrom, kindTo);
    return { job_id: this.read(idFrom, idTo), kind, deps: isMet ? none : this.texts(depsAt), attempts, state };
  }

  private kind(): void {
    const { walk } = this;
    this.kindFrom = -1;
    if (walk.next() !== QUOTE) {
      walk.skip();
      return;
    }
    text(walk);
    this.kindFrom = walk.from;
    this.kindTo = walk.to;
  }

  private texts(at: number): readonly string[] {
    const { walk } = this;
    const texts: string[] = [];
    walk.at = at;
    walk.enter(OPEN_LIST);
    for (let more = walk.firstItem(); more; more = walk.nextItem()) {
      walk.string();
      texts.push(this.read(walk.from, walk.to));
    }
    return texts;
  }

  private read(from: number, to: number): string {
    return decoder.decode(this.bytes.subarray(from, to));
  }
}

/** One that is spelled with an escape may be any other one. */
export function mustBePlain(walk: JsonWalk): void {
  if (walk.hasEscape) throw new OffTheWalk();
}

/** A number from 0 to 999,999,999, written plainly; another one is a parser's to read. */
export function count(bytes: Uint8Array, walk: JsonWalk): number {
  walk.next();
  const from = walk.at;
  walk.skip();
  if (walk.at - from > 9) throw new OffTheWalk();
  let sum = 0;
  for (let at = from; at < walk.at; at += 1) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) throw new OffTheWalk();
    sum = sum * 10 + digit;
  }
  return sum;
}

/** Over a text whose bytes are its letters. */
function text(walk: JsonWalk): void {
  walk.string();
  mustBePlain(walk);
}

function stateAt(walk: JsonWalk): JobState {
  walk.string();
  for (const { state, word } of stateWords) if (walk.is(word)) return state;
  throw new OffTheWalk();
}
