/**
 * A module that costs a start-up much and is seldom needed becomes a bundle of its own. Here its functions are stubs
 * that load it on the first call, and refuse a part of another build.
 */
import { join } from "node:path";
import type { Plugin } from "esbuild";

export interface LazyPart {
  /** Module that is replaced by stubs, from the root. */
  readonly module: string;
  /** The bundle beside, which exports `functions` and its `build`. */
  readonly bundle: string;
  readonly functions: readonly string[];
}

export function lazyPart(root: string, part: LazyPart): Plugin {
  const path = join(root, part.module);
  // Each part its own: plugins of one build answer for every namespace.
  const namespace = `part ${part.bundle}`;
  return {
    name: namespace,
    setup(setup) {
      setup.onResolve({ filter: /\.ts$/ }, (args) =>
        args.kind === "import-statement" && join(args.resolveDir, args.path) === path
          ? { path: part.module, namespace }
          : undefined,
      );
      setup.onResolve({ filter: /\.cjs$/ }, (args) =>
        args.namespace === namespace ? { path: `./${part.bundle}`, external: true } : undefined,
      );
      setup.onLoad({ filter: /.*/, namespace }, () => ({
        contents: stubs(part),
        loader: "js",
        resolveDir: root,
      }));
    },
  };
}

function stubs(part: LazyPart): string {
  return [
    'import { EnvironmentFailure } from "./scripts/core/result.ts";',
    "let loaded;",
    "function part() {",
    "  if (loaded !== undefined) return loaded;",
    `  const found = require("./${part.bundle}");`,
    "  if (found.build !== ATLAS_BUILD) {",
    '    throw new EnvironmentFailure("install.mixed", "dist/ holds parts of two builds", "reinstall the atlas plugin");',
    "  }",
    "  return (loaded = found);",
    "}",
    ...part.functions.map((name) => `export function ${name}(...words) { return part().${name}(...words); }`),
  ].join("\n");
}
