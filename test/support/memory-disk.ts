/**
 * A disk in memory that can lose its power. Content and folder entries are durable apart from each other, each only
 * since its own last fsync; whatever is younger may be lost, in part or whole, in any order.
 */
import { constants, type Stats } from "node:fs";
import { basename, dirname, normalize } from "node:path";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import { systemError } from "./faulty-fs.ts";

interface FileNode {
  readonly kind: "file";
  readonly ino: number;
  bytes: Buffer;
  durable: Buffer;
}

interface FolderNode {
  readonly kind: "folder";
  readonly ino: number;
  entries: Map<string, Node>;
  durable: Map<string, Node>;
}

type Node = FileNode | FolderNode;

/** What becomes of things that were not synced. Asked once for each. */
export interface Luck {
  /** Whether an entry that was made (or taken away, or replaced) since the folder's last fsync survives. */
  readonly entry: (path: string) => boolean;
  /** How many bytes of what was written since the file's last fsync survive, from 0 to `young`. */
  readonly bytes: (path: string, young: number) => number;
}

/** Everything that was not synced is lost. */
export const NO_LUCK: Luck = { entry: () => false, bytes: () => 0 };

export interface MemoryDisk {
  readonly fs: FileSystem;
  /** What another computer finds on this disk after the power went away now. This one stays as it is. */
  afterPowerLoss(luck?: Luck): MemoryDisk;
  /** Everything, as if it were synced: for a comparison. */
  readonly text: (path: string) => string | null;
}

let inodes = 0;

function newFolder(): FolderNode {
  inodes += 1;
  return { kind: "folder", ino: inodes, entries: new Map(), durable: new Map() };
}

/** An empty disk that holds `/` alone. */
export function memoryDisk(root: FolderNode = newFolder()): MemoryDisk {
  const handles = new Map<number, { readonly node: Node; readonly flags: number }>();
  let nextFd = 1000;

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

  const fs: FileSystem = {
    openSync(path, flags) {
      let node = find(path);
      if (node === undefined) {
        if ((flags & constants.O_CREAT) === 0) throw systemError("ENOENT", "openSync", path);
        inodes += 1;
        node = { kind: "file", ino: inodes, bytes: Buffer.alloc(0), durable: Buffer.alloc(0) };
        parentOf(path, "openSync").entries.set(basename(path), node);
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
      file.bytes = Buffer.concat([file.bytes, buffer.subarray(offset, offset + length)]);
      return length;
    },
    fsyncSync(fd) {
      const node = handles.get(fd)?.node;
      if (node === undefined) throw systemError("EBADF", "fsyncSync", String(fd));
      if (node.kind === "file") node.durable = node.bytes;
      else node.durable = new Map(node.entries);
    },
    ftruncateSync(fd, length) {
      const file = fileOf(fd, "ftruncateSync");
      file.bytes = Buffer.concat([
        file.bytes.subarray(0, length),
        Buffer.alloc(Math.max(0, length - file.bytes.length)),
      ]);
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
      const parent = parentOf(path, "mkdirSync");
      if (parent.entries.has(basename(path))) throw systemError("EEXIST", "mkdirSync", path);
      parent.entries.set(basename(path), newFolder());
    },
    renameSync(from, to) {
      const node = must(from, "renameSync");
      const target = find(to);
      if (target?.kind === "folder" && target.entries.size > 0) throw systemError("ENOTEMPTY", "renameSync", to);
      if (target !== undefined && target.kind !== node.kind)
        throw systemError(target.kind === "folder" ? "EISDIR" : "ENOTDIR", "renameSync", to);
      parentOf(to, "renameSync").entries.set(basename(to), node);
      parentOf(from, "renameSync").entries.delete(basename(from));
    },
    unlinkSync(path) {
      if (must(path, "unlinkSync").kind === "folder") throw systemError("EISDIR", "unlinkSync", path);
      parentOf(path, "unlinkSync").entries.delete(basename(path));
    },
    rmdirSync(path) {
      const node = must(path, "rmdirSync");
      if (node.kind !== "folder") throw systemError("ENOTDIR", "rmdirSync", path);
      if (node.entries.size > 0) throw systemError("ENOTEMPTY", "rmdirSync", path);
      parentOf(path, "rmdirSync").entries.delete(basename(path));
    },
    realpathSync(path) {
      must(path, "realpathSync");
      return normalize(path);
    },
    linkSync(existing, created) {
      const node = must(existing, "linkSync");
      const parent = parentOf(created, "linkSync");
      if (parent.entries.has(basename(created))) throw systemError("EEXIST", "linkSync", created);
      parent.entries.set(basename(created), node);
    },
  };

  return {
    fs,
    afterPowerLoss: (luck = NO_LUCK) => memoryDisk(survivor(root, "", luck, new Map()) as FolderNode),
    text(path) {
      const node = find(path);
      return node?.kind === "file" ? node.bytes.toString("utf8") : null;
    },
  };
}

function survivor(node: Node, path: string, luck: Luck, seen: Map<Node, Node>): Node {
  const before = seen.get(node);
  if (before !== undefined) return before;
  if (node.kind === "file") {
    const bytes = survivingBytes(node, path, luck);
    const file: FileNode = { kind: "file", ino: node.ino, bytes, durable: bytes };
    seen.set(node, file);
    return file;
  }
  const entries = new Map<string, Node>();
  const folder: FolderNode = { kind: "folder", ino: node.ino, entries, durable: entries };
  seen.set(node, folder);
  for (const name of [...new Set([...node.durable.keys(), ...node.entries.keys()])].sort()) {
    const [old, young] = [node.durable.get(name), node.entries.get(name)];
    const kept = old === young || luck.entry(`${path}/${name}`) ? young : old;
    if (kept !== undefined) entries.set(name, survivor(kept, `${path}/${name}`, luck, seen));
  }
  folder.durable = new Map(entries);
  return folder;
}

function survivingBytes(node: FileNode, path: string, luck: Luck): Buffer {
  const { bytes, durable } = node;
  // A file that was cut since its last fsync: the old bytes or the new ones.
  if (bytes.length < durable.length) return luck.bytes(path, 1) === 1 ? bytes : durable;
  const young = bytes.length - durable.length;
  return bytes.subarray(0, durable.length + (young === 0 ? 0 : luck.bytes(path, young)));
}

function statsOf(node: Node): Stats {
  const size = node.kind === "file" ? node.bytes.length : 0;
  return {
    ino: node.ino,
    dev: 1,
    uid: process.getuid?.() ?? 0,
    size,
    isFile: () => node.kind === "file",
    isDirectory: () => node.kind === "folder",
    isSymbolicLink: () => false,
  } as Stats;
}
