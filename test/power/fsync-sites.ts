/** Where the product calls fsync, told by the stack: the place that asked, through the helpers that do it for many. */
import type { FileSystem } from "../../scripts/platform/fs.ts";

/** Files whose functions sync for whoever calls them. */
const helpers = /^platform\/(files|borrowed|copy-folder)\.ts$/;

/** `engine/birth.ts:64 files.ts:201`: the asking place first, then the helpers' own, outermost first. */
export function siteOfCall(stack: string): string {
  const way: string[] = [];
  for (const line of stack.split("\n")) {
    const [, path, at] =
      /scripts\/((?:core|parts|verify|platform|kinds|engine|hosts|verbs)\/[\w-]+\.ts)(?:\?[^:]*)?:(\d+):/.exec(line) ??
      [];
    if (path === undefined || path === "platform/fs.ts") continue;
    if (way[0] !== `${path}:${at}`) way.unshift(`${path}:${at}`);
    if (!helpers.test(path)) break;
  }
  return way.join(" ");
}

/** `fs`, whose fsyncs at one place do nothing; `met` is told of each place. */
export function withoutSync(fs: FileSystem, site: string | null, met: (here: string) => void): FileSystem {
  return {
    ...fs,
    fsyncSync(fd) {
      const limit = Error.stackTraceLimit;
      Error.stackTraceLimit = 30;
      const here = siteOfCall(new Error("a look at the stack").stack ?? "");
      Error.stackTraceLimit = limit;
      met(here);
      if (here !== site) fs.fsyncSync(fd);
    },
  };
}
