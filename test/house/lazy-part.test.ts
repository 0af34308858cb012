/** What costs a start-up much is loaded when it is needed, from a bundle of its own. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, type Plugin } from "esbuild";
import { describe, expect, test } from "vitest";
import { BUNDLES } from "../../scripts/build/bundle.ts";
import { lazyPart } from "../../scripts/build/lazy-part.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { tempFolder } from "../support/temp.ts";

const heavy = ["@babel/parser", "jsonc-parser", "smol-toml", "yaml"];

/** Another bundle, as the build has it: loaded when it is reached. */
const beside: Plugin = {
  name: "beside",
  setup(setup) {
    setup.onResolve({ filter: /\.ts$/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path, external: true } : undefined,
    );
  },
};

/** Packages whose code stands in a bundle. */
async function packagesOf(output: string): Promise<ReadonlySet<string>> {
  const bundle = BUNDLES.find((one) => one.output === output);
  if (bundle === undefined) throw new Error(`no bundle ${output}`);
  const { metafile } = await build({
    absWorkingDir: repositoryRoot,
    entryPoints: [bundle.source],
    outfile: output,
    bundle: true,
    write: false,
    metafile: true,
    format: "cjs",
    platform: "node",
    external: ["./*.cjs"],
    logLevel: "silent",
    mainFields: ["module", "main"],
    plugins: [beside, ...(bundle.plugins?.(repositoryRoot) ?? [])],
  });
  const names = Object.keys(metafile.inputs).flatMap(
    (path) => /node_modules\/((@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  return new Set(names);
}

describe("the parsers of the syntax floor", () => {
  test("stand in a bundle of their own, and in none that a hook or a look loads", {
    timeout: 60_000,
  }, async () => {
    const own = await packagesOf("lenses.cjs");
    expect(heavy.filter((name) => !own.has(name))).toEqual([]);
    for (const output of ["atlas.cjs", "look.cjs", "doors.cjs", "demo-host.cjs"]) {
      const packages = await packagesOf(output);
      expect(
        heavy.filter((name) => packages.has(name)),
        output,
      ).toEqual([]);
    }
    const verbs = await packagesOf("verbs.cjs");
    expect(["@babel/parser", "smol-toml"].filter((name) => verbs.has(name))).toEqual([]);
  });
});

describe("two parts of one bundle", () => {
  async function built(partBuild: string) {
    const root = tempFolder();
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    };
    put("scripts/core/result.ts", "export class EnvironmentFailure extends Error {}");
    for (const name of ["one", "two"]) {
      put(`scripts/${name}.ts`, `export function ${name}() { return "unused"; }`);
      put(
        `${name}.cjs`,
        `console.log("loaded ${name}"); exports.build = "${partBuild}"; exports.${name} = (word) => "${name} " + word;`,
      );
    }
    put(
      "scripts/main.ts",
      'import { one } from "./one.ts"; import { two } from "./two.ts"; console.log("begun"); console.log(two("b")); if (process.argv[2]) console.log(one("a"));',
    );
    await build({
      absWorkingDir: root,
      entryPoints: ["scripts/main.ts"],
      outfile: join(root, "main.cjs"),
      bundle: true,
      format: "cjs",
      platform: "node",
      define: { ATLAS_BUILD: '"b1"' },
      plugins: ["one", "two"].map((name) =>
        lazyPart(root, { module: `scripts/${name}.ts`, bundle: `${name}.cjs`, functions: [name] }),
      ),
    });
    return (...args: string[]) => spawnSync(process.execPath, [join(root, "main.cjs"), ...args], { encoding: "utf8" });
  }

  test("are each loaded on their own first call, and not before", async () => {
    const run = await built("b1");
    expect(run().stdout.trim().split("\n")).toEqual(["begun", "loaded two", "two b"]);
    expect(run("x").stdout.trim().split("\n")).toEqual(["begun", "loaded two", "two b", "loaded one", "one a"]);
  });

  test("are refused when they are of another build", async () => {
    const done = (await built("b2"))();
    expect(done.status).not.toBe(0);
    expect(done.stderr).toContain("dist/ holds parts of two builds");
  });
});
