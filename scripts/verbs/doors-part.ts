/** Entry of `dist/doors.cjs`: what needs the schema package, loaded by the verbs on their first look at an artifact. */
export { check, packetDoor } from "../kinds/change/doors.ts";

declare const ATLAS_BUILD: string;

export const build = ATLAS_BUILD;
