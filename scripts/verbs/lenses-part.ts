/** Entry of `dist/lenses.cjs`: the parsers of the syntax floor, loaded when a change is judged. */
export { parseOwn } from "../verify/lenses/parsers.ts";

declare const ATLAS_BUILD: string;

export const build = ATLAS_BUILD;
