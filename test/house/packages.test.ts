import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runsOn } from "../support/engines.ts";
import { floorOf } from "../support/floors.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { readSources } from "../support/source-tree.ts";

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly license?: string;
  readonly engines?: { readonly node?: string };
}

interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const read = (name: string) => JSON.parse(readFileSync(join(repositoryRoot, name), "utf8")) as unknown;
const manifest = read("package.json") as {
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};
const locked = Object.entries((read("package-lock.json") as Lockfile).packages).filter(([path]) => path !== "");

describe("packages", () => {
  test("what is shipped runs on node 20.0, what develops it on node 20.19", () => {
    const unfit = locked.filter(([, { engines, dev }]) => !runsOn(engines?.node ?? "*", dev ? "20.19.0" : "20.0.0"));
    expect(locked.length).toBeGreaterThan(20);
    expect(unfit.map(([path, { engines }]) => `${path} wants ${engines?.node}`)).toEqual([]);
    expect(runsOn(manifest.engines.node, "20.0.0")).toBe(true);
  });

  test("no shipped package brings an install script", () => {
    expect(locked.filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev).map(([path]) => path)).toEqual(
      [],
    );
  });

  test("product code imports declared run-time packages only", () => {
    const product = readSources().filter(({ path }) => floorOf(path) !== "build");
    const foreign = product.flatMap(({ path, imports }) =>
      imports
        .filter((name) => !name.startsWith("scripts/") && !name.startsWith("node:"))
        .filter((name) => manifest.dependencies[packageName(name)] === undefined)
        .map((name) => `${path} -> ${name}`),
    );
    expect(foreign).toEqual([]);
  });

  test("every run-time package is imported by something", () => {
    const used = new Set(readSources().flatMap(({ imports }) => imports.map(packageName)));
    expect(Object.keys(manifest.dependencies).filter((name) => !used.has(name))).toEqual([]);
  });
});

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

describe("version ranges", () => {
  test.each([
    [">=20", "20.0.0", true],
    [">=20.19", "20.0.0", false],
    ["^20.19.0 || >=22.12.0", "20.19.0", true],
    ["^18.18.0 || ^20.9.0 || >=21.1.0", "20.0.0", false],
    ["^20.19.0 || >=22.12.0", "21.0.0", false],
    [">= 14", "20.0.0", true],
    [">=14 <20", "20.0.0", false],
    ["20.x", "20.4.0", true],
    ["20 || 22", "21.0.0", false],
    ["~20.1", "20.2.0", false],
    ["*", "20.0.0", true],
    [">20", "20.5.0", false],
  ])("%s on %s: %s", (range, node, fits) => {
    expect(runsOn(range, node)).toBe(fits);
  });

  test("an unreadable range is an error, not a yes", () => {
    expect(() => runsOn("lts/*", "20.0.0")).toThrow("unreadable");
  });
});
