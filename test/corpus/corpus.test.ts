/**
 * The honest corpus: a small real change in each of many ecosystems reaches VERIFIED, and the same change with its
 * source spoilt does not, though every critic says OK. A tool that should be there and is not fails its test.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { finding, leaving, matrixWorld } from "../support/matrix-world.ts";
import { begin, builtPlugin, type Plugin, scripted, sit, type Told } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";
import { type Project, projects } from "./projects.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

/** A rustup proxy finds its toolchains from the home of the user, and the tests have a home of their own. */
const rustup = join(userInfo().homedir, ".rustup");
const toolchains = existsSync(rustup) ? { RUSTUP_HOME: rustup } : {};

async function ended(project: Project, isSpoilt: boolean): Promise<Told> {
  const world = matrixWorld(plugin, tempFolder(), project.files, true);
  const session = sit(world, { env: toolchains });
  const change = isSpoilt ? { ...project.change, ...project.spoilt } : project.change;
  const run = scripted(session, { agents: { scout: finding, coder: leaving(change) } });
  const request = {
    intent: project.criteria.join("; "),
    success_criteria: project.criteria,
    scope_paths: project.scope ?? ["."],
    verify_cmd: project.verify,
    ...(project.setup === undefined ? {} : { setup_cmd: project.setup }),
  };
  return await run.go(await begin(session, request, "--headless"));
}

describe.each(Object.entries(projects))("%s", (_name, project) => {
  test(`${project.tool} is installed`, () => {
    expect(spawnSync(project.tool, ["--version"]).error).toBeUndefined();
  });

  test("an honest change is VERIFIED", { timeout: 300_000 }, async () => {
    const { next } = await ended(project, false);
    expect(next).toMatchObject({ do: "report", status: "verified", why: [] });
  });

  test("spoilt, it is not, whatever the critics say", { timeout: 300_000 }, async () => {
    const { next } = await ended(project, true);
    expect(next).toMatchObject({
      do: "report",
      status: "unverified",
      why: expect.arrayContaining(["defect.runcheck"]),
    });
  });
});
