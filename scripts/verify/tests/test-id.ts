/** Names of tests that are the same in every run: no path above the tree, no time, no control character. */

const partLengthMax = 400;
const rawLengthMax = 4096;
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

export interface TestNames {
  /** `<file>::<suite>::<name>`; untrusted text, each part at most 400 characters. */
  readonly id: (file: string, suites: readonly string[], name: string) => string;
  /** A path of the tree, relative; one that lies elsewhere keeps only its last segment. */
  readonly file: (path: string) => string;
}

/** `root` is the tree's absolute path; null where it is not known. */
export function testNames(root: string | null): TestNames {
  const roots = root === null || root.length < 2 ? [] : rootForms(root);
  const relative = (text: string) => {
    let without = text;
    for (const form of roots) without = without.replaceAll(form, "");
    return without;
  };
  const clean = (text: string) =>
    relative(text.slice(0, rawLengthMax)).replace(controls, " ").trim().slice(0, partLengthMax);
  const file = (path: string) => {
    const cleaned = clean(path.replaceAll("\\", "/")).replace(/^(?:\.\/)+/, "");
    return isAbsolute(cleaned) ? cleaned.slice(cleaned.lastIndexOf("/") + 1) : cleaned;
  };
  return {
    file,
    id: (path, suites, name) => {
      const suite = suites.map(clean).filter((part) => part !== "");
      return `${file(path)}::${suite.join(" > ")}::${clean(name)}`;
    },
  };
}

/** A folder of macOS is known with and without `/private`, and tools print it as a path or as a URL. */
function rootForms(root: string): readonly string[] {
  const slashed = root.replaceAll("\\", "/").replace(/\/+$/, "");
  const bare = slashed.startsWith("/private/") ? slashed.slice("/private".length) : slashed;
  const paths = [...new Set([`/private${bare}`, slashed, bare])];
  return paths.flatMap((path) => [`file://${path}/`, `${path}/`]);
}

export function isAbsolute(path: string): boolean {
  return /^(?:[\\/]|[A-Za-z]:[\\/]|file:\/\/)/.test(path);
}
