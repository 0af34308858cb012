/**
 * The commands that measure a pass: `setup` once in each tree of our own, `verify` the frozen command where it was
 * coded, then, as that ended, `revert` (the base with only the changed tests) or `baseline` (the base as it was).
 */
export const commandRoles = ["setup", "verify", "revert", "baseline"] as const;
export type CommandRole = (typeof commandRoles)[number];
