/**
 * The git boundary (`platform/git.ts`) on a disk in memory: as many of git's commands as a run uses, with git's own
 * ways of writing. What git itself does on a real disk is shown by `test/platform/git-durability.test.ts`.
 */
import { basename, dirname, join } from "node:path";
import { entryKind, removeFolder } from "../../scripts/platform/files.ts";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import type { Git, GitDone } from "../../scripts/platform/git.ts";
import { Call, Fatal } from "./git-call.ts";
import * as store from "./git-store.ts";

/** A git whose files lie on `fs`. Throws for a command nobody taught it: a test then says so. */
export function fakeGit(fs: FileSystem): Git {
  return {
    run(args, options) {
      const words = args.filter((word, at) => word !== "-c" && args[at - 1] !== "-c");
      const [command, ...rest] = words;
      const run = commands[command ?? ""];
      if (run === undefined) throw new Error(`this git knows no ${args.join(" ")}`);
      const syncsIndex = args.some((word) => /^core\.fsync=.*index/.test(word));
      try {
        const said = run(new Call(fs, rest, options, syncsIndex));
        if (typeof said === "number") return done(said, "");
        return done(0, said);
      } catch (error) {
        if (error instanceof Fatal || error instanceof SyntaxError) return done(128, "", `fatal: ${error.message}\n`);
        throw error;
      }
    },
  };
}

function done(code: number, text: string, stderr = ""): GitDone {
  return { code, stdout: Buffer.from(text, "latin1"), stderr };
}

type Command = (call: Call) => string | number;

const line = (text: string | null): string | number => (text === null ? 1 : `${text}\n`);
const records = (texts: readonly string[]): string => texts.map((text) => `${text}\0`).join("");
const inputRecords = (call: Call): readonly string[] => call.input.split("\0").filter((text) => text !== "");

