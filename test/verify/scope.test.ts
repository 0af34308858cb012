import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { scopeMatcher } from "../../scripts/verify/scope.ts";

describe("scope", () => {
  const glob = (pattern: string) => picomatch(pattern, { dot: true });

  it("is everything for `.`, nothing for no path, and a folder with all below it", () => {
    expect(["a", ".env", "x/y"].every(scopeMatcher(["src", "./"], glob))).toBe(true);
    expect(["a", "src/a"].some(scopeMatcher([], glob))).toBe(false);
    const inside = scopeMatcher(["./src/", "app/[id]", "docs/*.md"], glob);
    expect(["src", "src/a/b", "app/[id]/page.tsx", "docs/a.md"].every(inside)).toBe(true);
    expect(["srcs/a", "lib/src/a", "app/x", "docs/a/b.md", "doc"].some(inside)).toBe(false);
  });

  it("compiles each glob once, however many paths are asked", () => {
    let compiled = 0;
    const counting = (pattern: string) => {
      compiled += 1;
      return glob(pattern);
    };
    const inside = scopeMatcher(["src", "**/*.ts", "a?"], counting);
    for (let at = 0; at < 100; at += 1) inside(`x/${at}.js`);
    expect(compiled).toBe(2);
  });
});
