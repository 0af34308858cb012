/** Secrets of the environment, kept out of every text that leaves for a model or a report. */
import { secretsOf } from "../platform/command-log.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const mask = "***";
/** Words of this kind ("production") are settings and stand everywhere in sources; tails are masked more strictly. */
const plainWord = /^[A-Za-z]{1,15}$/;

/** Every whole occurrence of a secret is `***`. */
export function maskedText(text: string, secrets: readonly Buffer[]): string {
  // The longest first: a secret may hold another.
  const values = secrets.map((secret) => secret.toString("utf8")).sort((left, right) => right.length - left.length);
  return values.reduce((masked, value) => masked.replaceAll(value, mask), text);
}

/** Those that are masked in what an agent works from, where a masked word would change the work. */
export function unmistakable(secrets: readonly Buffer[], path: string): readonly Buffer[] {
  return secrets.filter((secret) => {
    const value = secret.toString("utf8");
    return !plainWord.test(value) && !path.includes(value) && !/^\d+$/.test(value);
  });
}

/** The same value with the secrets of the environment masked in each of its texts. `path`: what must stay readable. */
export function maskedValue<T>(value: T, environment: Environment, path: string): T {
  const secrets = unmistakable(secretsOf(environment), path);
  const masked = (inner: unknown): unknown => {
    if (typeof inner === "string") return maskedText(inner, secrets);
    if (Array.isArray(inner)) return inner.map(masked);
    if (typeof inner !== "object" || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, masked(one)]));
  };
  return secrets.length === 0 ? value : (masked(value) as T);
}
