import type { Engine } from "../engine/context.ts";
import { doctor as diagnose } from "../engine/doctor.ts";
import { type Arguments, VERBS } from "./arguments.ts";
import { done, type Outcome } from "./outcome.ts";

declare const ATLAS_BUILD: string;

/** Exit 0 whenever it could look: what is wrong stands in the checks, failing ones first, each with its fix. */
export function doctor(engine: Engine, given: Arguments): Outcome {
  const build = typeof ATLAS_BUILD === "string" ? ATLAS_BUILD : null;
  const checks = diagnose(engine, { run: given.text("run"), build, canFork: VERBS.includes("fork") });
  const lines = [...checks.filter((check) => !check.ok), ...checks.filter((check) => check.ok)].flatMap(
    ({ name, ok, detail, fix }) => [
      `${ok ? "ok" : "BAD"} ${name}: ${detail}`,
      ...(fix === null ? [] : [`  fix: ${fix}`]),
    ],
  );
  return done({ checks }, lines.join("\n"));
}
