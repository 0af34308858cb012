const lines: Readonly<Record<string, string>> = {
  demo: "demo                              see a run killed and resumed, in a temporary folder",
  status: "status [--all]                    unfinished runs here; with --all finished ones too",
  resume:
    "resume [--run ID] [--dry-run]     continue an interrupted run and print what is next\n         [--newest] [--take-over] [--trust] [--readopt] [--redo SLOT] [--wait S] [--headless]",
  start: "start change --packet FILE        open a run (or --text FILE; --headless)",
  next: "next [--run ID]                   print the live instruction again",
  submit: "submit --slot S [--file F]        hand in one artifact (or --failed timeout|error|refused)",
  answer: "answer --gate G --choice C        record a human's decision (--text FILE where words are asked)",
  verify: "verify [--timeout S]              run the frozen command and record it (--background)",
  report: "report [--run ID]                 what was asked, done and judged (--check: is the written one true?)",
  fork: "fork --run ID --at SEQ            a new run from lines 1 to SEQ of another",
  rollback: "rollback --to SEQ                 an isolated tree back to a checkpoint",
  graph: "graph [--run ID]                  a graph run as a table and as Mermaid",
  abandon: "abandon --run ID                  end a run by the human's word",
  clean: "clean [--dry-run]                 remove recorded clean trees of finished runs (--drop-kept RUN)",
  doctor: "doctor                            check host, node, git, paths and every ledger",
  ping: "ping                              one line: loaded, version, hosts",
};

/** The verbs, or one of them. */
export function help(verb: string | undefined): string {
  const one = verb !== undefined && Object.hasOwn(lines, verb) ? lines[verb] : undefined;
  if (one !== undefined)
    return `atlas ${one}\n\nCommon options: --cwd DIR  --run ID  --claim TOKEN  --session ID  --json\n`;
  return [
    "atlas <verb> [options]: durable, resumable runs for coding agents",
    "",
    ...Object.values(lines).map((line) => `  ${line}`),
    "",
    "Common options: --cwd DIR  --run ID  --claim TOKEN  --session ID  --json",
    "Exit: 0 done, 1 a bug, 2 usage, 3 refused (with its fix), 4 the environment",
    "",
  ].join("\n");
}
