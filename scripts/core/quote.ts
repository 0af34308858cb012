const charsMaxDefault = 60;

/**
 * A piece of untrusted text that may stand in a refusal: in double quotes, at most `charsMax` characters of it,
 * printable ASCII only (everything else as `\u….`), one line.
 */
export function quoted(text: string, charsMax = charsMaxDefault): string {
  const cut = text.length > charsMax ? `${text.slice(0, charsMax)}...` : text;
  return JSON.stringify(cut).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Length in bytes of a text's UTF-8. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
