/** A project with one of everything that git can hold, and a change of each: what is written must be exactly this. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Agent, signed } from "./scripted-agents.ts";
import { gitIn, type World } from "./scripted-run.ts";

const binary = Buffer.from([0, 255, 13, 10, 10, 0, 128, 1]);

/** Commits the kinds of files a change can touch, beside what the world has. */
export function addOneOfEach({ project }: World): void {
  const put = (path: string, bytes: string | Buffer) => {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), bytes);
  };
  put("kinds/binary.dat", Buffer.concat([binary, binary]));
  put("kinds/windows.txt", "one\r\ntwo\r\n");
  put("kinds/run.sh", "#!/bin/sh\n");
  put("kinds/old name.txt", "moved as it is\n");
  put("kinds/gone.txt", "deleted\n");
  put("kinds/lonely/gone.txt", "deleted with its folder\n");
  put("kinds/file-then-folder", "a file\n");
  put("kinds/folder-then-file/inner.txt", "in a folder\n");
  put("kinds/file-then-link", "a file\n");
  put("kinds/same.txt", "nobody touches it\n");
  symlinkSync("same.txt", join(project, "kinds", "link"));
  gitIn(project, "-c", "core.autocrlf=false", "add", "-A");
  gitIn(project, "commit", "-qm", "kinds");
}

/** Changes each of them in the tree it is given. */
export const changingEach: Agent = (work) => {
  const at = (path: string) => join(work.root, "kinds", path);
  writeFileSync(join(work.root, "src", "add.js"), "module.exports = (a, b) => a + b;\n");
  writeFileSync(at("binary.dat"), Buffer.concat([binary, Buffer.from([7]), binary]));
  writeFileSync(at("windows.txt"), "one\r\nthree\r\n");
  chmodSync(at("run.sh"), 0o755);
  mkdirSync(at("new/deep"), { recursive: true });
  renameSync(at("old name.txt"), at("new/deep/näme.txt"));
  rmSync(at("gone.txt"));
  rmSync(at("lonely"), { recursive: true });
  rmSync(at("file-then-folder"));
  mkdirSync(at("file-then-folder"));
  writeFileSync(at("file-then-folder/inner.txt"), "in a folder now\n");
  rmSync(at("folder-then-file"), { recursive: true });
  writeFileSync(at("folder-then-file"), "a file now\n");
  rmSync(at("file-then-link"));
  symlinkSync("same.txt", at("file-then-link"));
  rmSync(at("link"));
  symlinkSync("../src/add.js", at("link"));
  return signed(work, "done\nSTATUS: COMPLETE");
};

/** Every file and link below `root` with its mode and bytes; git's own and the runs apart. */
export function bytesBelow(root: string, folder = ""): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(root, folder)).sort()) {
    if (folder === "" && (name === ".git" || name === ".atlas")) continue;
    const path = folder === "" ? name : `${folder}/${name}`;
    const stat = lstatSync(join(root, path));
    if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(join(root, path))}`;
    else if (stat.isDirectory()) Object.assign(found, { [path]: "folder" }, bytesBelow(root, path));
    else found[path] = `${(stat.mode & 0o111) === 0 ? "plain" : "runs"} ${hash(readFileSync(join(root, path)))}`;
  }
  return found;
}

function hash(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
