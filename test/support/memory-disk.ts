/**
 * A disk in memory that can lose its power. Every write and every change of an entry is an event of its own, durable
 * only by an fsync of its file or of its folder; of the younger ones any subset survives. A write whose earlier
 * neighbour was lost stands behind NULs; a rename moves its name or does not, as journals have it.
 */
import { constants } from "node:fs";
import { basename, dirname, normalize } from "node:path";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import {
  applied,
  type Change,
  changesFor,
  cloneOf,
  type FileNode,
  type FolderNode,
  type Luck,
  NO_LUCK,
  type Node,
  newFolder,
  newInode,
  statsOf,
  survivor,
  type Written,
} from "./disk-nodes.ts";
import { systemError } from "./faulty-fs.ts";

export interface MemoryDisk {
  readonly fs: FileSystem;
  /** What another computer finds on this disk after the power went away now. This one stays as it is. */
  afterPowerLoss(luck?: Luck): MemoryDisk;
  /** The same disk, what is not synced included: for another process that goes on with it. */
  copy(): MemoryDisk;
  /** Everything, as if it were synced: for a comparison. */
  readonly text: (path: string) => string | null;
  /** Every path with its bytes; a folder has none. */
  readonly content: () => ReadonlyMap<string, Buffer | null>;
  /** Paths of what an fsync is still owed to: names that changed, files that were written. */
  readonly young: () => readonly string[];
}

/** An empty disk that holds `/` alone. */
export function memoryDisk(): MemoryDisk {
  return diskOf(newFolder(), []);
}

