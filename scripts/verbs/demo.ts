import type { Arguments } from "./arguments.ts";

export async function demo(_given: Arguments): Promise<number> {
  return 4;
}
