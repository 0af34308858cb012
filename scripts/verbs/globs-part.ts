/** Entry of `dist/globs.cjs`: the glob package, loaded by the verbs when a scope is first matched. */
export { globMatcher } from "../engine/globs.ts";

declare const ATLAS_BUILD: string;

export const build = ATLAS_BUILD;
