/**
 * The doors of kind `change`: what is handed in for a slot, checked before anything rests on it. Loaded by verbs only
 * (zod); the fold and the hooks use the checked values' types and nothing of this file.
 */
import * as z from "zod";
import { decodeUtf8, parseStrictText } from "../../core/json.ts";
import { ok, type Result, refuse } from "../../core/result.ts";
import { changeSlots, type SlotName } from "../../parts/slots.ts";
import type { Critic } from "../../verify/critic.ts";
import { type CoderEnd, coderEnd } from "./door-coder.ts";
import { criticDoor } from "./door-critic.ts";
import { type PacketChecked, type PacketContext, packetDoor } from "./door-packet.ts";
import { type Scout, scoutDoor } from "./door-scout.ts";
import { shaped } from "./door-shape.ts";

// One module for everything that needs zod: the bundle loads it on its first call.
export { packetDoor } from "./door-packet.ts";

/** What a door must be told, because it reads nothing itself. `memoryBytes` is half the machine: a packet's default. */
export interface DoorContext extends PacketContext {
  /** Whether a path, relative to the tree's root, exists at the baseline. Asked for slot `scout` only. */
  readonly exists: (path: string) => boolean;
  /** The command to type after mending; without it `atlas submit --slot <slot>`. */
  readonly again?: string;
}

export interface Triage {
  readonly archetype: "bugfix" | "feature" | "refactor" | "test" | "docs";
}

export interface Plan {
  readonly markdown: string;
}

/** The checked value by slot. */
export interface Checked {
  readonly packet: PacketChecked;
  readonly triage: Triage;
  readonly scout: Scout;
  readonly plan: Plan;
  readonly coder: CoderEnd;
  readonly correctness: Critic;
  readonly "code-quality": Critic;
  readonly security: Critic;
}

const depthMax = 8;
const triageShape = z.strictObject({ archetype: z.enum(["bugfix", "feature", "refactor", "test", "docs"]) });

const doors: { readonly [S in SlotName]: (bytes: Uint8Array, context: DoorContext) => Result<Checked[S]> } = {
  packet: (bytes, context) => withJson("packet", bytes, (value) => packetDoor(value, context)),
  triage: (bytes) => withJson("triage", bytes, (value) => shaped(triageShape, value, "slot.shape")),
  scout: (bytes, context) => withJson("scout", bytes, (value) => scoutDoor(value, context.exists)),
  plan: (bytes) => withText("plan", bytes, (markdown) => ok({ markdown })),
  coder: (bytes) => withText("coder", bytes, coderEnd),
  correctness: (bytes) => withJson("correctness", bytes, (value) => criticDoor(value, "correctness")),
  "code-quality": (bytes) => withJson("code-quality", bytes, (value) => criticDoor(value, "code-quality")),
  security: (bytes) => withJson("security", bytes, (value) => criticDoor(value, "security")),
};

/**
 * The bytes handed in for a slot as its checked value. Shapes are exact (an unknown key is refused) and bounded.
 * Refuses `slot.too_large | slot.encoding | slot.depth | slot.json | slot.duplicate_key | slot.shape | slot.path |
 * slot.path_unknown | slot.baseline | slot.empty | slot.status`, for critics also `critic.shape | critic.id |
 * critic.reserved_id | critic.duplicate_id | critic.dimension | critic.verdict`. A fix names the field and the command.
 */
export function check<S extends SlotName>(slot: S, bytes: Uint8Array, context: DoorContext): Result<Checked[S]> {
  const result = doors[slot](bytes, context);
  if (result.ok) return result;
  const { code, reason, fix } = result.error;
  return refuse(code, `slot ${slot}: ${reason}`, `${fix}, then: ${context.again ?? `atlas submit --slot ${slot}`}`);
}

function withText<T>(slot: SlotName, bytes: Uint8Array, door: (text: string) => Result<T>): Result<T> {
  const text = decodeUtf8(bytes, changeSlots[slot].bytesMax);
  if (!text.ok) return text;
  return text.value.trim() === "" ? refuse("slot.empty", "it is blank", "write it") : door(text.value);
}

function withJson<T>(slot: SlotName, bytes: Uint8Array, door: (value: unknown) => Result<T>): Result<T> {
  const { by, bytesMax } = changeSlots[slot];
  const text = decodeUtf8(bytes, bytesMax);
  if (!text.ok) return text;
  const parsed = parseStrictText(by === "root" ? text.value : unfenced(text.value), depthMax);
  return parsed.ok ? door(parsed.value) : parsed;
}

/** Agents like to wrap JSON in a code fence: exactly one enclosing fence is taken off, anything else stays. */
function unfenced(text: string): string {
  const bare = text.trim();
  const open = /^```(?:json)?[ \t]*\r?\n/i.exec(bare);
  if (open === null || !bare.endsWith("\n```")) return text;
  return bare.slice(open[0].length, -3);
}
