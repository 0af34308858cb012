import { describe, expect, test } from "vitest";
import { liveness, type Owner } from "../../scripts/core/owner.ts";
import { treeKill } from "../../scripts/platform/gated-command.ts";
import { isPerformerAlive } from "../../scripts/platform/performer-client.ts";
import { parsePsTable } from "../../scripts/platform/process-table.ts";
import { hostProcess, identityOf, livingStart } from "../../scripts/platform/processes.ts";
import {
  parseWindowsTable,
  processesElsewhere,
  type Ran,
  type RunProgram,
} from "../../scripts/platform/processes-elsewhere.ts";

const nothing: Ran = { status: 1, stdout: "" };

/** What `ps -o ppid=,stat=,lstart=,command=` prints on macOS, a process each. */
const mac: Readonly<Record<number, string>> = {
  501: '  480 S    Mon Nov 30 19:00:01 2026     /bin/sh -c true || "%CLAUDE_PLUGIN_ROOT%"\n',
  480: "  470 S+   Mon Nov 30 18:58:40 2026     claude --model opus \n",
  470: "    1 Ss   Mon Nov 30 08:01:02 2026     -zsh\n",
  502: "  480 Z    Mon Nov 30 19:00:02 2026     (node)\n",
};

function macProcesses(
  ps: (pid: number) => Ran = (pid) => (mac[pid] === undefined ? nothing : { status: 0, stdout: mac[pid] }),
) {
  const calls: string[][] = [];
  const run: RunProgram = (program, args) => {
    calls.push([program, ...args]);
    if (program === "ps") return ps(Number(args.at(-1)));
    const known: Record<string, string> = { "kern.uuid": "8F1C-77\n", "kern.bootsessionuuid": "4B2D-01\n" };
    return { status: 0, stdout: known[args.at(-1) ?? ""] ?? "" };
  };
  return { processes: processesElsewhere("darwin", run), calls };
}

const windowsTable = [
  "0|0||System Idle Process|",
  "4|0|639000000000000001|System|",
  '6120|5000|639000000120000002|claude.exe|"C:\\Program Files\\claude\\claude.exe" --resume "a b"',
  "6200|6120|639000000130000003|bash.exe|bash -c true",
  "6300|6200|639000000140000004|node.exe|node C:\\atlas\\dist\\atlas.cjs hook",
  "second line of a command line",
  "end",
].join("\r\n");

function windowsProcesses(answers: Ran[]) {
  let calls = 0;
  const run: RunProgram = () => {
    calls += 1;
    return answers.shift() ?? { status: 0, stdout: windowsTable };
  };
  return { processes: processesElsewhere("win32", run), calls: () => calls };
}

