/** Entry of `dist/readers.cjs`: what reads commands, reports, skills and rules, loaded when a change is measured. */
export * from "../engine/readers.ts";

declare const ATLAS_BUILD: string;

export const build = ATLAS_BUILD;
