/**
 * Sources to `dist/`: self-contained CommonJS files whose bytes depend on the sources and the lockfile alone.
 * Writes only into the folder it is given; a failed build leaves the folder as it was.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { buildId, packageFacts } from "./inputs.ts";
import { lazyBuiltins } from "./lazy-builtins.ts";
import { type LazyPart, lazyPart } from "./lazy-part.ts";
import { bundledPackages, licenseText } from "./licenses.ts";

/** The entry is loaded by every hook: its size is start-up time. */
export const ENTRY_BYTES_MAX = 60_000;

interface Bundle {
  readonly source: string;
  readonly output: string;
  /** Built only when the source exists. */
  readonly optional: boolean;
  readonly plugins?: (root: string) => readonly Plugin[];
}

const doors: LazyPart = {
  module: "scripts/kinds/change/doors.ts",
  bundle: "doors.cjs",
  functions: ["check", "packetDoor"],
};

const lenses: LazyPart = {
  module: "scripts/verify/lenses/parsers.ts",
  bundle: "lenses.cjs",
  functions: ["parseOwn"],
};

const globs: LazyPart = {
  module: "scripts/engine/globs.ts",
  bundle: "globs.cjs",
  functions: ["globMatcher"],
};

const readers: LazyPart = {
  module: "scripts/engine/readers.ts",
  bundle: "readers.cjs",
  functions: ["parseYaml", "addedLines", "readTests", "fittingSkills", "skillOf", "skillsText", "resolveCommand"],
};

const parts = (root: string): readonly Plugin[] => [
  lazyBuiltins,
  lazyPart(root, doors),
  lazyPart(root, globs),
  lazyPart(root, lenses),
  lazyPart(root, readers),
];

export const BUNDLES: readonly Bundle[] = [
  { source: "scripts/atlas.ts", output: "atlas.cjs", optional: false, plugins: () => [lazyBuiltins] },
  { source: "scripts/verbs/main.ts", output: "verbs.cjs", optional: false, plugins: parts },
  { source: "scripts/verbs/steps.ts", output: "steps.cjs", optional: true, plugins: parts },
  { source: "scripts/verbs/look.ts", output: "look.cjs", optional: true, plugins: () => [lazyBuiltins] },
  { source: "scripts/verbs/doors-part.ts", output: doors.bundle, optional: true },
  { source: "scripts/verbs/lenses-part.ts", output: lenses.bundle, optional: true },
  { source: "scripts/verbs/readers-part.ts", output: readers.bundle, optional: true },
  { source: "scripts/verbs/globs-part.ts", output: globs.bundle, optional: true },
  { source: "scripts/verbs/demo-host.ts", output: "demo-host.cjs", optional: true },
];

/** Returns the names of the files it wrote. Refuses an entry above `ENTRY_BYTES_MAX`. */
export async function buildBundles(root: string, folder: string): Promise<readonly string[]> {
  const files = new Map<string, Uint8Array | string>();
  const inputs: string[] = [];
  const options = sharedOptions(root);
  for (const bundle of BUNDLES) {
    if (bundle.optional && !existsSync(join(root, bundle.source))) continue;
    const plugins = [neighbours, ...(bundle.plugins?.(root) ?? [])];
    const result = await build({ ...options, plugins, entryPoints: [bundle.source], outfile: bundle.output });
    const output = result.outputFiles?.[0];
    if (output === undefined) throw new Error(`no output for ${bundle.source}`);
    files.set(bundle.output, output.contents);
    inputs.push(...Object.keys(result.metafile?.inputs ?? {}));
  }
  const entryBytes = files.get("atlas.cjs")?.length ?? 0;
  if (entryBytes > ENTRY_BYTES_MAX)
    throw new Error(`dist/atlas.cjs has ${entryBytes} bytes, more than ${ENTRY_BYTES_MAX}: move code behind a verb`);
  files.set("LICENSES.txt", licenseText(root, bundledPackages(inputs)));
  replaceFolder(folder, files);
  return [...files.keys()].sort();
}

function sharedOptions(root: string): BuildOptions {
  const { version } = packageFacts(root);
  return {
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    format: "cjs",
    // A package's "main" may be a form that finds its own parts at run time, where they no longer are.
    mainFields: ["module", "main"],
    platform: "node",
    target: "node20.0",
    // One character beyond ASCII, and the whole file is kept and read in two bytes each.
    charset: "ascii",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    // A tsconfig.json beside the sources could change the bytes; this one is the build's own.
    tsconfigRaw: { compilerOptions: { target: "ES2022", verbatimModuleSyntax: true } },
    // `import()` becomes `require()`: the module loader costs a hook several milliseconds.
    supported: { "dynamic-import": false },
    define: { ATLAS_BUILD: JSON.stringify(buildId(root)), ATLAS_VERSION: JSON.stringify(version) },
  };
}

/** An `import("…/verbs/main.ts")` from another bundle means the bundle beside it, loaded only when reached. */
const neighbours: Plugin = {
  name: "neighbours",
  setup(setup) {
    setup.onResolve({ filter: /\.ts$/ }, (args) => {
      if (args.kind !== "dynamic-import") return undefined;
      const target = join(args.resolveDir, args.path).replaceAll("\\", "/");
      const bundle = BUNDLES.find((candidate) => target.endsWith(`/${candidate.source}`));
      return bundle === undefined ? undefined : { path: `./${bundle.output}`, external: true };
    });
  },
};

function replaceFolder(folder: string, files: ReadonlyMap<string, Uint8Array | string>): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(join(folder, name), { recursive: true });
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
}
