/** The skills installed for the project and for the user, read as text and offered as advice. Nothing of them is run. */
import { join } from "node:path";
import type { ChangeState } from "../kinds/change/state.ts";
import { listFolder, readBounded } from "../platform/files.ts";
import { type Skill, skillBytesMax } from "../verify/skill.ts";
import type { Engine } from "./context.ts";
import { userTree } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { fittingSkills, skillOf, skillsText } from "./readers.ts";

const folders = [".claude/skills", ".kimi/skills", ".kimi-code/skills", ".agents/skills"];
/** Skills looked at in one folder, in the order of their names. */
const skillsMax = 200;

/** Null: none is installed that fits. The project's own come before the user's of the same name. */
export function skillAdvice(engine: Engine, loaded: Loaded<ChangeState>, intent: string): string | null {
  const { HOME, USERPROFILE } = engine.environment;
  const homes = [userTree(loaded), HOME ?? USERPROFILE].filter((home) => home !== undefined && home !== "");
  const roots = [...new Set(homes)].flatMap((home) => folders.map((folder) => join(home as string, folder)));
  return skillsText(
    fittingSkills(
      roots.flatMap((root) => skillsIn(engine, root)),
      intent,
    ),
  );
}

function skillsIn(engine: Engine, root: string): readonly Skill[] {
  return [...listFolder(engine.fs, root)]
    .sort()
    .slice(0, skillsMax)
    .flatMap((name) => {
      const read = readBounded(engine.fs, join(root, name, "SKILL.md"), skillBytesMax);
      const skill = read.kind === "file" ? skillOf(read.bytes.toString("utf8")) : null;
      return skill === null ? [] : [skill];
    });
}
