import * as nodeFs from "node:fs";

/**
 * The synchronous file system calls everything durable goes through. Handed down as a value, so that a test can
 * drop what was not yet synced or fail the n-th call; production passes node's own.
 */
export interface FileSystem {
  openSync(path: string, flags: number, mode?: number): number;
  closeSync(fd: number): void;
  readSync(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number;
  writeSync(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number;
  fsyncSync(fd: number): void;
  ftruncateSync(fd: number, length: number): void;
  fstatSync(fd: number): nodeFs.Stats;
  lstatSync(path: string): nodeFs.Stats;
  statSync(path: string): nodeFs.Stats;
  readdirSync(path: string): string[];
  mkdirSync(path: string, mode?: number): void;
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  rmdirSync(path: string): void;
  realpathSync(path: string): string;
  linkSync(existing: string, created: string): void;
}

export const realFileSystem: FileSystem = {
  openSync: (path, flags, mode) => nodeFs.openSync(path, flags, mode),
  closeSync: (fd) => nodeFs.closeSync(fd),
  readSync: (fd, buffer, offset, length, position) => nodeFs.readSync(fd, buffer, offset, length, position),
  writeSync: (fd, buffer, offset, length, position) => nodeFs.writeSync(fd, buffer, offset, length, position),
  fsyncSync: (fd) => nodeFs.fsyncSync(fd),
  ftruncateSync: (fd, length) => nodeFs.ftruncateSync(fd, length),
  fstatSync: (fd) => nodeFs.fstatSync(fd),
  lstatSync: (path) => nodeFs.lstatSync(path),
  statSync: (path) => nodeFs.statSync(path),
  readdirSync: (path) => nodeFs.readdirSync(path),
  mkdirSync: (path, mode) => {
    nodeFs.mkdirSync(path, { mode: mode ?? 0o777 });
  },
  renameSync: (from, to) => nodeFs.renameSync(from, to),
  unlinkSync: (path) => nodeFs.unlinkSync(path),
  rmdirSync: (path) => nodeFs.rmdirSync(path),
  realpathSync: (path) => nodeFs.realpathSync.native(path),
  linkSync: (existing, created) => nodeFs.linkSync(existing, created),
};
