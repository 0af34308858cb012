/** Memory that is reserved and never touched is not used: what is watched is what lies in the machine's memory. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundlePerformer, perform, stage } from "../support/performances.ts";

let script: string;
let remove: () => void;
beforeAll(async () => {
  ({ script, remove } = await bundlePerformer());
});
afterAll(() => remove());

const memoryBytes = 400_000_000;
/** Waits for several looks of the watchdog, at the height of its memory. */
const stay = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);";
const node = (program: string) => `'${process.execPath}' -e '${program} ${stay} console.log("whole")'`;

test("V-22: gigabytes that are only reserved, as every WebAssembly memory does, end no command", async () => {
  const program = `const virtual = () => Number(/VmSize:\\s+(\\d+)/.exec(require("fs").readFileSync("/proc/self/status", "utf8"))[1]);
    const many = [1, 2, 3].map(() => new WebAssembly.Memory({ initial: 1 }));
    if (virtual() * 1024 < 5 * ${memoryBytes}) throw new Error("nothing was reserved");`;
  const result = await perform(script, stage(node(program), { memoryBytes }));
  expect(result.log.tail).toBe("whole\n");
  expect(result).toMatchObject({ ending: "exited", code: 0 });
  expect(result.peakBytes).toBeLessThan(memoryBytes);
});

test("V-22: as much memory, once it is touched, ends the command", async () => {
  const program = `const many = [1, 2, 3].map(() => Buffer.alloc(${memoryBytes / 2}, 1));`;
  const result = await perform(script, stage(node(program), { memoryBytes }));
  expect(result).toMatchObject({ ending: "memory", limitBytes: memoryBytes });
  expect(result.log.tail).toBe("");
});
