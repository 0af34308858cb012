/** Where a human's trust in a run is kept: in the user's state folder, where no repository writes. */
import { join } from "node:path";
import { shortSha256 } from "./short-hash.ts";

/** `<state>/trusted/<hash>`, bound to the place: the same id in another repository is another ledger. */
export function trustMark(state: string | null, atlas: string, id: string): string | null {
  return state === null ? null : join(state, "trusted", shortSha256(`${atlas}\n${id}`));
}
