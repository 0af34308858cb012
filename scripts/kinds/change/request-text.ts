import { quoted, utf8Bytes } from "../../core/quote.ts";
import { ok, type Result, refuse } from "../../core/result.ts";
import { changeSlots } from "../../parts/slots.ts";

/** What a request in plain words says, in the keys of a packet. As JSON it goes through slot `packet`'s door. */
export interface RequestText {
  readonly intent: string;
  readonly success_criteria?: readonly string[];
  readonly scope_paths?: readonly string[];
  readonly verify_cmd?: string;
  readonly setup_cmd?: string;
  readonly lint_cmd?: string;
  readonly test_glob?: readonly string[];
}

const commandClauses = ["verify_cmd", "setup_cmd", "lint_cmd"] as const;
const again = "then: atlas start change --text FILE";
type CommandClause = (typeof commandClauses)[number];

/**
 * Free text with clauses, each on its own line from the line's very beginning, in any case: `verify_cmd:`, `setup_cmd:`
 * and `lint_cmd:` (once each), `success:` (repeatable, parts at `;`), `scope:` and `test_glob:` (repeatable, parts at
 * commas or spaces; a part in double quotes may hold both). Every other line is the intent. A clause without a value is
 * as if it were absent. Refuses `slot.too_large | slot.empty | slot.duplicate_clause`.
 */
export function parseRequestText(text: string): Result<RequestText> {
  const { bytesMax } = changeSlots.packet;
  if (utf8Bytes(text) > bytesMax) {
    return refuse(
      "slot.too_large",
      `the request is longer than ${bytesMax} bytes`,
      `shorten it to ${bytesMax} bytes, ${again}`,
    );
  }
  const intent: string[] = [];
  const commands: Partial<Record<CommandClause, string>> = {};
  const lists: Record<"success" | "scope" | "test_glob", (readonly string[])[]> = {
    success: [],
    scope: [],
    test_glob: [],
  };
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/)) {
    const clause = /^(verify_cmd|setup_cmd|lint_cmd|success|scope|test_glob):(.*)$/i.exec(line);
    const value = (clause?.[2] ?? "").trim();
    const name = clause?.[1]?.toLowerCase();
    if (name === undefined) intent.push(line);
    else if (name === "success") lists.success.push(criteriaOf(value));
    else if (name === "scope" || name === "test_glob") lists[name].push(partsOf(value));
    else if (isCommandClause(name) && value !== "") {
      if (commands[name] !== undefined) {
        return refuse(
          "slot.duplicate_clause",
          `the clause ${quoted(name)} stands twice`,
          `keep one line ${name}:, ${again}`,
        );
      }
      commands[name] = value;
    }
  }
  const asked = intent.join("\n").trim();
  if (asked === "")
    return refuse("slot.empty", "intent is blank: the request holds clauses only", `say what to do, ${again}`);
  const [criteria, scope, tests] = [lists.success.flat(), lists.scope.flat(), lists.test_glob.flat()];
  return ok({
    intent: asked,
    ...commands,
    ...(criteria.length > 0 ? { success_criteria: criteria } : {}),
    ...(scope.length > 0 ? { scope_paths: scope } : {}),
    ...(tests.length > 0 ? { test_glob: tests } : {}),
  });
}

function isCommandClause(name: string): name is CommandClause {
  return (commandClauses as readonly string[]).includes(name);
}

function criteriaOf(value: string): readonly string[] {
  return value
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Commas inside `{…}` belong to a glob. */
function partsOf(value: string): readonly string[] {
  const parts = value.matchAll(/"([^"]*)"|(?:\{[^{}\s]*\}|[^\s,"])+/g);
  return [...parts].map((part) => part[1] ?? part[0]).filter((part) => part !== "");
}
