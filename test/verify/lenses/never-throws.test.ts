/** V-27: whatever a path, a text, a token or a criterion holds, a lens answers. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChangedFile } from "../../../scripts/verify/changed-file.ts";
import { isBlocking } from "../../../scripts/verify/defect.ts";
import { buildRewroteLens } from "../../../scripts/verify/lenses/build-rewrote.ts";
import { criteriaOverlapLens } from "../../../scripts/verify/lenses/criteria-overlap.ts";
import { debugTokensLens } from "../../../scripts/verify/lenses/debug-tokens.ts";
import { languageOf, type OwnLanguage } from "../../../scripts/verify/lenses/language.ts";
import { mayBeNewer } from "../../../scripts/verify/lenses/newer-grammar.ts";
import { unread } from "../../../scripts/verify/lenses/parsed.ts";
import { parseOwn } from "../../../scripts/verify/lenses/parsers.ts";
import { pathClaims } from "../../../scripts/verify/lenses/path-claims.ts";
import { pathGroundingLens } from "../../../scripts/verify/lenses/path-grounding.ts";
import { syntaxLens } from "../../../scripts/verify/lenses/syntax.ts";
import { testsChangedLens } from "../../../scripts/verify/lenses/tests-changed.ts";
import { changed } from "../../support/changed.ts";

const seed = Number(process.env.ATLAS_SEED ?? Date.now() % 1_000_000);
console.error(`lenses: repeat with ATLAS_SEED=${seed}`);

const pieces =
  "( ) { } [ ] < > `a/b.ts` `` ' \" : - , \n \t \r = ; @ # ! & * %YAML --- ... | ~ \\ // /* */ <b> </b> => let class import type TODO print( \0 \ud800 ü 加法 0x 1e9 null ${ } {{ {% <? #! ß".split(
    " ",
  );
const text = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join("")),
  fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(" ")),
  fc.string({ unit: "binary", maxLength: 200 }),
);
const extensions = ".js .ts .tsx .d.ts .mjs .json .toml .yml .md .py .rb .php .go .sh .rst .txt".split(" ");
const path = fc.oneof(
  fc
    .tuple(fc.string({ unit: "binary", maxLength: 20 }), fc.constantFrom("", ...extensions))
    .map(([name, end]) => name + end),
  fc.constantFrom(
    "package.json",
    "Cargo.toml",
    "tsconfig.json",
    "README.md",
    "a/b/c.test.ts",
    "",
    "/",
    ".",
    "..",
    "a//b.js",
  ),
);
const file: fc.Arbitrary<ChangedFile> = fc
  .tuple(path, fc.option(text), fc.option(text, { nil: undefined }), fc.boolean(), fc.boolean())
  .map(([at, after, before, isCut, isTest]) => ({ ...changed(at, after, before), isCut, isTest }));
const files = fc.uniqueArray(file, { maxLength: 6, selector: (one) => one.path });
const own = (language: string, at: string, given: string) =>
  ["python", "ruby", "php", "go", "shell"].includes(language)
    ? unread("not installed")
    : parseOwn(language as OwnLanguage, at, given);

describe("V-27: a lens", () => {
  it("never throws, and says ran or skipped with plain ids and fixes", () => {
    fc.assert(
      fc.property(files, fc.array(text, { maxLength: 4 }), fc.array(path, { maxLength: 4 }), (given, words, paths) => {
        const heuristics = [
          debugTokensLens(given, words),
          testsChangedLens(given),
          criteriaOverlapLens(given, words),
          pathGroundingLens(pathClaims(given), { paths, nested: paths }),
        ];
        const exact = [syntaxLens(given, own), buildRewroteLens(given, paths)];
        for (const answer of [...heuristics, ...exact]) {
          expect(["ran", "skipped"]).toContain(answer.status);
          expect(answer.reason ?? "").toMatch(/^[\x20-\x7e]*$/);
          expect(new Set(answer.defects.map(({ id }) => id)).size).toBe(answer.defects.length);
          for (const { id, fix } of answer.defects) expect(id + fix).toMatch(/^[\x20-\x7e]*$/);
        }
        expect(heuristics.flatMap(({ defects }) => defects).some(isBlocking)).toBe(false);
      }),
      { seed, numRuns: 600 },
    );
  });

  it("parses any text in any language without an exception", () => {
    fc.assert(
      fc.property(text, path, (given, at) => {
        for (const language of ["script", "json", "jsonc", "toml", "yaml"] as const) {
          expect(["fine", "refused", "unread"]).toContain(parseOwn(language, at, given).is);
        }
        languageOf(at, given);
        mayBeNewer("python", given, { line: 1, version: "3.7" }, () => given);
      }),
      { seed, numRuns: 600 },
    );
  });
});
