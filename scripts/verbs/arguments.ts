/** The words of a call, checked at the door. */
import { parseArgs } from "node:util";
import { UsageError } from "../core/result.ts";

/** Options every verb takes. */
const common = {
  cwd: { type: "string" },
  run: { type: "string" },
  claim: { type: "string" },
  session: { type: "string" },
  json: { type: "boolean" },
} as const;

const own: Readonly<Record<string, Readonly<Record<string, { readonly type: "string" | "boolean" }>>>> = {
  status: { all: { type: "boolean" } },
  resume: {
    "dry-run": { type: "boolean" },
    newest: { type: "boolean" },
    "take-over": { type: "boolean" },
    trust: { type: "boolean" },
    readopt: { type: "boolean" },
    redo: { type: "string" },
    wait: { type: "string" },
    headless: { type: "boolean" },
  },
  start: { packet: { type: "string" }, text: { type: "string" }, headless: { type: "boolean" } },
  next: {},
  submit: { slot: { type: "string" }, file: { type: "string" }, failed: { type: "string" } },
  answer: { gate: { type: "string" }, nonce: { type: "string" }, choice: { type: "string" }, text: { type: "string" } },
  verify: { timeout: { type: "string" }, background: { type: "boolean" } },
  abandon: { "take-over": { type: "boolean" } },
  clean: { "dry-run": { type: "boolean" }, "drop-kept": { type: "string" } },
  report: { check: { type: "boolean" } },
  fork: { at: { type: "string" } },
  rollback: { to: { type: "string" } },
  graph: {},
  doctor: {},
  ping: {},
  demo: {},
};

/** Verbs that take a kind. */
const withWords: ReadonlySet<string> = new Set(["start", "demo"]);

export const VERBS = Object.keys(own);

export interface Arguments {
  readonly verb: string;
  readonly rest: readonly string[];
  readonly json: boolean;
  text(name: string): string | null;
  flag(name: string): boolean;
  /** A whole number of seconds from 0 to `max`; throws `usage.arguments` for anything else. */
  seconds(name: string, max: number): number | null;
  /** An option that must be there. */
  required(name: string): string;
}

/** Throws UsageError for an unknown verb, an unknown option, or an option without its value. */
export function readArguments(argv: readonly string[]): Arguments {
  const [verb, ...words] = argv;
  // An object has more names than those written above: `constructor` is no verb.
  const options = verb !== undefined && Object.hasOwn(own, verb) ? own[verb] : undefined;
  if (verb === undefined || options === undefined) {
    throw new UsageError(`atlas knows no such verb; it knows: ${VERBS.join(", ")}`, "atlas --help", "usage.verb");
  }
  let parsed: { values: Record<string, string | boolean | undefined>; positionals: string[] };
  try {
    parsed = parseArgs({ args: words, options: { ...common, ...options }, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(String((error as Error).message).split("\n")[0] ?? "bad arguments", `atlas ${verb} --help`);
  }
  const { values, positionals } = parsed;
  if (positionals.length > 0 && !withWords.has(verb)) {
    throw new UsageError(`${verb} takes options only, no further words`, `atlas ${verb} --help`, "usage.words");
  }
  const text = (name: string): string | null => {
    const value = values[name];
    return typeof value === "string" ? value : null;
  };
  return {
    verb,
    rest: positionals,
    json: values.json === true,
    text,
    flag: (name) => values[name] === true,
    seconds(name, max) {
      const value = text(name);
      if (value === null) return null;
      const seconds = /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN;
      if (!(seconds <= max)) throw new UsageError(`--${name} takes whole seconds from 0 to ${max}`);
      return seconds;
    },
    required(name) {
      const value = text(name);
      if (value === null || value === "") throw new UsageError(`${verb} needs --${name}`);
      return value;
    },
  };
}
