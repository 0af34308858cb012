/** Which of the installed skills fit a request, by words alone. Pure and deterministic; a skill's text is untrusted. */
import { parse } from "yaml";
import { quoted } from "../core/quote.ts";
import type { Skill } from "./skill.ts";

const offeredMax = 3;
const bodyLettersMax = 8000;
const descriptionLettersMax = 1000;
/** Words two texts must share: one is chance. */
const sharedMin = 2;
const frontLettersMax = 8000;

const common = new Set(
  (
    "the and for with that this from when use used uses using user users into your you are can will not all any has have " +
    "its should must then than also each which who what how where why does skill skills code file files make makes need " +
    "needs about them they their was were been being get set one two new add run work works via such other more most"
  ).split(" "),
);

/** Null: no front matter in YAML with a name and a description, or one that says no model is to use it. */
export function skillOf(text: string): Skill | null {
  const match = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text.slice(0, frontLettersMax));
  if (match === null) return null;
  let front: unknown;
  try {
    front = parse(match[1] as string, { schema: "core", maxAliasCount: 0, logLevel: "silent" });
  } catch {
    return null;
  }
  if (typeof front !== "object" || front === null) return null;
  const { name, description } = front as Record<string, unknown>;
  if ((front as Record<string, unknown>)["disable-model-invocation"] === true) return null;
  if (typeof name !== "string" || typeof description !== "string") return null;
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._:-]{0,63}$/u.test(name)) return null;
  const body = text.slice(match[0].length);
  return { name, description: description.slice(0, descriptionLettersMax), body };
}

/** At most three, the best first; of two with one name the one given first. A word few skills have weighs more. */
export function fittingSkills(skills: readonly Skill[], intent: string): readonly Skill[] {
  const byName = new Map<string, Skill>();
  for (const skill of skills) if (!byName.has(skill.name)) byName.set(skill.name, skill);
  const known = [...byName.values()].map((skill) => ({ skill, words: wordsOf(`${skill.name} ${skill.description}`) }));
  const wanted = wordsOf(intent);
  const weight = (word: string) => {
    const holders = known.filter(({ words }) => words.has(word)).length;
    return Math.log(1 + known.length / Math.max(1, holders));
  };
  const weights = new Map([...wanted].map((word) => [word, weight(word)]));
  const scored = known.flatMap(({ skill, words }) => {
    const shared = [...words].filter((word) => wanted.has(word));
    if (shared.length < sharedMin) return [];
    return [{ skill, score: shared.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0) }];
  });
  return scored
    .sort((left, right) => right.score - left.score || (left.skill.name < right.skill.name ? -1 : 1))
    .slice(0, offeredMax)
    .map(({ skill }) => skill);
}

/** The text of the coder's block: the best one with its body, the others by name; null: none fits. */
export function skillsText(skills: readonly Skill[]): string | null {
  const [best, ...others] = skills;
  if (best === undefined) return null;
  const cut = best.body.length > bodyLettersMax ? "\n(cut here)" : "";
  return [
    `skill ${JSON.stringify(best.name)}: ${quoted(best.description, 500)}`,
    ...others.map(({ name, description }) => `also installed: ${JSON.stringify(name)}: ${quoted(description, 300)}`),
    `what ${JSON.stringify(best.name)} says:`,
    `${best.body.slice(0, bodyLettersMax)}${cut}`,
  ].join("\n");
}

/** Words of three letters or more, without case and without the endings a verb or a plural has. */
function wordsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .toLowerCase()
      .slice(0, 64 * 1024)
      .match(/[\p{L}\p{N}]{3,40}/gu) ?? [];
  return new Set(words.filter((word) => !common.has(word)).map((word) => word.replace(/(ing|ed|es|s|e)$/, "")));
}
