/** A command's output as lines that patterns can be held against: no colours, no line beyond 8 KB. Linear. */

const lineLengthMax = 8 * 1024;
const outputLengthMax = 2 * 1024 * 1024;
/** Colours and cursor moves, then titles and links. No two parts of a pattern can match the same character. */
const escapes = /\u001b\[[0-9;:?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-Z\\^_]/g;

/** The last 2 MB; what stands behind a bare carriage return is a line of its own. */
export function logLines(output: string): readonly string[] {
  const kept = output.length > outputLengthMax ? output.slice(-outputLengthMax) : output;
  return kept
    .replace(escapes, "")
    .split(/\r\n|\n|\r/)
    .map((line) => (line.length > lineLengthMax ? line.slice(0, lineLengthMax) : line));
}

/**
 * Lines of several packages that a workspace runner mixed, told apart by the prefix that it announced (`pkg test$ …`
 * of pnpm, `pkg:test: …` of turbo). The first stream has the lines without one.
 */
export function logStreams(lines: readonly string[]): readonly (readonly string[])[] {
  const prefixes = new Set<string>();
  for (const line of lines) {
    const pnpm = /^(\S{1,200} [\w:-]{1,60})\$ /.exec(line)?.[1];
    if (pnpm !== undefined) prefixes.add(`${pnpm}: `);
    const turbo = /^(\S{1,200}:[\w-]{1,60}: )cache (?:miss|bypass)/.exec(line)?.[1];
    if (turbo !== undefined) prefixes.add(turbo);
  }
  if (prefixes.size === 0 || prefixes.size > 200) return [lines];
  const streams = new Map<string, string[]>([["", []]]);
  for (const line of lines) {
    const prefix = prefixOf(line, prefixes);
    const stream = streams.get(prefix) ?? [];
    stream.push(line.slice(prefix.length));
    streams.set(prefix, stream);
  }
  return [...streams.values()];
}

/** Ends where `: ` stands, so a line is cut at most as often as it holds one in its first 300 characters. */
function prefixOf(line: string, prefixes: ReadonlySet<string>): string {
  const head = line.slice(0, 300);
  // An empty line of a package is printed without the space.
  if (prefixes.has(`${line} `)) return line;
  for (let at = head.indexOf(": "); at >= 0; at = head.indexOf(": ", at + 1)) {
    const prefix = head.slice(0, at + 2);
    if (prefixes.has(prefix)) return prefix;
  }
  return "";
}