function diskOf(root: FolderNode, changed: readonly Change[]): MemoryDisk {
  const handles = new Map<number, { readonly node: Node; readonly flags: number }>();
  let nextFd = 1000;
  let changes: readonly Change[] = changed;

  const find = (path: string): Node | undefined => {
    let node: Node | undefined = root;
    for (const name of normalize(path)
      .split("/")
      .filter((part) => part !== "")) {
      if (node?.kind !== "folder") return undefined;
      node = node.entries.get(name);
    }
    return node;
  };
  const must = (path: string, call: string): Node => {
    const node = find(path);
    if (node === undefined) throw systemError("ENOENT", call, path);
    return node;
  };
  const parentOf = (path: string, call: string): FolderNode => {
    const parent = must(dirname(path), call);
    if (parent.kind !== "folder") throw systemError("ENOTDIR", call, path);
    return parent;
  };
  const fileOf = (fd: number, call: string): FileNode => {
    const node = handles.get(fd)?.node;
    if (node?.kind !== "file") throw systemError("EBADF", call, String(fd));
    return node;
  };
  const change = (path: string, ...parts: Change["parts"]): void => {
    for (const { folder, name, node } of parts) {
      if (node === null) folder.entries.delete(name);
      else folder.entries.set(name, node);
    }
    changes = [...changes, { path, parts }];
  };
  /** All changes that touch the folder become durable; of what another folder owes, what is overtaken goes. */
  const settle = (folder: FolderNode): void => {
    let left: readonly Change[] = [];
    for (const one of changes) {
      if (!one.parts.some((part) => part.folder === folder)) {
        left = [...left, one];
        continue;
      }
      for (const part of one.parts) {
        if (part.node === null) part.folder.durable.delete(part.name);
        else part.folder.durable.set(part.name, part.node);
      }
      const isOvertaken = (part: Change["parts"][number]) =>
        one.parts.some((newer) => newer.folder === part.folder && newer.name === part.name);
      left = left
        .map((older) => ({ ...older, parts: older.parts.filter((part) => !isOvertaken(part)) }))
        .filter((older) => older.parts.length > 0);
    }
    changes = left;
  };
  const write = (file: FileNode, written: Written): void => {
    file.bytes = applied(file.bytes, written);
    file.young = [...file.young, written];
  };

  const fs: FileSystem = {
    openSync(path, flags) {
      let node = find(path);
      if (node === undefined) {
        if ((flags & constants.O_CREAT) === 0) throw systemError("ENOENT", "openSync", path);
        const none = Buffer.alloc(0);
        node = { kind: "file", ino: newInode(), path, bytes: none, durable: none, young: [] };
        change(path, { folder: parentOf(path, "openSync"), name: basename(path), node });
      } else if ((flags & constants.O_EXCL) !== 0) throw systemError("EEXIST", "openSync", path);
      if (node.kind === "folder" && (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0)
        throw systemError("EISDIR", "openSync", path);
      nextFd += 1;
      handles.set(nextFd, { node, flags });
      return nextFd;
    },
    closeSync(fd) {
      if (!handles.delete(fd)) throw systemError("EBADF", "closeSync", String(fd));
    },
    readSync(fd, buffer, offset, length, position) {
      const { bytes } = fileOf(fd, "readSync");
      const from = position ?? 0;
      const part = bytes.subarray(from, from + length);
      part.copy(buffer, offset);
      return part.length;
    },
    writeSync(fd, buffer, offset, length, position) {
      const file = fileOf(fd, "writeSync");
      // Sequential and appending writers only: both end at the end.
      if (position !== null) throw systemError("EINVAL", "writeSync", String(fd));
      write(file, { at: file.bytes.length, bytes: Buffer.from(buffer.subarray(offset, offset + length)) });
      return length;
    },
    fsyncSync(fd) {
      const node = handles.get(fd)?.node;
      if (node === undefined) throw systemError("EBADF", "fsyncSync", String(fd));
      if (node.kind === "folder") settle(node);
      else {
        node.durable = node.bytes;
        node.young = [];
      }
    },
    ftruncateSync(fd, length) {
      const file = fileOf(fd, "ftruncateSync");
      if (length !== file.bytes.length) write(file, { cutTo: length });
    },
    fstatSync(fd) {
      const node = handles.get(fd)?.node;
      if (node === undefined) throw systemError("EBADF", "fstatSync", String(fd));
      return statsOf(node);
    },
    lstatSync: (path) => statsOf(must(path, "lstatSync")),
    statSync: (path) => statsOf(must(path, "statSync")),
    readdirSync(path) {
      const node = must(path, "readdirSync");
      if (node.kind !== "folder") throw systemError("ENOTDIR", "readdirSync", path);
      return [...node.entries.keys()];
    },
    mkdirSync(path) {
      const folder = parentOf(path, "mkdirSync");
      if (folder.entries.has(basename(path))) throw systemError("EEXIST", "mkdirSync", path);
      change(path, { folder, name: basename(path), node: newFolder() });
    },
    renameSync(from, to) {
      const node = must(from, "renameSync");
      const target = find(to);
      if (target?.kind === "folder" && target.entries.size > 0) throw systemError("ENOTEMPTY", "renameSync", to);
      if (target !== undefined && target.kind !== node.kind)
        throw systemError(target.kind === "folder" ? "EISDIR" : "ENOTDIR", "renameSync", to);
      const [source, folder] = [parentOf(from, "renameSync"), parentOf(to, "renameSync")];
      if (node.kind === "file") node.path = to;
      change(to, { folder: source, name: basename(from), node: null }, { folder, name: basename(to), node });
    },
    unlinkSync(path) {
      if (must(path, "unlinkSync").kind === "folder") throw systemError("EISDIR", "unlinkSync", path);
      change(path, { folder: parentOf(path, "unlinkSync"), name: basename(path), node: null });
    },
    rmdirSync(path) {
      const node = must(path, "rmdirSync");
      if (node.kind !== "folder") throw systemError("ENOTDIR", "rmdirSync", path);
      if (node.entries.size > 0) throw systemError("ENOTEMPTY", "rmdirSync", path);
      change(path, { folder: parentOf(path, "rmdirSync"), name: basename(path), node: null });
    },
    realpathSync(path) {
      must(path, "realpathSync");
      return normalize(path);
    },
    linkSync(existing, created) {
      const node = must(existing, "linkSync");
      const folder = parentOf(created, "linkSync");
      if (folder.entries.has(basename(created))) throw systemError("EEXIST", "linkSync", created);
      if (node.kind === "file") node.path = created;
      change(created, { folder, name: basename(created), node });
    },
  };

  return {
    fs,
    afterPowerLoss: (luck = NO_LUCK) => diskOf(survivor(root, changes, luck), []),
    copy() {
      const copies = new Map<Node, Node>();
      const made = cloneOf(root, copies, false) as FolderNode;
      return diskOf(made, changesFor(changes, copies));
    },
    text(path) {
      const node = find(path);
      return node?.kind === "file" ? node.bytes.toString("utf8") : null;
    },
    content() {
      const found = new Map<string, Buffer | null>();
      const walk = (node: Node, path: string): void => {
        found.set(path, node.kind === "file" ? node.bytes : null);
        if (node.kind === "folder")
          for (const name of [...node.entries.keys()].sort()) walk(node.entries.get(name)!, `${path}/${name}`);
      };
      walk(root, "");
      return found;
    },
    young() {
      const files = new Set<Node>();
      const walk = (node: Node): void => {
        if (node.kind === "file") files.add(node);
        else for (const child of node.entries.values()) walk(child);
      };
      walk(root);
      const written = [...files].flatMap((node) => (node.kind === "file" && node.young.length > 0 ? [node.path] : []));
      return [...new Set([...changes.map((one) => one.path), ...written])];
    },
  };
}
