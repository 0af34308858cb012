/** `npm run build`: the bundles, then the manifests. `--manifests` leaves the bundles alone. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildBundles } from "./bundle.ts";
import { manifests, readPlugin } from "./manifests.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

if (!process.argv.includes("--manifests")) {
  const files = await buildBundles(root, join(root, "dist"));
  console.log(files.map((name) => `dist/${name}`).join("\n"));
}
for (const [path, content] of manifests(readPlugin(root))) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  console.log(path);
}
