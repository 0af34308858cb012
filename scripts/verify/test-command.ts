/** Which test runners a command really runs, through scripts, makefiles and wrappers; read from text, nothing is run. */
import {
  type BegunRunner,
  type CommandFault,
  type Following,
  type Look,
  literal,
  moved,
  type Place,
} from "./command/following.ts";
import { isHarmless } from "./command/harmless.ts";
import { followMake } from "./command/make.ts";
import { ownReports } from "./command/own-reports.ts";
import { followPackageManager } from "./command/package-managers.ts";
import { followRunner } from "./command/programs.ts";
import { followScriptRunner } from "./command/script-runners.ts";
import { readShell, type Word } from "./command/shell-reader.ts";
import { followScriptFile, followShell, followWrapper } from "./command/wrappers.ts";
import type { Runner } from "./runner.ts";

export type { Look } from "./command/following.ts";

export interface ResolvedCommand {
  /** Each once, in the order in which they are begun. */
  readonly runners: readonly Runner[];
  /** Some part of the command could not be followed to a runner; fixed words. Empty: all of it was. */
  readonly unresolved: readonly string[];
  /** Every beginning of a runner; absent: one of each, with arguments that are not known. */
  readonly begun?: readonly BegunRunner[];
  /** Nothing but that one runner is begun by the command. */
  readonly isAlone?: boolean;
}

const depthMax = 16;
const commandsMax = 1024;
const textCharsMax = 256 * 1024;
const looksMax = 2000;
const begunMax = 256;

/** Never throws; its work is bounded and linear in the command and in each file it looks at. */
export function resolveCommand(command: string, look: Look): ResolvedCommand {
  const begun: BegunRunner[] = [];
  const faults = new Set<CommandFault>();
  const seen = new Map<string, string | null>();
  let commands = 0;
  let chars = 0;
  const following: Following = {
    look: (path) => {
      const before = seen.get(path);
      if (before !== undefined) return before;
      if (seen.size >= looksMax) {
        faults.add("too-long");
        return null;
      }
      const text = look(path);
      seen.set(path, text);
      return text;
    },
    text: (source, place) => {
      chars += source.length;
      if (chars > textCharsMax) faults.add("too-long");
      else if (place.depth > depthMax) faults.add("too-deep");
      else followText(following, source, place);
    },
    program: (words, place) => {
      commands += 1;
      if (commands > commandsMax) faults.add("too-long");
      else if (place.depth > depthMax) faults.add("too-deep");
      else followProgram(following, words, { ...place, depth: place.depth + 1 });
    },
    begin: (runner, words, place) => {
      if (begun.length >= begunMax) {
        faults.add("too-long");
        return;
      }
      const { assignments, cwd } = place;
      const own = ownReports({ runner, words, assignments, cwd, look: following.look });
      begun.push({ runner, words, assignments, cwd, own });
    },
    fault: (fault) => {
      faults.add(fault);
    },
  };
  following.text(command, { cwd: "", depth: 0, trail: [], assignments: [] });
  const runners = [...new Set(begun.map(({ runner }) => runner))];
  const isAlone = begun.length === 1 && faults.size === 0 && onlyOne(command);
  return { runners, unresolved: [...faults], begun, isAlone };
}

function followText(following: Following, source: string, from: Place): void {
  const { steps, faults } = readShell(source);
  for (const fault of faults) following.fault(fault);
  const left: Place[] = [];
  let place = from;
  for (const step of steps) {
    if (step.kind === "open") left.push(place);
    else if (step.kind === "close") place = left.pop() ?? place;
    else {
      const { words, assignments, inPipe } = step;
      const [program, folder] = words;
      if (program?.raw === "cd" || program?.raw === "pushd") {
        const target = folder?.text === "--" ? words[2] : folder;
        const to = moved(following, place, target ?? { text: "~", raw: "~", isLiteral: false });
        if (!inPipe) place = to;
      } else if (program?.raw === "popd") {
        following.fault("unknown-folder");
        place = { ...place, cwd: null };
      } else if (program?.raw === "export" || program?.raw === "unset") {
        // From here on the variable is not what it was outside.
        place = { ...place, assignments: [...place.assignments, ...words.slice(1)] };
      } else if (program !== undefined) {
        following.program(words, { ...place, assignments: [...place.assignments, ...assignments] });
      }
    }
  }
}

function followProgram(following: Following, words: readonly Word[], place: Place): void {
  const [program, ...rest] = words;
  if (program === undefined) return;
  if (!program.isLiteral) {
    following.fault("variable");
    return;
  }
  // A program in a package's own folder is that package's.
  const bare = /^(?:.*\/)?(?:node_modules\/\.bin|vendor\/bin|\.venv\/bin|venv\/bin|bin)\/([\w.-]+)$/.exec(
    program.text,
  )?.[1];
  const named = [literal(bare ?? program.text.replace(/^\.\/(mvnw|gradlew)/, "$1")), ...rest];
  if (bare !== undefined && followScriptFile(following, program, place, false)) return;
  for (const follow of [
    followWrapper,
    followShell,
    followPackageManager,
    followMake,
    followScriptRunner,
    followRunner,
  ]) {
    if (follow(following, named, place)) return;
  }
  if (program.text === "." || program.text === "source") {
    const isActivation = /(^|\/)(activate|\.env[\w.-]*|\.nvmrc)$/.test(rest[0]?.text ?? "");
    if (!isActivation && !(rest[0] !== undefined && followScriptFile(following, rest[0], place, true))) {
      following.fault("unknown-program");
    }
    return;
  }
  if (isHarmless(program.text) || isHarmless(bare ?? "")) return;
  if (program.text.includes("/") && bare === undefined && followScriptFile(following, program, place, false)) return;
  following.fault("unknown-program");
}

/** One simple command, but for the folder it is run in. */
function onlyOne(command: string): boolean {
  const programs = readShell(command).steps.flatMap((step) => (step.kind === "command" ? step.words.slice(0, 1) : []));
  const others = programs.filter(({ raw }) => raw !== "cd");
  return others.length === 1 && others[0]?.text === "go";
}
