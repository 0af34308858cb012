/** One call of the git in memory: its words, and where it stands. */
import { join } from "node:path";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import type { GitOptions } from "../../scripts/platform/git.ts";
import * as store from "./git-store.ts";

/** git's own last word: exit 128. */
export class Fatal extends Error {}

export class Call {
  readonly fs: FileSystem;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input: string;
  readonly syncsIndex: boolean;
  constructor(fs: FileSystem, words: readonly string[], options: GitOptions, syncsIndex: boolean) {
    this.fs = fs;
    this.words = words;
    this.env = options.env ?? {};
    this.cwd = options.cwd;
    this.input = Buffer.from(options.input ?? "").toString("latin1");
    this.syncsIndex = syncsIndex;
  }
  has(word: string): boolean {
    return this.words.includes(word);
  }
  get plain(): readonly string[] {
    return this.words.filter((word) => !word.startsWith("-"));
  }
  get repository(): store.Found {
    const found = store.findRepository(this.fs, this.cwd, this.env);
    if (found === null || !store.isFolder(this.fs, join(found.commonDir, "objects"))) {
      throw new Fatal("not a git repository (or any of the parent directories): .git");
    }
    return found;
  }
  get objects(): string {
    return this.env.GIT_OBJECT_DIRECTORY ?? join(this.repository.commonDir, "objects");
  }
  get top(): string {
    const { top } = this.repository;
    if (top === null) throw new Fatal("this operation must be run in a work tree");
    return top;
  }
  get indexPath(): string {
    return this.env.GIT_INDEX_FILE ?? join(this.repository.gitDir, "index");
  }
  index(): store.Index {
    return store.readIndex(this.fs, this.indexPath);
  }
  keep(index: store.Index): string {
    store.writeIndex(this.fs, this.indexPath, index, this.syncsIndex);
    return "";
  }
  object(id: string): store.Stored | null {
    return (
      store.stored(this.fs, this.objects, id) ?? store.stored(this.fs, join(this.repository.commonDir, "objects"), id)
    );
  }
  write(text: string): string {
    return store.writeObject(this.fs, this.objects, text);
  }
  /** `<name>`, `<name>^{commit}`, `<name>^{tree}`. */
  peel(name: string): string | null {
    const [, bare = name, type] = /^(.+)\^\{(commit|tree)\}$/.exec(name) ?? [];
    const id = store.resolveRef(this.fs, this.repository, bare);
    const found = id === null ? null : this.object(id);
    if (id === null || found === null) return null;
    if (type === undefined || found.type === type) return id;
    return type === "tree" && found.type === "commit" && this.object(found.tree) !== null ? found.tree : null;
  }
  tree(id: string): store.Index {
    const peeled = this.peel(`${id}^{tree}`);
    const found = peeled === null ? null : this.object(peeled);
    if (found?.type !== "tree") throw new Fatal(`bad object ${id}`);
    return found.entries;
  }
  blobOf(path: string): string | null {
    const text = store.textAt(this.fs, join(this.top, path));
    return text === null ? null : `blob\n${text}`;
  }
}
