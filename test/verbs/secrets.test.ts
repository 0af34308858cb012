/** A secret of the environment leaves a run by no door but the command's own log, which is its owner's alone. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Told } from "../support/scripted-run.ts";
import {
  begin,
  builtPlugin,
  type Env,
  makeWorld,
  type Plugin,
  request,
  scripted,
  sit,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const secret = "s3cr3t/Value+77==";

/** A whole run whose command prints the variable, and everything that was told and written. */
async function whole(env: Env, intent: string = request.intent) {
  const world = makeWorld(plugin, tempFolder());
  const inner = sit(world, { env });
  const said: string[] = [];
  const heard = async (told: Promise<Told>) => {
    const one = await told;
    said.push(one.stdout, one.stderr);
    return one;
  };
  const session = {
    ...inner,
    run: (...words: readonly string[]) => heard(inner.run(...words)),
    type: (command: string) => heard(inner.type(command)),
  };
  const verify_cmd = 'echo "token: $DEPLOY_TOKEN" && node check.js && node -e "console.log(process.env.DEPLOY_TOKEN)"';
  const at = await scripted(session, {}).go(
    await begin(session, { ...request, intent, verify_cmd }, "--headless"),
    (next) => next.do === "report",
  );
  const run = onlyRun(join(world.project, ".atlas"));
  const told = await session.run("report", "--run", run);
  expect(at.next.do).toBe("report");
  expect(told.code, told.stdout).toBe(0);
  return {
    said: said.join("\n"),
    files: filesBelow(join(world.project, ".atlas", run)),
    report: told.stdout,
    session,
    run,
  };
}

function onlyRun(atlas: string): string {
  return readdirSync(atlas).find((name) => existsSync(join(atlas, name, "log.jsonl"))) ?? "";
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

test("V-33: a secret the command prints stands in no tail, packet, artifact, report or line that was told", async () => {
  const { said, files } = await whole({ DEPLOY_TOKEN: secret });
  const holding = files.filter((path) => readFileSync(path).includes(secret));
  // The output itself is kept whole, for its hash and for its owner; nobody else may open it.
  expect(holding.length).toBeGreaterThan(0);
  for (const path of holding) {
    expect(path).toMatch(/\.log$/);
    expect(statSync(path).mode & 0o077).toBe(0);
  }
  expect(said).not.toContain(secret);
  expect(files.filter((path) => readFileSync(path).includes("token: ***")).length).toBeGreaterThan(1);
});

test("V-33: what is not named like a secret is told as it is", async () => {
  const { files } = await whole({ DEPLOY_TOKEN: "", PLAIN_WORD: secret });
  const tails = files.filter((path) => path.endsWith("evidence.0.json")).map((path) => readFileSync(path, "utf8"));
  expect(tails.join("")).not.toContain("***");
});

test("V-33: a secret somebody wrote into the request stands in no report", async () => {
  const { report, session, run } = await whole({ DEPLOY_TOKEN: secret }, `Mend the sum. The token is ${secret}.`);
  expect(report).toContain("The token is ***.");
  expect(report).not.toContain(secret);
  expect((await session.run("report", "--run", run, "--check")).code).toBe(0);
});
