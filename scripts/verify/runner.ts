/** The test runners whose results can be read. */
export const runners = [
  "vitest",
  "jest",
  "mocha",
  "node-test",
  "ava",
  "playwright",
  "pytest",
  "unittest",
  "go",
  "cargo",
  "nextest",
  "rspec",
  "phpunit",
  "maven",
  "gradle",
  "dotnet",
  "deno",
  "bun",
] as const;
export type Runner = (typeof runners)[number];