const commands: Readonly<Record<string, Command>> = {
  init(call) {
    const folder = call.plain.at(-1) as string;
    for (const name of ["objects/pack", "objects/info", "refs/heads", "refs/tags"])
      store.makeFolders(call.fs, join(folder, name));
    if (entryKind(call.fs, join(folder, "HEAD")) !== "file")
      store.put(call.fs, join(folder, "HEAD"), "ref: refs/heads/main\n", true);
    store.put(call.fs, join(folder, "config"), "[core]\n", false);
    return "";
  },
  "rev-parse"(call) {
    const { gitDir, commonDir, top } = call.repository;
    if (call.has("--git-common-dir")) return line(commonDir);
    if (call.has("--git-dir")) return line(gitDir);
    if (call.has("--show-toplevel")) return top === null ? 128 : line(top);
    if (call.has("--show-object-format")) return "sha1\n";
    if (call.has("--is-inside-work-tree")) return `${top === null}\n${top !== null}\nfalse\n`;
    return line(call.peel(call.plain.at(-1) as string));
  },
  // Of the settings a run asks for, this repository has none.
  config: () => 1,
  "ls-files"(call) {
    const { words } = call;
    if (call.has(":(icase).atlas") || call.has(".atlas")) return "";
    const index = call.index();
    if (call.has("--ignored")) return "";
    if (call.has("--others")) {
      const except = words.flatMap((word) => /^--exclude=\/(.+)$/.exec(word)?.[1] ?? []);
      return records(store.filesOf(call.fs, call.top, except).filter((path) => !index.has(path)));
    }
    const shown = [...index].map(([path, { mode, blob }]) =>
      call.has("--stage") ? `${mode} ${blob} 0\t${path}` : path,
    );
    return records(shown);
  },
  "diff-files"(call) {
    const changed: string[] = [];
    for (const [path, entry] of call.index()) {
      const text = call.blobOf(path);
      const found = call.object(entry.blob);
      if (text === null) changed.push(`:100644 000000 ${entry.blob} ${store.NULL_ID} D`, path);
      else if (found?.type !== "blob" || `blob\n${found.text}` !== text)
        changed.push(`:100644 100644 ${entry.blob} ${store.NULL_ID} M`, path);
    }
    return records(changed);
  },
  "update-index"(call) {
    const index = call.index();
    for (const record of inputRecords(call)) {
      if (call.has("--index-info")) {
        const [, mode = "", blob = "", path = ""] = /^(\d+) ([0-9a-f]+) \d\t(.+)$/s.exec(record) ?? [];
        if (mode === "0") index.delete(path);
        else index.set(path, { mode, blob });
        continue;
      }
      const text = call.has("--force-remove") ? null : call.blobOf(record);
      if (text === null) index.delete(record);
      else index.set(record, { mode: "100644", blob: call.write(text) });
    }
    return call.keep(index);
  },
  "write-tree"(call) {
    const index = call.index();
    for (const { blob } of index.values())
      if (call.object(blob) === null && !call.has("--missing-ok")) throw new Fatal(`invalid object ${blob}`);
    return line(call.write(store.treeText(index)));
  },
  mktree: (call) => line(call.write(store.treeText(new Map()))),
  "read-tree": (call) => call.keep(new Map(call.tree(call.plain.at(-1) as string))),
  "checkout-index"(call) {
    for (const [path, { blob }] of call.index()) {
      const found = call.object(blob);
      if (found?.type !== "blob") throw new Fatal(`unable to read ${blob}`);
      store.makeFolders(call.fs, dirname(join(call.top, path)));
      store.put(call.fs, join(call.top, path), found.text, false);
    }
    return "";
  },
  "diff-tree"(call) {
    const [from, to] = call.plain.map((id) => call.tree(id));
    const none = { mode: "000000", blob: store.NULL_ID };
    const raw: string[] = [];
    const patch: string[] = [];
    for (const path of [...new Set([...(from?.keys() ?? []), ...(to?.keys() ?? [])])].sort()) {
      const [a, b] = [from?.get(path) ?? none, to?.get(path) ?? none];
      if (a.blob === b.blob) continue;
      raw.push(`:${a.mode} ${b.mode} ${a.blob} ${b.blob} ${a === none ? "A" : b === none ? "D" : "M"}`, path);
      const texts = [a, b].map(({ blob }) =>
        blob === store.NULL_ID ? ({ type: "blob", text: "" } as const) : call.object(blob),
      );
      if (call.has("--patch") && texts.some((one) => one === null)) throw new Fatal(`unable to read ${path}`);
      patch.push(`${path}\n-${JSON.stringify(texts[0])}\n+${JSON.stringify(texts[1])}\n`);
    }
    return call.has("--raw") ? records(raw) : patch.join("");
  },
  "cat-file"(call) {
    return call.input
      .split("\n")
      .filter((id) => id !== "")
      .map((id) => {
        const found = call.object(id);
        return found?.type === "blob" ? `${id} ${found.text.length}\n` : `${id} missing\n`;
      })
      .join("");
  },
  "commit-tree"(call) {
    const [tree = ""] = call.plain;
    if (call.object(tree)?.type !== "tree") throw new Fatal(`not a valid object name ${tree}`);
    const parents = call.words.flatMap((word, at) => (call.words[at - 1] === "-p" ? [word] : []));
    return line(
      call.write(`commit\n${JSON.stringify({ tree, parents, message: call.input, date: call.env.GIT_AUTHOR_DATE })}`),
    );
  },
  "rev-list"(call) {
    const wanted = call.words.filter((word) => /^[0-9a-f]{40}$/.test(word));
    const known = new Set(
      call.words.flatMap((word) =>
        word.startsWith("^") ? (store.closureOf(call.fs, call.objects, word.slice(1)) ?? []) : [],
      ),
    );
    const all = wanted.flatMap((id) => {
      const closure = store.closureOf(call.fs, call.objects, id);
      if (closure === null) throw new Fatal(`bad object ${id}`);
      return closure;
    });
    return [...new Set(all)]
      .filter((id) => !known.has(id))
      .map((id) => `${id}\n`)
      .join("");
  },
  "pack-objects"(call) {
    const packed: Record<string, string> = {};
    for (const id of call.input.split("\n").filter((one) => one !== "")) {
      const text = store.rawObject(call.fs, call.objects, id);
      if (text === null) throw new Fatal(`unable to read ${id}`);
      packed[id] = text;
    }
    if (call.has("--stdout")) return JSON.stringify(packed);
    const path = `${call.plain.at(-1)}-${Object.keys(packed).join("").slice(0, 12)}.pack`;
    store.makeFolders(call.fs, dirname(path));
    store.put(call.fs, path, JSON.stringify(packed), true);
    return "";
  },
  "index-pack"(call) {
    const pack = join(call.objects, "pack");
    store.makeFolders(call.fs, pack);
    const ids = Object.keys(JSON.parse(call.input) as object);
    if (ids.length > 0) store.put(call.fs, join(pack, `pack-${ids.join("").slice(0, 12)}.pack`), call.input, true);
    return "";
  },
  "check-ref-format": (call) => (/\.\.|\.lock(\/|$)|\s/.test(call.plain[0] as string) ? 1 : ""),
  "update-ref"(call) {
    const { gitDir, commonDir } = call.repository;
    const [name = "", id = ""] = call.plain;
    const path = join(name === "HEAD" ? gitDir : commonDir, name);
    if (call.has("-d")) {
      if (entryKind(call.fs, path) === "file") call.fs.unlinkSync(path);
      return "";
    }
    if (call.object(id) === null) throw new Fatal(`trying to write ref '${name}' with nonexistent object ${id}`);
    store.makeFolders(call.fs, dirname(path));
    store.put(call.fs, path, `${id}\n`, true);
    return "";
  },
  show(call) {
    const found = call.object(call.plain.at(-1) as string);
    return found?.type === "commit" ? line(`${found.tree} ${found.parents.join(" ")}`) : 128;
  },
  "symbolic-ref": (call) =>
    line(/^ref: (.+)\n$/.exec(store.textAt(call.fs, join(call.repository.gitDir, "HEAD")) ?? "")?.[1] ?? null),
  "merge-base": (call) =>
    store.closureOf(call.fs, call.objects, call.plain[1] as string)?.includes(call.plain[0] as string) === true
      ? ""
      : 1,
  "for-each-ref"(call) {
    const { commonDir } = call.repository;
    const format = /^--format=(.*)$/.exec(call.words.find((word) => word.startsWith("--format=")) ?? "")?.[1] ?? "";
    const contained = call.has("--contains") ? call.plain.at(-1) : undefined;
    const patterns = contained === undefined && call.plain.length > 0 ? call.plain : ["refs/"];
    const isMeant = (name: string) =>
      patterns.some((pattern) =>
        pattern.includes("*")
          ? new RegExp(`^${pattern.replaceAll("*", "[^/]*")}$`).test(name)
          : name.startsWith(pattern),
      );
    return store
      .refsBelow(call.fs, commonDir, "refs")
      .filter(isMeant)
      .map((name) => ({ name, id: store.resolveRef(call.fs, call.repository, name) as string }))
      .filter(
        ({ id }) => contained === undefined || store.closureOf(call.fs, call.objects, id)?.includes(contained) === true,
      )
      .map(
        ({ name, id }) =>
          `${format.replace("%(refname)", name).replace("%(objectname)", id).replace("%(worktreepath)", "").replaceAll("%00", "\0")}\n`,
      )
      .join("");
  },
  worktree(call) {
    const { commonDir } = call.repository;
    const [verb, path = "", head = ""] = call.plain;
    const entries = join(commonDir, "worktrees");
    if (verb === "remove") {
      for (const name of store.isFolder(call.fs, entries) ? call.fs.readdirSync(entries) : []) {
        if (store.textAt(call.fs, join(entries, name, "gitdir")) !== `${path}/.git\n`) continue;
        if (entryKind(call.fs, path) === "folder") removeFolder(call.fs, path);
        removeFolder(call.fs, join(entries, name));
        return "";
      }
      throw new Fatal(`'${path}' is not a working tree`);
    }
    const admin = join(entries, basename(path));
    store.makeFolders(call.fs, admin);
    store.put(call.fs, join(admin, "locked"), "initializing\n", false);
    store.makeFolders(call.fs, path);
    store.put(call.fs, join(admin, "gitdir"), `${path}/.git\n`, false);
    store.put(call.fs, join(path, ".git"), `gitdir: ${admin}\n`, false);
    store.put(call.fs, join(admin, "commondir"), "../..\n", false);
    store.put(call.fs, join(admin, "HEAD"), `${head}\n`, true);
    call.fs.unlinkSync(join(admin, "locked"));
    return "";
  },
};
