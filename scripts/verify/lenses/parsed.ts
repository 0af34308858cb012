import type { OwnLanguage } from "./language.ts";

/** What a parser says of one text. */
export type Parsed =
  | { readonly is: "fine" }
  /** `line` from 1; null where it was not told. */
  | { readonly is: "refused"; readonly line: number | null }
  /** The parser could not look; `why` is of fixed words. */
  | { readonly is: "unread"; readonly why: string };

export const fine: Parsed = { is: "fine" };

export function refused(line: number | null): Parsed {
  return { is: "refused", line };
}

export function unread(why: string): Parsed {
  return { is: "unread", why };
}

/** A parser of a language that runs in this process. Never throws. */
export type ParseOwn = (language: OwnLanguage, path: string, text: string) => Parsed;
