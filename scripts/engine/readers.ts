/** Readers that need a package: a bundle of their own, loaded when something is read for the first time. */

export { parse as parseYaml } from "yaml";
export { addedLines } from "../verify/added-lines.ts";
export { readTests } from "../verify/read-tests.ts";
export { fittingSkills, skillOf, skillsText } from "../verify/skills.ts";
export { resolveCommand } from "../verify/test-command.ts";
