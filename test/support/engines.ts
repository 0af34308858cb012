/** Just enough of npm's version ranges to read an `engines` field: `>=20`, `^18 || >=20.1`, `20.x`, `>= 14 < 23`. */

type Version = readonly [number, number, number];

/** Does a package with this `engines.node` run on that node? Unreadable ranges throw: a guess is no answer. */
export function runsOn(range: string, node: string): boolean {
  const version = readVersion(node);
  return range.split("||").some((alternative) => comparators(alternative).every((accepts) => accepts(version)));
}

function comparators(alternative: string): readonly ((version: Version) => boolean)[] {
  const text = alternative.trim().replace(/([<>=~^])\s+/g, "$1");
  if (text === "" || text === "*") return [() => true];
  return text.split(/[\s,]+/).map(comparator);
}

function comparator(text: string): (version: Version) => boolean {
  const match = /^(>=|<=|>|<|=|\^|~)?v?(\d+)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?(?:-[\w.]+)?$/.exec(text);
  if (match === null) throw new Error(`unreadable version range "${text}"`);
  const [, sign = "", major = "0", minor, patch] = match;
  const known = [major, minor, patch].filter((part) => part !== undefined && /^\d+$/.test(part)).map(Number);
  const from: Version = [known[0] ?? 0, known[1] ?? 0, known[2] ?? 0];
  const same = (version: Version, count: number) => from.slice(0, count).every((part, at) => version[at] === part);
  const order = (version: Version) => compare(version, from);
  switch (sign) {
    case ">=":
      return (version) => order(version) >= 0;
    case ">":
      return (version) => order(version) > 0 && !same(version, known.length);
    case "<":
      return (version) => order(version) < 0;
    case "<=":
      return (version) => order(version) <= 0 || same(version, known.length);
    case "^":
      return (version) => order(version) >= 0 && same(version, 1);
    case "~":
      return (version) => order(version) >= 0 && same(version, Math.min(2, known.length));
    default:
      return (version) => same(version, known.length);
  }
}

function readVersion(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.split(".").map(Number);
  return [major, minor, patch];
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
