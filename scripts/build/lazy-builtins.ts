/**
 * Node's own modules cost a start-up milliseconds each. In a bundle, those named here are loaded when one of their
 * functions is first called, not when the program starts.
 */
import { createRequire } from "node:module";
import type { Plugin } from "esbuild";

const lazyModules: readonly string[] = [
  "node:crypto",
  "node:child_process",
  "node:net",
  "node:timers/promises",
  "node:util",
];

/** Every function the module exports becomes one that loads it first; other exports are not to be had. */
export const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  setup(setup) {
    const load = createRequire(import.meta.url);
    const filter = new RegExp(`^(${lazyModules.join("|")})$`);
    setup.onResolve({ filter }, (args) =>
      args.namespace === "lazy" || args.kind !== "import-statement"
        ? undefined
        : { path: args.path, namespace: "lazy" },
    );
    setup.onLoad({ filter: /.*/, namespace: "lazy" }, (args) => {
      const exported = Object.entries(load(args.path) as Record<string, unknown>);
      // Sorted, and unused ones fall away: the bytes do not depend on the node that builds.
      const names = exported
        .filter(([, value]) => typeof value === "function")
        .map(([name]) => name)
        .sort();
      // `require` with a computed name is left to node.
      const lines = names.map(
        (name) =>
          `export function ${name}(...words) { const it = module().${name}; return new.target ? new it(...words) : it(...words); }`,
      );
      const loader = `let loaded; function module() { return (loaded ??= require(${JSON.stringify(args.path)})); }`;
      return { contents: [loader, ...lines].join("\n"), loader: "js" };
    });
  },
};
