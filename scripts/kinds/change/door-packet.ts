import * as z from "zod";
import { ok, type Result } from "../../core/result.ts";
import { normalScopePath } from "../../verify/scope.ts";
import { isPlain, pathFault, shaped, textUpTo, textUpToBytes, wrong } from "./door-shape.ts";

/** What a run is asked to do, frozen once. Keys absent in what was handed in hold their defaults. */
export interface Packet {
  readonly intent: string;
  readonly success_criteria: readonly string[];
  /** Empty: nothing may change. `.`: everything may. */
  readonly scope_paths: readonly string[];
  readonly verify_cmd: string;
  readonly setup_cmd?: string;
  readonly lint_cmd?: string;
  readonly debug_tokens: readonly string[];
  readonly test_glob: readonly string[];
  readonly invocation_form: "interactive" | "headless";
  readonly baseline?: string;
  readonly limits: { readonly timeMs: number; readonly memoryBytes: number; readonly outputBytes: number };
}

/** Fields the gate `clarify` asks for; in the packet they stand as `[]` or `""`. */
export type MissingField = "success_criteria" | "verify_cmd" | "scope_paths";

export interface PacketChecked {
  readonly packet: Packet;
  readonly missing: readonly MissingField[];
}

export interface PacketContext {
  readonly memoryBytes: number;
  readonly recovered: boolean;
}

const kb = 1024;
const commandCharsMax = 8 * kb;
const defaultTimeMs = 1_500_000;
const defaultOutputBytes = kb ** 3;

export const defaultDebugTokens: readonly string[] =
  "TODO FIXME XXX console.log( debugger; print( pdb.set_trace( breakpoint( dbg!( fmt.Println( var_dump( binding.pry".split(
    " ",
  );

export const defaultTestGlob: readonly string[] = (
  "**/*.{test,spec}.* **/*{_test,_spec}.* **/test_*.* **/*{Test,Tests,Spec,IT}.{java,kt,php,cs,scala,swift} " +
  "**/__tests__/** **/{test,tests,spec}/** **/conftest.py"
).split(" ");

const commandText = z
  .string()
  .max(commandCharsMax)
  .refine(isPlain, "must not hold control characters or characters that turn the writing direction");
const command = commandText.refine((text) => text.trim() !== "", "must not be blank");
const globs = z.array(z.string().max(512)).max(256);

const packetShape = z.strictObject({
  intent: textUpToBytes(64 * kb),
  success_criteria: z.array(textUpTo(500)).max(32).optional(),
  scope_paths: globs.optional(),
  verify_cmd: commandText.optional(),
  setup_cmd: command.optional(),
  lint_cmd: command.optional(),
  debug_tokens: z.array(textUpTo(100)).max(64).optional(),
  test_glob: globs.optional(),
  invocation_form: z.enum(["interactive", "headless"]).optional(),
  baseline: z
    .string()
    .max(64)
    .refine((text) => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text), "must be a full commit sha in lower-case hex")
    .optional(),
  limits: z
    .strictObject({
      timeMs: z.int().min(1000).max(86_400_000).optional(),
      memoryBytes: z
        .int()
        .min(64 * kb ** 2)
        .max(16 * kb ** 4)
        .optional(),
      outputBytes: z
        .int()
        .min(64 * kb)
        .max(64 * kb ** 3)
        .optional(),
    })
    .optional(),
});

/**
 * A packet with its defaults filled in. Absent or empty `success_criteria` and `verify_cmd`, and an absent
 * `scope_paths`, are no fault: they are named in `missing`. An empty `scope_paths` is an answer (nothing may change).
 * Refuses `slot.shape | slot.path | slot.baseline`.
 */
export function packetDoor(value: unknown, context: PacketContext): Result<PacketChecked> {
  const shape = shaped(packetShape, value, "slot.shape");
  if (!shape.ok) return shape;
  const given = shape.value;
  for (const field of ["scope_paths", "test_glob"] as const) {
    for (const [index, path] of (given[field] ?? []).entries()) {
      const fault = pathFault(path) ?? (path.startsWith("!") ? "must not be a negation" : null);
      if (fault !== null) return wrong("slot.path", `${field}[${index}]`, fault);
    }
  }
  if (given.baseline !== undefined && !context.recovered) {
    return wrong("slot.baseline", "baseline", "is taken for a recovered run only; this run records its own");
  }
  const { setup_cmd, lint_cmd, baseline, limits } = given;
  const packet: Packet = {
    intent: given.intent,
    success_criteria: given.success_criteria ?? [],
    scope_paths: (given.scope_paths ?? []).map(normalScopePath),
    verify_cmd: (given.verify_cmd ?? "").trim(),
    ...(setup_cmd === undefined ? {} : { setup_cmd }),
    ...(lint_cmd === undefined ? {} : { lint_cmd }),
    debug_tokens: given.debug_tokens ?? defaultDebugTokens,
    test_glob: given.test_glob ?? defaultTestGlob,
    invocation_form: given.invocation_form ?? "interactive",
    ...(baseline === undefined ? {} : { baseline }),
    limits: {
      timeMs: limits?.timeMs ?? defaultTimeMs,
      memoryBytes: limits?.memoryBytes ?? context.memoryBytes,
      outputBytes: limits?.outputBytes ?? defaultOutputBytes,
    },
  };
  return ok({ packet, missing: missingFields(packet, given.scope_paths !== undefined) });
}

function missingFields(packet: Packet, isScopeGiven: boolean): readonly MissingField[] {
  const missing: MissingField[] = [];
  if (packet.success_criteria.length === 0) missing.push("success_criteria");
  if (packet.verify_cmd === "") missing.push("verify_cmd");
  if (!isScopeGiven) missing.push("scope_paths");
  return missing;
}
