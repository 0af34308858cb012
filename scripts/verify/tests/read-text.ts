/** Test evidence from a command's output, for runners that left no report. */
import type { Runner } from "../runner.ts";
import type { TestFault, TestReading } from "../test-run.ts";
import { logStreams } from "./log-lines.ts";
import { addTally, newTally, type Tally, type TextReader } from "./tally.ts";
import { tapTally } from "./tap.ts";
import type { TestNames } from "./test-id.ts";
import { readAva } from "./text/ava.ts";
import { readBun } from "./text/bun.ts";
import { readCargo } from "./text/cargo.ts";
import { readDeno } from "./text/deno.ts";
import { readDotnet } from "./text/dotnet.ts";
import { readGo } from "./text/go.ts";
import { readGradle } from "./text/gradle.ts";
import { readJest } from "./text/jest.ts";
import { readMaven } from "./text/maven.ts";
import { readMocha } from "./text/mocha.ts";
import { readNextest } from "./text/nextest.ts";
import { readNodeSpec } from "./text/node-spec.ts";
import { readPhpunit } from "./text/phpunit.ts";
import { readPlaywright } from "./text/playwright.ts";
import { readPytest } from "./text/pytest.ts";
import { readRspec } from "./text/rspec.ts";
import { readUnittest } from "./text/unittest.ts";
import { readVitest } from "./text/vitest.ts";

const readers: Readonly<Record<Runner, TextReader>> = {
  vitest: readVitest,
  jest: readJest,
  mocha: readMocha,
  "node-test": readNodeSpec,
  ava: readAva,
  playwright: readPlaywright,
  pytest: readPytest,
  unittest: readUnittest,
  go: readGo,
  cargo: readCargo,
  nextest: readNextest,
  rspec: readRspec,
  phpunit: readPhpunit,
  maven: readMaven,
  gradle: readGradle,
  dotnet: readDotnet,
  deno: readDeno,
  bun: readBun,
};
const speakTap: readonly Runner[] = ["node-test", "mocha", "ava", "vitest", "deno"];

/** Every run of the runner in the output, of every package, summed. Reading is linear in the output. */
export function textTally(runner: Runner, lines: readonly string[], names: TestNames): Tally {
  const tally = newTally();
  for (const stream of logStreams(lines)) {
    addTally(tally, readers[runner](stream, names));
    if (speakTap.includes(runner)) addTally(tally, tapTally(runner, stream, names));
  }
  return tally;
}

export function textReading(runner: Runner, { passed, failed, skipped, ...tally }: Tally): TestReading {
  const faults = new Set<TestFault>(tally.faults);
  const counted = passed + failed + skipped;
  // Half of the tests by name would look as if the others had not been there.
  const perTest = tally.results.length > 0 && tally.results.length === counted;
  const results = perTest ? tally.results : [];
  return { source: "text", runner, perTest, results, passed, failed, skipped, faults: [...faults] };
}
