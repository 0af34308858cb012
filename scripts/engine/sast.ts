/**
 * The security scanner, on copies of the changed files outside the tree, with rules of our own.
 *
 * Absent: `skipped`. There and failing on both sides together, but working on the files as they were before: `failed`,
 * because then the change itself blinds it. Failing on those too: `skipped`, it does not work on this machine.
 */
import { join } from "node:path";
import { listFolder, readBounded } from "../platform/files.ts";
import { findFirstTool, runTool, type ToolDone, toolEnvironment, withCopies } from "../platform/tool.ts";
import { failed, type LensAnswer, skipped } from "../verify/lens.ts";
import { copiesOf, copyFinder, type FileCopy } from "../verify/lenses/copies.ts";
import { isScannable, readSastReport, type SastRule, sastRules } from "../verify/lenses/sast.ts";
import { Unlooked } from "../verify/lenses/unlooked.ts";
import type { Engine } from "./context.ts";
import { userTree } from "./effects.ts";
import type { LensInput } from "./lens-input.ts";
import { parseYaml } from "./readers.ts";

const scannerNames = ["semgrep", "opengrep"];
/** For the scan, and for what tells a scanner that does not work from one that the change blinds. */
const sastLimits = { scanMs: 90_000, probeMs: 30_000 } as const;
const reportBytesMax = 16 * 1024 * 1024;
const rulesBytesMax = 64 * 1024;

type SastInput = Pick<LensInput, "engine" | "loaded" | "root" | "files">;

export function sastOf(
  { engine, loaded, root, files }: SastInput,
  limits: { readonly [N in keyof typeof sastLimits]: number } = sastLimits,
): LensAnswer {
  const scannable = files.filter(({ path }) => isScannable(path));
  const copies = copiesOf(scannable);
  if (!copies.some(({ side }) => side === "after")) {
    return skipped(unreadable(scannable) ?? "no changed file is of a language the rules speak");
  }
  const outside = [root, userTree(loaded), loaded.folder.root];
  const scanner = findFirstTool(engine.fs, scannerNames, engine.environment, outside);
  if (scanner === null) return skipped("no scanner installed");
  const rules = readRules(engine);
  const scan = (some: readonly FileCopy[], leftMs: number): LensAnswer | "failed" =>
    withCopies(engine.fs, [...some, { name: ".semgrepignore", text: "" }], outside, (folder) => {
      const sides = [...new Set(some.map(({ side }) => side))];
      const done = runTool(scanner, {
        args: [...scannerArguments(engine), ...sides],
        cwd: folder,
        environment: scannerEnvironment(engine, outside, folder),
        timeoutMs: leftMs,
        bytesMax: reportBytesMax,
      });
      const text = reportOf(done);
      const read = text === null ? null : readSastReport(text, copyFinder(some, folder), some, rules);
      return read ?? "failed";
    }) ?? skipped("there is no temp folder outside the tree");
  const answer = scan(copies, limits.scanMs);
  if (answer !== "failed") return withUnread(answer, scannable);
  const before = copies.filter(({ side }) => side === "before");
  const probe = scan(before.length > 0 ? before : [harmless()], limits.probeMs);
  return probe === "failed"
    ? skipped("the scanner does not work here, on the files before the change either")
    : failed("the scanner ran on the files before the change, and not on the changed ones");
}

function scannerArguments(engine: Engine): readonly string[] {
  return [
    "scan",
    "--metrics=off",
    "--disable-version-check",
    "--disable-nosem",
    "--no-git-ignore",
    "--max-target-bytes=2000000",
    "--json",
    "--config",
    rulesFolder(engine),
  ];
}

function scannerEnvironment(engine: Engine, outside: readonly string[], folder: string): Record<string, string> {
  return {
    ...toolEnvironment(engine.fs, engine.environment, outside),
    TMPDIR: folder,
    XDG_CONFIG_HOME: join(folder, "own"),
    XDG_CACHE_HOME: join(folder, "own"),
    SEMGREP_SETTINGS_FILE: join(folder, "own", "settings.yml"),
    SEMGREP_LOG_FILE: join(folder, "own", "log"),
    SEMGREP_SEND_METRICS: "off",
    SEMGREP_ENABLE_VERSION_CHECK: "0",
  };
}

/** 0 and 1 are whole scans, without and with findings; every other code says that something was not done. */
function reportOf(done: ToolDone): string | null {
  return done.is === "exited" && (done.code === 0 || done.code === 1) ? done.stdout : null;
}

function rulesFolder(engine: Engine): string {
  return join(engine.pluginRoot, "references", "sast");
}

function readRules(engine: Engine): ReadonlyMap<string, SastRule> {
  const folder = rulesFolder(engine);
  const rules = new Map<string, SastRule>();
  for (const name of listFolder(engine.fs, folder)) {
    const read = name.endsWith(".yaml") ? readBounded(engine.fs, join(folder, name), rulesBytesMax) : null;
    if (read?.kind !== "file") continue;
    for (const [id, rule] of sastRules(parseYaml(read.bytes.toString("utf8")))) rules.set(id, rule);
  }
  if (rules.size === 0) throw new Error("the plugin has no rules");
  return rules;
}

/** Nothing stood before: what any scanner can read. */
function harmless(): FileCopy {
  const file = { path: "file.py", status: "M", isText: true, isTest: false, isCut: false, added: [] } as const;
  return {
    name: "before/0/file.py",
    side: "before",
    text: "x = 1\n",
    file: { ...file, before: "x = 1\n", after: null },
  };
}

function withUnread(answer: LensAnswer, files: LensInput["files"]): LensAnswer {
  const unread = unreadable(files);
  if (unread === null || answer.status !== "ran") return answer;
  return { ...answer, reason: answer.reason === undefined ? unread : `${answer.reason}; ${unread}` };
}

function unreadable(files: LensInput["files"]): string | null {
  const unlooked = new Unlooked();
  for (const { status, after, isCut } of files) {
    if (status !== "D" && after === null) unlooked.add(isCut ? "too large to be read" : "no UTF-8 text");
  }
  return unlooked.sentence();
}
