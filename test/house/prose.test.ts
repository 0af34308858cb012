import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  commandsIn,
  isSimpleCommand,
  markdownBelow,
  type Page,
  page,
  strayPlaceholders,
  words,
} from "../support/prose.ts";
import { repositoryRoot } from "../support/run-cli.ts";

const skillFolders = readdirSync(join(repositoryRoot, "skills"));
const skills = skillFolders.map((name) => page(`skills/${name}/SKILL.md`));
const agents = markdownBelow("agents").map((path) => page(path));
const recipes = markdownBelow("references/recipes").map((path) => page(path));
const references = markdownBelow("references").map((path) => page(path));

const descriptionCharactersMax = 250;
const roles = ["context-scout", "elite-coder", "correctness-critic", "code-quality-critic", "security-critic"];
const changeRecipes = "packet triage scout plan code verify critique refine output gates".split(" ");

/** Kimi shows 250 characters of it; Claude Code's older YAML reader drops an unquoted colon's whole front matter. */
function expectDescription({ head, fields, path }: Page): void {
  const description = String(fields.description);
  expect(head, path).toMatch(/^description: "Use when .*"$/m);
  expect(description.length, path).toBeLessThanOrEqual(descriptionCharactersMax);
}

function expectWords({ body, path }: Page, least: number, most: number): void {
  expect(words(body), path).toBeGreaterThanOrEqual(least);
  expect(words(body), path).toBeLessThanOrEqual(most);
}

describe("skills", () => {
  test("are folders only: a bare file beside them would be taken for a skill", () => {
    expect(skillFolders.length).toBeGreaterThan(0);
    for (const name of skillFolders) expect(statSync(join(repositoryRoot, "skills", name)).isDirectory()).toBe(true);
  });

  test("carry a name (their folder's) and a description that says when, nothing else", () => {
    for (const skill of skills) {
      expect(Object.keys(skill.fields), skill.path).toEqual(["name", "description"]);
      expect(skill.path).toBe(`skills/${String(skill.fields.name)}/SKILL.md`);
      expectDescription(skill);
    }
  });

  test("are a page each", () => {
    for (const skill of skills) expectWords(skill, 150, 500);
  });

  test("the resuming one names both ways to the program, and its only legal stops", () => {
    const body = skills.find(({ fields }) => fields.name === "atlas-resume")?.body ?? "";
    expect(body).toContain("`atlas resume`");
    expect(body).toContain('node "${KIMI_SKILL_DIR}/../../dist/atlas.cjs" resume --session ${KIMI_SESSION_ID}');
    expect(body).toContain("two folders above this skill's base directory");
    expect(body).toContain("only legal stops");
    for (const word of ["dispatch", "submit", "await", "ask", "run", "wait", "report", "nothing"])
      expect(body, word).toContain(`**${word}**`);
  });
});

describe("agents", () => {
  test("the roles of a change are all there, under their own names", () => {
    expect(agents.map(({ fields }) => fields.name)).toEqual(expect.arrayContaining(roles));
    for (const agent of agents) expect(agent.path).toBe(`agents/${String(agent.fields.name)}.md`);
  });

  test("carry a name, a description that says when, and a list of tools, nothing else", () => {
    for (const agent of agents) {
      expect(Object.keys(agent.fields), agent.path).toEqual(["name", "description", "tools"]);
      expectDescription(agent);
      expectWords(agent, 150, 500);
    }
  });

  test("whoever judges or looks has no tool that writes or runs", () => {
    for (const { fields, path } of agents) {
      const reads = ["Read", "Grep", "Glob"];
      if (fields.name !== "elite-coder") expect(fields.tools, path).toEqual(reads);
      else expect(fields.tools, path).toEqual(expect.arrayContaining([...reads, "Write", "Edit", "Bash"]));
    }
  });

  test("end their last message with the lease", () => {
    for (const { body, path } of agents) expect(body, path).toContain("the `LEASE` line your prompt gave you");
  });
});

describe("references", () => {
  test("every stage of a change has its recipe", () => {
    expect(recipes.map(({ path }) => path)).toEqual(
      expect.arrayContaining(changeRecipes.map((name) => `references/recipes/change/${name}.md`)),
    );
  });

  test("a recipe is read in one go", () => {
    for (const recipe of recipes) expectWords(recipe, 150, 400);
  });

  test("each critic has its rubric", () => {
    for (const lens of ["correctness", "code-quality", "security"])
      expect(references.map(({ path }) => path)).toContain(`references/rubric/${lens}.md`);
  });
});

describe("whatever a model reads", () => {
  const all = [...skills, ...agents, ...references];

  test("holds no placeholder that a host would replace", () => {
    expect(all.flatMap(({ path, body }) => strayPlaceholders(body).map((text) => `${path}: ${text}`))).toEqual([]);
  });

  test("holds one simple command a step: no pipe, glob, redirection or list", () => {
    const commands = all.flatMap(({ path, body }) => commandsIn(body).map((command) => ({ path, command })));
    expect(commands.length).toBeGreaterThan(3);
    expect(commands.filter(({ command }) => !isSimpleCommand(command))).toEqual([]);
  });
});

describe("the reader of prose", () => {
  test.each(["atlas status | head", "git add *", "cd x && npm test", "cat a > b", "node -e `x`", "npm test; ls"])(
    "%s is not one simple command",
    (command) => {
      expect(isSimpleCommand(command)).toBe(false);
    },
  );

  test.each(["$1", "$0", "$name", "$ARGUMENTS", "${HOME}", "!`date`"])("%s is a stray placeholder", (text) => {
    expect(strayPlaceholders(`a ${text} b`)).toHaveLength(1);
  });

  test("finds the commands of spans and blocks", () => {
    expect(commandsIn("run `atlas next`, not `next`\n\n```sh\nnpm ci\n```\n")).toEqual(["npm ci", "atlas next"]);
  });
});
