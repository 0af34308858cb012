import type { TestStatus } from "../../test-run.ts";
import { addBareSummary, addRun, addSuiteFailure, newTally, type TextReader } from "../tally.ts";

const result =
  /^test result: (ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; \d{1,9} measured; \d{1,9} filtered out/;

/** `running N tests`, a line for each, then `test result: …`; one such block for each binary. */
export const readCargo: TextReader = (lines, names) => {
  const tally = newTally();
  let running = false;
  let binary = "";
  for (const line of lines) {
    binary = binaryOf(line) ?? binary;
    if (/^running \d{1,9} tests?$/.test(line)) running = true;
    const status = running ? testLine(line) : null;
    if (status !== null) tally.results.push({ id: names.id(binary, [], status.name), status: status.status });
    // Inside of a block it is what a test has printed.
    if (!running && /^error: could not compile /.test(line)) addSuiteFailure(tally);
    const match = result.exec(line);
    if (match === null) continue;
    const [passed, failed, skipped] = [Number(match[2]), Number(match[3]), Number(match[4])];
    const failures = match[1] === "FAILED" ? Math.max(1, failed) : failed;
    if (running || passed === 0) addRun(tally, { passed, failed: failures, skipped });
    else addBareSummary(tally, failures);
    running = false;
  }
  if (running) tally.faults.add("interrupted");
  return tally;
};

/** Without the hash in its name, which is another in each tree. */
function binaryOf(line: string): string | null {
  const running = /^\s{1,8}Running (?:unittests )?(\S{1,400}) \((\S{1,400})\)$/.exec(line);
  if (running !== null) {
    const base = (running[2] ?? "").split(/[\\/]/).at(-1) ?? "";
    return `${base.replace(/-[0-9a-f]{16}(?:\.exe)?$/, "")} ${running[1]}`;
  }
  const docs = /^\s{1,4}Doc-tests (\S{1,400})$/.exec(line);
  return docs === null ? null : `doc-tests ${docs[1]}`;
}

function testLine(line: string): { readonly name: string; readonly status: TestStatus } | null {
  const at = line.lastIndexOf(" ... ");
  if (!line.startsWith("test ") || at < 0) return null;
  const [name, word] = [line.slice("test ".length, at), line.slice(at + " ... ".length)];
  if (word === "ok") return { name, status: "pass" };
  if (word === "FAILED") return { name, status: "fail" };
  return word.startsWith("ignored") ? { name, status: "skip" } : null;
}
