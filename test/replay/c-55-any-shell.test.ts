import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { commandsIn, isSimpleCommand, markdownBelow, page } from "../support/prose.ts";
import { handedOut, seat, shipped } from "../support/replay.ts";

const product = shipped();

const shells = ["sh", "dash", "bash", "zsh", "ksh", "fish", "busybox", "pwsh"].flatMap((name) => {
  const found = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync);
  return found === undefined ? [] : [[name, found] as const];
});

test("C-55: every command of a skill, and every one the program prints, is one plain call and the same in any shell", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const told = await handedOut(session, "scout");
  const refused = await session.run("resume", "--run", "nobody");
  const printed = [...told.stdout.matchAll(/"(?:then|command|lost|fix)":"(atlas [^"]+)"/g)].map(
    ([, command]) => command as string,
  );
  const written = [...markdownBelow("skills"), ...markdownBelow("references")].flatMap((path) =>
    commandsIn(page(path).body),
  );
  const ours = written.filter((command) => command.startsWith("atlas "));
  expect([printed.length > 1, ours.length > 3, shells.length > 2]).toEqual([true, true, true]);
  const commands = [...new Set([...printed, ...ours, refused.refused.fix])];
  for (const command of commands) expect(isSimpleCommand(command), command).toBe(true);

  const bin = join(dirname(world.project), "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "atlas"), '#!/bin/sh\nprintf "%s\\n" atlas "$@"\necho .\n');
  chmodSync(join(bin, "atlas"), 0o755);
  for (const [name, shell] of shells) {
    const words = name === "busybox" ? ["sh", "-c"] : ["-c"];
    const done = spawnSync(shell, [...words, commands.join("\n")], {
      cwd: world.project,
      env: { PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: bin },
      encoding: "utf8",
    });
    const heard = done.stdout
      .split("\n.\n")
      .slice(0, -1)
      .map((text) => text.split("\n").join(" "));
    expect([name, heard, done.stderr]).toEqual([name, commands, ""]);
  }
});
