import { expect, test } from "vitest";
import { type Skill, skillBytesMax } from "../../scripts/verify/skill.ts";
import { fittingSkills, skillOf, skillsText } from "../../scripts/verify/skills.ts";

const skill = (name: string, description: string, body = "do so"): Skill => ({ name, description, body });
const file = (front: string, body = "# Body\n") => `---\n${front}\n---\n${body}`;

const installed = [
  skill("pdf-forms", "Fill in and read PDF forms"),
  skill("migrations", "Write database migrations for Postgres with alembic"),
  skill("postgres-tuning", "Tune slow Postgres queries in a database"),
  skill("releases", "Cut a release and write the changelog"),
  skill("react-forms", "Build forms in React with validation"),
];

test("the skills that share the most telling words with the request are offered, best first, at most three", () => {
  const names = (intent: string) => fittingSkills(installed, intent).map(({ name }) => name);
  expect(names("Add a migration that renames a column of the Postgres database")).toEqual([
    "migrations",
    "postgres-tuning",
  ]);
  expect(names("Validate the React form before it is sent")).toEqual(["react-forms"]);
  const alike = Array.from({ length: 9 }, (_, at) => skill(`s${9 - at}`, "postgres database"));
  expect(fittingSkills(alike, "a postgres database").map(({ name }) => name)).toEqual(["s1", "s2", "s3"]);
});

test("where none fits, none is offered: one shared word is chance, and common words are none", () => {
  for (const intent of [
    "Mend the sum of two numbers",
    "Release the lock",
    "use the skill when the user has the file",
    "",
  ]) {
    expect(fittingSkills(installed, intent)).toEqual([]);
    expect(skillsText(fittingSkills(installed, intent))).toBeNull();
  }
});

test("of two skills with one name the first given is meant, and the order of the others changes nothing", () => {
  const own = skill("migrations", "database migrations, our own way", "ours");
  expect(fittingSkills([own, ...installed], "database migrations")[0]?.body).toBe("ours");
  const intent = "Tune the migrations of the Postgres database";
  const [forward, backward] = [installed, [...installed].reverse()].map((some) => fittingSkills(some, intent));
  expect(forward).toEqual(backward);
});

test("only the best one's body is handed over, and no more than 8,000 letters of it", () => {
  const best = skill("a", "postgres database migrations", `${"x".repeat(9000)}END`);
  const text = skillsText([best, skill("b", "postgres database", "SECRET BODY")]) ?? "";
  expect(text).toContain('also installed: "b"');
  expect(text).not.toContain("SECRET BODY");
  expect(text).not.toContain("END");
  expect(text.length).toBeLessThan(9000);
});

test("front matter is YAML with a name and a description", () => {
  expect(skillOf(file("name: a-b\ndescription: >-\n  two\n  lines"))).toEqual({
    name: "a-b",
    description: "two lines",
    body: "# Body\n",
  });
  expect(skillOf(file("name: a\ndescription: b").replaceAll("\n", "\r\n"))?.name).toBe("a");
});

test.each([
  ["no front matter", "# Just text\n"],
  ["front matter that is JavaScript", `---js\n({ name: (globalThis.ran = true), description: "b" })\n---\nx`],
  ["front matter that never ends", "---\nname: a\ndescription: b\n"],
  ["a list", file("- a")],
  ["no YAML", file("name: [")],
  ["a tag that makes objects", file("name: !!js/function 'function () {}'\ndescription: 1")],
  ["aliases that grow", file("a: &a [x, x]\nname: *a\ndescription: *a")],
  ["a name of another form", file('name: "a\\u001b[2J"\ndescription: b')],
  ["a description that is no text", file("name: a\ndescription: {}")],
  ["a wish to be left alone", file("name: a\ndescription: b\ndisable-model-invocation: true")],
])("a file with %s is no skill", (_what, text) => {
  expect(skillOf(text)).toBeNull();
  expect(globalThis).not.toHaveProperty("ran");
});

test("a front matter of megabytes costs no time", () => {
  const text = file(`name: a\ndescription: ${"b".repeat(skillBytesMax)}`);
  const begun = performance.now();
  expect(skillOf(text)).toBeNull();
  expect(performance.now() - begun).toBeLessThan(1000);
});
