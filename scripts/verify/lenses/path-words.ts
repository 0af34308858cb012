/** What a path says about its file: prose, or an example that may be broken on purpose. */

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Of the last dot on, in lower case; empty where there is none but a leading one. */
export function extensionOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot).toLowerCase();
}

const proseExtensions = new Set([".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".asciidoc", ".org"]);
const proseNames =
  /^(readme|license|licence|copying|notice|authors|contributors|changelog|changes|history|news|todo)$/i;
const pictures = new Set([".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".pdf"]);

/** Text for people. */
export function isProse(path: string): boolean {
  const extension = extensionOf(path);
  return proseExtensions.has(extension) || (extension === "" && proseNames.test(nameOf(path)));
}

/** Prose, pictures, and the files git and editors are told by: nothing a test could run. */
export function isDocumentation(path: string): boolean {
  const name = nameOf(path);
  if (isProse(path) || pictures.has(extensionOf(path))) return true;
  return /^\.(git(ignore|attributes|keep|modules)|mailmap|editorconfig|npmignore|dockerignore)$/.test(name);
}

const alwaysExamples = new Set([
  "testdata",
  "test-data",
  "test_data",
  "__fixtures__",
  "__snapshots__",
  "test-fixtures",
]);
const exampleFolders = new Set(["fixture", "fixtures", "data", "golden", "goldens", "corpus", "cases", "resources"]);
const testFolders = new Set(["test", "tests", "spec", "specs", "__tests__", "e2e", "testing"]);

/** A fixtures folder of tests: what lies there is read by tests and may be broken on purpose. */
export function isExample(path: string): boolean {
  const folders = path.split("/").slice(0, -1);
  if (folders.some((folder) => alwaysExamples.has(folder))) return true;
  const tests = folders.findIndex((folder) => testFolders.has(folder));
  return tests >= 0 && folders.slice(tests + 1).some((folder) => exampleFolders.has(folder));
}
