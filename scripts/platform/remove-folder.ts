import { rmSync } from "node:fs";

/** Removes a folder with all that is in it, following no link. False where something of it stayed. */
export function removeFolderTree(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    return true;
  } catch {
    return false;
  }
}
