/** A `testsuite` element while it is read: what it says of itself, and what was found in it. */
export interface OpenSuite {
  readonly name: string;
  readonly file: string;
  readonly hostname: string;
  readonly isRoot: boolean;
  /** What the attributes say; null: nothing. */
  readonly tests: number | null;
  readonly failures: number | null;
  readonly errors: number | null;
  cases: number;
  /** Cases with a failure or an error inside, tests to do among them. */
  bad: number;
  /** Suites right below, and those below them. */
  children: number;
  nested: number;
}

export function openSuite(attributes: Readonly<Record<string, string>>, isRoot: boolean): OpenSuite {
  return {
    name: attributes.name ?? "",
    file: attributes.file ?? attributes.filepath ?? "",
    hostname: attributes.hostname ?? "",
    isRoot,
    tests: counted(attributes.tests),
    failures: counted(attributes.failures),
    errors: counted(attributes.errors),
    cases: 0,
    bad: 0,
    children: 0,
    nested: 0,
  };
}

/**
 * Whether a suite speaks of more tests or of more failures than it holds. Some dialects count suites among the tests
 * and one test twice as failure and error, so fewer than found is no contradiction.
 */
export function saysMore(suite: OpenSuite): boolean {
  const { tests, failures, errors, cases, bad, children, nested } = suite;
  if (tests !== null && tests > cases + children + nested) return true;
  return Math.max(failures ?? 0, errors ?? 0) > bad;
}

/** The path of names down to a case, without the root's title and without what only repeats the file. */
export function suiteNames(suites: readonly OpenSuite[], file: string): readonly string[] {
  return suites.filter(({ isRoot, name }) => !isRoot && name !== file).map(({ name }) => name);
}

function counted(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null;
}