describe("macOS", () => {
  test("a process is told by pid and start, its host is the ancestor that is no shell", () => {
    const { processes } = macProcesses();
    expect(processes.look(480)).toEqual({
      pid: 480,
      parent: 470,
      start: "Mon Nov 30 18:58:40 2026",
      name: "claude",
      argv: ["claude", "--model", "opus"],
      dead: false,
    });
    expect(processes.look(502)?.dead).toBe(true);
    expect(hostProcess(processes, 501, undefined)?.pid).toBe(480);
    expect(identityOf(processes, 480)).toMatchObject({ boot: "4B2D-01", namespace: null, pid: 480 });
    expect(processes.place.machine).toMatch(/^[0-9a-f]{64}$/);
  });

  test("machine and boot are asked once", () => {
    const { processes, calls } = macProcesses();
    for (let time = 0; time < 3; time += 1) void processes.place;
    expect(calls.map((words) => words.at(-1))).toEqual(["kern.uuid", "kern.bootsessionuuid"]);
  });

  test("an owner is gone when ps knows no such pid, or another start; a zombie is gone", () => {
    const { processes } = macProcesses();
    const owner = { ...identityOf(processes, 480), host: "claude", session: "s" } as Owner;
    const seen = (meant: Owner) =>
      liveness(meant, { here: processes.place, startOfPid: livingStart(processes, meant.pid), exclusive: false });
    expect(seen(owner)).toBe("alive");
    expect(seen({ ...owner, start: "Mon Nov 30 18:58:41 2026" })).toBe("gone");
    expect(seen({ ...owner, pid: 999 })).toBe("gone");
    expect(seen({ ...owner, pid: 502 })).toBe("gone");
  });

  test.each([
    ["cannot be started", { status: null, stdout: "" }],
    ["does not end in time", { status: null, stdout: "  480 S" }],
    ["fails with words", { status: 1, stdout: "ps: illegal option\n" }],
    ["fails in another way", { status: 2, stdout: "" }],
    ["says nothing and succeeds", { status: 0, stdout: "" }],
    ["prints another form", { status: 0, stdout: "480 470 S 18:58 claude\n" }],
  ])("a ps that %s proves nobody gone, and no host", (_name, ran) => {
    const whole = macProcesses().processes;
    const owner = { ...identityOf(whole, 480), host: "claude", session: "s" } as Owner;
    const { processes } = macProcesses(() => ran);
    const startOfPid = livingStart(processes, 480);
    expect(startOfPid).toBe("");
    expect(liveness(owner, { here: processes.place, startOfPid, exclusive: false })).toBe("alive");
    expect(isPerformerAlive(processes, owner)).toBe(true);
    expect(identityOf(processes, 480)).toBeNull();
    expect(hostProcess(processes, 501, "480")).toBeNull();
  });

  test("an owner whose start was never told counts as alive while its pid is taken, and as gone without", () => {
    const { processes } = macProcesses();
    for (const start of [null, ""]) {
      const owner: Owner = { ...processes.place, pid: 480, start, host: "claude", session: "s" };
      const at = (pid: number) => ({
        here: processes.place,
        startOfPid: livingStart(processes, pid),
        exclusive: false,
      });
      expect(liveness(owner, at(480))).toBe("alive");
      expect(liveness({ ...owner, pid: 999 }, at(999))).toBe("gone");
    }
  });

  test("the table of a command's processes names the same starts as a look at one", () => {
    const rows = parsePsTable("  480   470   480 S+   Mon Nov 30 18:58:40 2026    \nodd\n");
    expect(rows).toMatchObject([{ pid: 480, group: 480, start: macProcesses().processes.look(480)?.start }]);
  });
});

describe("Windows", () => {
  test("one query answers a whole walk, and names the host", () => {
    const { processes, calls } = windowsProcesses([]);
    expect(hostProcess(processes, 6300, undefined)).toEqual({
      pid: 6120,
      parent: 5000,
      start: "639000000120000002",
      name: "claude.exe",
      argv: ["C:\\Program Files\\claude\\claude.exe", "--resume", "a b"],
      dead: false,
    });
    expect(calls()).toBe(1);
  });

  test("a pid that is not in the table is asked for once more before it is gone", () => {
    const later = windowsTable.replace("end", "7000|6300|639000000150000005|node.exe|node performer\r\nend");
    const { processes, calls } = windowsProcesses([
      { status: 0, stdout: windowsTable },
      { status: 0, stdout: later },
    ]);
    expect(processes.look(6120)?.name).toBe("claude.exe");
    expect(processes.look(7000)?.start).toBe("639000000150000005");
    expect(calls()).toBe(2);
    expect(processes.look(8000)).toBeNull();
  });

  test.each([
    ["cannot be started", { status: null, stdout: "" }],
    ["fails", { status: 1, stdout: windowsTable }],
    ["is cut off in the middle", { status: 0, stdout: windowsTable.slice(0, 200) }],
    ["lists nothing", { status: 0, stdout: "end\r\n" }],
  ])("a PowerShell that %s proves nobody gone", (_name, ran) => {
    const { processes } = windowsProcesses([ran, ran, ran]);
    expect(livingStart(processes, 6120)).toBe("");
    expect(hostProcess(processes, 6300, "6120")).toBeNull();
  });

  test("an owner counts as alive for others, and as ourselves for its own process", () => {
    const { processes } = windowsProcesses([]);
    const owner = { ...identityOf(processes, 6120), host: "kimi", session: "s" } as Owner;
    const here = { ...processes.place, pid: 6120, start: owner.start };
    expect(liveness(owner, { here, startOfPid: owner.start, exclusive: false })).toBe("ourselves");
    const other = { ...processes.place, pid: 9, start: "1" };
    expect(liveness(owner, { here: other, startOfPid: null, exclusive: false })).toBe("alive");
  });

  test("a row that is no row is left out", () => {
    expect(parseWindowsTable("x|y|z\r\n5|4|7|a.exe|\r\nend\r\n")?.get(5)).toMatchObject({ parent: 4, start: "7" });
    expect(parseWindowsTable("")).toBeNull();
  });

  test("a command is ended with all it started", () => {
    expect(treeKill(42)).toEqual(["/pid", "42", "/t", "/f"]);
  });
});
