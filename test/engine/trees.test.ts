/** Working trees of dead turns in a real repository: finished work is carried on, the rest is kept before it goes. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { booby, contents, sh, write } from "../platform/git-world.ts";
import {
  type Answer,
  atlas,
  buildPlugin,
  copyOf,
  fingerprint,
  ledgerLines,
  type Plugin,
  startHost,
} from "../support/adopted-world.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await buildPlugin();
});
afterAll(() => plugin.remove());

interface Project {
  readonly root: string;
  readonly id: string;
  readonly run: string;
  readonly adopted: string;
  readonly head: string;
}

/** A repository with one commit and a copy of a recorded world whose runs began at that commit. */
function project(world: string): Project {
  const root = tempFolder();
  sh(root, "init", "-q");
  write(root, "src/a.txt", "a\n");
  write(root, "src/gone.txt", "gone\n");
  write(root, "run.sh", "#!/bin/sh\n", 0o755);
  write(root, ".gitignore", "*.log\n.atlas/\n");
  sh(root, "add", "-A");
  sh(root, "commit", "-qm", "one");
  const head = sh(root, "rev-parse", "HEAD");
  copyOf(world, root);
  const id = world.startsWith("graph-") ? "sess-g" : "sess-a";
  const run = join(root, ".atlas", id);
  const state = JSON.parse(readFileSync(join(run, "state.json"), "utf8"));
  writeFileSync(join(run, "state.json"), JSON.stringify({ ...state, baseline_sha: head, verify_cmd: "" }, null, 2));
  return { root, id, run, adopted: join(run, "adopted"), head };
}

/** The tree an isolated turn of the original leaves: a commit of its own, staged, changed, new, deleted and ignored files. */
function deadTree(at: Project, name = "worktree", branch: string | null = `atlas/${at.id}`): string {
  const path = join(at.run, name);
  mkdirSync(dirname(path), { recursive: true });
  sh(at.root, "worktree", "add", "-q", ...(branch === null ? ["--detach"] : ["-b", branch]), path);
  write(path, "src/a.txt", "committed by the coder\n");
  sh(path, "commit", "-qam", "two");
  write(path, "src/a.txt", "staged\n");
  sh(path, "add", "src/a.txt");
  write(path, "src/a.txt", "half wri");
  write(path, "src/new é \n.bin", Buffer.from([0, 13, 10, 255]));
  write(path, "tool", "#!/bin/sh\n", 0o755);
  symlinkSync("src/a.txt", join(path, "link"));
  write(path, "noise.log", "ignored\n");
  rmSync(join(path, "src/gone.txt"));
  return path;
}

const resume = (at: Project, ...more: string[]) => atlas(plugin, at.root, ["resume", ...more]);
const refs = (at: Project) => sh(at.root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/atlas");
const keptRef = (at: Project, name = "worktree") => `refs/atlas/${at.id}/e1/kept/${name}/worktree`;

/** The files a commit holds, as `contents` gives those of a folder. */
function filesOf(at: Project, commit: string): Record<string, string> {
  const out = join(tempFolder(), "out");
  sh(at.root, "worktree", "add", "-q", "--detach", out, commit);
  const found = contents(out);
  sh(at.root, "worktree", "remove", "--force", out);
  return found;
}

function events(at: Project, ...types: string[]): readonly Answer[] {
  return ledgerLines(at.adopted).flatMap((line) => line.events.filter((event: Answer) => types.includes(event.type)));
}

/** Every foreign byte of the run but its trees. */
const foreign = (at: Project) => fingerprint(at.run, ["adopted", "worktree", "union-worktree"]);

describe("a single run whose writing slot is unfinished", () => {
  test.each([
    ["single-04-grounded", { do: "submit", slot: "plan" }],
    ["single-07-refine", { do: "dispatch", agents: [{ slot: "coder" }] }],
  ])("%s: its tree is kept whole under a ref, then removed, and twice is once", (world, next) => {
    const at = project(world);
    const path = deadTree(at);
    const { "noise.log": _ignored, ...expected } = contents(path);
    const [before, users] = [foreign(at), contents(at.root)];
    const own = sh(path, "rev-parse", "HEAD");

    const first = resume(at);
    expect(first).toMatchObject({ code: 0, json: { next } });
    expect(first.json.did).toContain(`keep-tree:worktree ${keptRef(at)}`);
    expect(existsSync(path)).toBe(false);
    expect(sh(at.root, "worktree", "list", "--porcelain")).not.toContain(path);
    expect(filesOf(at, keptRef(at))).toEqual(expected);
    expect(sh(at.root, "show", `${keptRef(at).replace(/worktree$/, "index")}:src/a.txt`)).toBe("staged");
    expect(sh(at.root, "merge-base", "--is-ancestor", own, keptRef(at))).toBe("");
    expect(sh(at.root, "log", "-1", "--format=%B", keptRef(at))).toContain('8 "noise.log"');
    expect(events(at, "tree-kept")).toMatchObject([{ name: "worktree", ignored: 1 }]);
    expect(foreign(at)).toEqual(before);
    expect(contents(at.root)).toEqual(users);

    const kept = refs(at);
    expect(resume(at)).toMatchObject({ code: 0, json: { did: ["reattached epoch 1"] } });
    expect(refs(at)).toBe(kept);
  });

  test("a tree whose folder is gone costs nothing and stops nothing", () => {
    const at = project("single-07-refine");
    const path = deadTree(at);
    rmSync(path, { recursive: true });
    expect(resume(at)).toMatchObject({ code: 0, json: { next: { do: "dispatch" } } });
    expect(refs(at)).toBe("");
  });
});

describe("a single run whose writing slot is recorded done", () => {
  test.each(["single-05-coded", "single-06-verified"])(
    "%s: its tree is the product, rebuilt byte for byte in our own, and the run goes on from there",
    (world) => {
      const at = project(world);
      const path = deadTree(at);
      const { "noise.log": _ignored, ...product } = contents(path);
      const users = contents(at.root);
      const { code, json } = resume(at);
      expect(code).toBe(0);
      const ours = join(at.adopted, "worktree", "e1.1");
      expect(contents(ours)).toEqual(product);
      expect(sh(ours, "rev-parse", "HEAD")).toBe(at.head);
      expect(existsSync(path)).toBe(false);
      expect(filesOf(at, keptRef(at))).toEqual(product);
      expect(contents(at.root)).toEqual(users);
      expect(json.run.stage).toBe(world.endsWith("coded") ? "CODED" : "VERIFIED");
      if (world === "single-06-verified") expect(json.next).toMatchObject({ do: "ask", gate: "output" });
      const again = resume(at);
      expect(again.json).toMatchObject({ did: ["reattached epoch 1"], next: json.next });
      expect(contents(ours)).toEqual(product);
    },
  );

  test("what is verified is that tree, against the run's baseline", () => {
    const at = project("single-05-coded");
    deadTree(at);
    const { json } = resume(at);
    expect(json.next.agents.map((agent: Answer) => agent.slot)).toEqual(["correctness", "code-quality", "security"]);
    const ours = join(at.adopted, "worktree", "e1.1");
    for (const { packet } of json.next.agents) {
      expect(readFileSync(packet, "utf8").split("\n")[1]).toContain(JSON.stringify(ours));
    }
    const name = readdirSync(join(at.adopted, "artifacts")).find((file) => file.startsWith("evidence.0.")) as string;
    const { tree } = JSON.parse(readFileSync(join(at.adopted, "artifacts", name), "utf8"));
    expect(tree.before).toBe(sh(at.root, "rev-parse", "HEAD^{tree}"));
    expect(tree.coded).toBe(sh(at.root, "rev-parse", `${keptRef(at)}^{tree}`));
    expect(tree.built).toBe(tree.coded);
  });

  test.each(["verify_cmd", "damaged"])("it stays the product where something is asked first (%s)", (asked) => {
    const at = project(asked === "damaged" ? "single-05-coded" : "single-08-coded");
    const path = deadTree(at);
    const { "noise.log": _ignored, ...product } = contents(path);
    const file = join(at.run, "state.json");
    const state = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, asked === "damaged" ? "" : JSON.stringify({ ...state, verify_cmd: "npm test" }));
    const { json } = resume(at);
    if (asked === "damaged") {
      expect(json.next).toMatchObject({ do: "submit", slot: "packet" });
      const packet = { intent: "x", success_criteria: ["y"], scope_paths: ["src"], baseline: at.head };
      writeFileSync(json.next.result, JSON.stringify(packet));
      expect(atlas(plugin, at.root, json.next.then.split(" ").slice(1)).code).toBe(0);
    } else {
      expect(json.next).toMatchObject({ do: "ask", gate: "approve-command" });
      typed(at, json.next.nonce, "approve");
      const answer = json.next.then.replace("CHOICE", "approve").split(" ").slice(1);
      expect(atlas(plugin, at.root, answer)).toMatchObject({ code: 0, json: { next: { do: "run" } } });
    }
    expect(contents(join(at.adopted, "worktree", "e1.1"))).toEqual(product);
  });

  test("adopted anew after its files changed, it is still the product: what was kept is what is rebuilt", () => {
    const at = project("single-05-coded");
    const path = deadTree(at);
    const { "noise.log": _ignored, ...product } = contents(path);
    resume(at);
    appendFileSync(join(at.run, "log.jsonl"), "\n");
    const { fix } = resume(at, "--readopt").json.refused;
    typed(at, fix.split(" ")[1], "readopt");
    expect(resume(at, "--readopt")).toMatchObject({ code: 0, json: { epoch: 1, run: { stage: "CODED" } } });
    expect(contents(join(at.adopted, "worktree", "e1.1"))).toEqual(product);
    const aside = readdirSync(at.run).find((name) => name.startsWith("adopted.")) as string;
    expect(contents(join(at.run, aside, "worktree", "e1.1"))).toMatchObject(product);
  });

  test("a baseline that is gone does not cost the product", () => {
    const at = project("single-05-coded");
    const path = deadTree(at);
    const { "noise.log": _ignored, ...product } = contents(path);
    const file = join(at.run, "state.json");
    writeFileSync(file, readFileSync(file, "utf8").replace(at.head, "0123456789012345678901234567890123456789"));
    expect(resume(at).code).toBe(0);
    expect(contents(join(at.adopted, "worktree", "e1.1"))).toEqual(product);
  });
});

/** As the hook records what the human typed. */
function typed(at: Project, nonce: string, choice: string): void {
  writeFileSync(
    join(at.adopted, "observed.jsonl"),
    `\n${JSON.stringify({ v: 1, type: "typed", nonce, choice, host: "claude", session: "s" })}\n`,
  );
}

test("a graph run's trees, its nodes' and the union's, are kept and removed; nothing is handed out", () => {
  const at = project("graph-003-nodes");
  const paths = [
    deadTree(at, "tasks/n0/worktree", "atlas/sess-g/tasks/n0"),
    deadTree(at, "tasks/n1/worktree", null),
    deadTree(at, "union-worktree", null),
  ];
  const { "noise.log": _ignored, ...expected } = contents(paths[0] as string);
  const before = foreign(at);
  const { code, json } = resume(at);
  expect({ code, next: json.next }).toEqual({ code: 0, next: { do: "nothing", why: "weave.not-yet" } });
  for (const path of paths) expect(existsSync(path)).toBe(false);
  for (const name of ["tasks-n0-worktree", "tasks-n1-worktree", "union-worktree"]) {
    expect(filesOf(at, keptRef(at, name))).toEqual(expected);
  }
  expect(foreign(at)).toEqual(before);
  expect(resume(at).json.did).toEqual(["reattached epoch 1"]);
});

describe("what is not provably the dead turn's own is reported and never changed", () => {
  const strange: Readonly<Record<string, (at: Project) => string>> = {
    "a plain folder": (at) => {
      write(at.run, "worktree/notes.txt", "mine\n");
      return "tree.unregistered-folder";
    },
    "a tree on a branch of the user's": (at) => {
      deadTree(at, "worktree", "feature");
      return "tree.other_branch";
    },
    "a tree of another repository": (at) => {
      const other = project("single-01-init");
      sh(other.root, "worktree", "add", "-q", "-b", "atlas/sess-a", join(at.run, "worktree"));
      return "tree.foreign";
    },
    "a repository of its own": (at) => {
      mkdirSync(join(at.run, "worktree"));
      sh(join(at.run, "worktree"), "init", "-q");
      return "tree.foreign";
    },
    "a link to a tree of the user's": (at) => {
      const elsewhere = join(tempFolder(), "users");
      sh(at.root, "worktree", "add", "-q", "--detach", elsewhere);
      symlinkSync(elsewhere, join(at.run, "worktree"));
      return "tree.foreign";
    },
    "a locked tree": (at) => {
      sh(at.root, "worktree", "lock", "--reason", "mine", deadTree(at));
      return "tree.locked";
    },
    "a file": (at) => {
      writeFileSync(join(at.run, "worktree"), "");
      return "tree.not-a-worktree";
    },
  };

  test.each(Object.keys(strange))("%s", (name) => {
    const at = project("single-07-refine");
    const why = (strange[name] as (at: Project) => string)(at);
    const before = fingerprint(at.root, ["adopted", ".git", ".turns"]);
    const listed = sh(at.root, "worktree", "list", "--porcelain");
    const { code, json } = resume(at);
    expect(code).toBe(0);
    expect(json.did).toContain(`keep-tree:worktree left (${why})`);
    expect(json.next).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
    expect(events(at, "tree-left")).toMatchObject([{ name: "worktree", why }]);
    expect(fingerprint(at.root, ["adopted", ".git", ".turns"])).toEqual(before);
    expect(sh(at.root, "worktree", "list", "--porcelain")).toBe(listed);
    expect(refs(at)).toBe("");
    expect(resume(at).json.did).toEqual(["reattached epoch 1"]);
  });

  test("outside git too", () => {
    const root = copyOf("single-07-refine");
    write(root, ".atlas/sess-a/worktree/notes.txt", "mine\n");
    const { code, json } = atlas(plugin, root, ["resume"]);
    expect(code).toBe(0);
    expect(json.did).toContain("keep-tree:worktree left (tree.no_git)");
    expect(readFileSync(join(root, ".atlas/sess-a/worktree/notes.txt"), "utf8")).toBe("mine\n");
  });

  test("finished work that may not be touched is never judged from something else: UNVERIFIED, and why", () => {
    const at = project("single-05-coded");
    write(at.run, "worktree/notes.txt", "mine\n");
    const { code, json } = resume(at);
    expect(code).toBe(0);
    expect(json.next).toMatchObject({ do: "ask", gate: "output" });
    expect(events(at, "labelled")).toMatchObject([{ label: "UNVERIFIED", reasons: ["product.left"] }]);
    expect(readFileSync(join(at.run, "worktree/notes.txt"), "utf8")).toBe("mine\n");
  });

  test("finished work in a locked tree is carried on, and the tree stays as it is", () => {
    const at = project("single-05-coded");
    const path = deadTree(at);
    sh(at.root, "worktree", "lock", path);
    const before = contents(path);
    const { json } = resume(at);
    expect(json.did).toContain("remove-tree:worktree left (locked)");
    const { "noise.log": _ignored, ...product } = before;
    expect(contents(join(at.adopted, "worktree", "e1.1"))).toEqual(product);
    expect(contents(path)).toEqual(before);
  });

  test.each(["nested repository", "dirty submodule"])(
    "a %s inside keeps its tree: kept, not removed, reported",
    (kind) => {
      const at = project("single-07-refine");
      const path = deadTree(at);
      if (kind === "nested repository") {
        sh(path, "init", "-q", "vendor/inner");
        write(path, "vendor/inner/work.txt", "uncommitted\n");
      } else {
        const library = project("single-01-init").root;
        sh(path, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "vendor/inner");
        sh(path, "commit", "-qm", "a submodule");
        write(path, "vendor/inner/src/a.txt", "dirty\n");
      }
      const before = fingerprint(path);
      const { code, json } = resume(at);
      expect(code).toBe(0);
      expect(json.did).toContain("remove-tree:worktree left (it holds other repositories)");
      expect(json.next).toMatchObject({ do: "dispatch" });
      expect(fingerprint(path)).toEqual(before);
      expect(filesOf(at, keptRef(at))["src/a.txt"]).toBe("- half wri");
      expect(resume(at).json.did).toEqual(["reattached epoch 1"]);
    },
  );
});

test.each(["single-05-coded", "single-07-refine"])(
  "keeping and importing run no code the repository configures (%s)",
  (world) => {
    const at = project(world);
    const path = deadTree(at);
    const witness = booby(at.root, join(at.root, ".git"));
    cpSync(join(at.root, ".gitattributes"), join(path, ".gitattributes"));
    const { code, json } = resume(at);
    expect(code).toBe(0);
    expect(json.did).toContain(`keep-tree:worktree ${keptRef(at)}`);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(witness) ? readFileSync(witness, "utf8") : "").toBe("");
  },
);

/** A git that ends whoever calls it for the `at`-th time, before that call does anything. */
function deadlyGit(at: number): { readonly env: Readonly<Record<string, string>>; readonly calls: () => number } {
  const folder = tempFolder();
  const real = (process.env.PATH ?? "").split(":").find((path) => existsSync(join(path, "git")));
  const count = join(folder, "count");
  writeFileSync(count, "");
  const script = `#!/bin/sh\necho >> '${count}'\n[ $(wc -l < '${count}') -eq ${at} ] && kill -9 $PPID && exit 1\nexec '${real}/git' "$@"\n`;
  write(folder, "bin/git", script, 0o755);
  return {
    env: { PATH: `${join(folder, "bin")}:${process.env.PATH}` },
    calls: () => readFileSync(count, "utf8").length,
  };
}

test("killed at any of its git calls, an import is finished by the next resume as if nothing had been", () => {
  const killedAt = (call: number): { calls: number; seen: Answer } => {
    const at = project("single-05-coded");
    const path = deadTree(at);
    const deadly = deadlyGit(call);
    const killed = atlas(plugin, at.root, ["resume"], deadly.env);
    expect(killed.code).toBe(call === 0 ? 0 : null);
    const calls = deadly.calls();
    const { code, json } = resume(at);
    expect({ call, code, json }).toMatchObject({ call, code: 0 });
    const seen = {
      tree: contents(join(at.adopted, "worktree", "e1.1")),
      kept: filesOf(at, keptRef(at)),
      refs: refs(at).split("\n").length,
      trees: sh(at.root, "worktree", "list").split("\n").length,
      left: [existsSync(path), ...readdirSync(join(at.adopted, "worktree"))],
      stage: json.run.stage,
      slots: json.next.agents.map((agent: Answer) => agent.slot),
      kinds: events(at, "tree-kept", "tree-removed", "tree-ready", "tree-left", "leased").map(({ type }) => type),
    };
    return { calls, seen };
  };
  const { calls, seen } = killedAt(0);
  expect(seen.left).toEqual([false, "e1.1"]);
  const step = Math.ceil(calls / 8);
  for (let call = step; call <= calls; call += step)
    expect({ call, seen: killedAt(call).seen }).toEqual({ call, seen });
});

describe("a run of our own", () => {
  const packet = {
    intent: "make it so",
    success_criteria: ["it is so"],
    scope_paths: ["src"],
    verify_cmd: "",
    invocation_form: "headless",
  };

  interface OwnRun {
    readonly root: string;
    readonly id: string;
    readonly next: Answer;
    readonly tree: string;
    readonly host: Awaited<ReturnType<typeof startHost>>;
  }

  /** A headless run of a living host, led to the coder's dispatch. */
  async function coding(): Promise<OwnRun> {
    const root = tempFolder();
    sh(root, "init", "-q");
    write(root, "src/a.txt", "a\n");
    write(root, ".gitignore", "*.log\n");
    sh(root, "add", "-A");
    sh(root, "commit", "-qm", "one");
    const out = tempFolder();
    write(out, "packet.json", JSON.stringify(packet));
    const host = await startHost(plugin, root);
    let { json } = await host.run(["start", "change", "--packet", join(out, "packet.json"), "--headless"]);
    const { id } = json.run;
    const digest = {
      repo_mode: "small",
      relevant_files: [],
      conventions: [],
      constraints: [],
      entry_points: [],
      conflicts: [],
      untrusted_excerpts: [],
    };
    const answers: Readonly<Record<string, string>> = {
      triage: '{"archetype": "feature"}',
      scout: JSON.stringify(digest),
      plan: "# Plan\n",
    };
    while (json.next.do === "submit" || json.next.agents?.[0].slot === "scout") {
      const slot = json.next.slot ?? json.next.agents[0].slot;
      write(out, slot, answers[slot] as string);
      const submit = ["submit", "--run", id, "--claim", json.claim, "--slot", slot, "--file", join(out, slot)];
      json = (await host.run(submit)).json;
    }
    expect(json.next).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
    return { root, id, next: json.next, tree: join(root, ".atlas", id, "worktree", "e1.1"), host };
  }

  const named = (run: OwnRun, ref: string) => sh(run.root, "show", `${ref}`);

  test("killed while its coder writes: the half is kept whole, the tree is made anew, the old path is gone", async () => {
    const run = await coding();
    write(run.tree, "src/a.txt", "half wri");
    write(run.tree, "src/new.txt", "untracked\n");
    write(run.tree, "noise.log", "ignored\n");
    await run.host.kill();

    const { code, json } = atlas(plugin, run.root, ["resume"]);
    expect(code).toBe(0);
    const [agent] = json.next.agents;
    expect(agent).toMatchObject({ slot: "coder", lease: "coder#2@2" });
    const fresh = join(run.root, ".atlas", run.id, "worktree", "e2.1");
    expect(readFileSync(agent.packet, "utf8").split("\n")[1]).toContain(JSON.stringify(fresh));
    expect(contents(fresh)).toEqual({ ".gitignore": "- *.log\n", "src/a.txt": "- a\n" });
    expect(readdirSync(dirname(fresh))).toEqual(["e2.1"]);
    const ref = `refs/atlas/${run.id}/e2/kept/e1-1/worktree`;
    expect(sh(run.root, "for-each-ref", "--format=%(refname)", "refs/atlas")).toBe(ref);
    expect([named(run, `${ref}:src/a.txt`), named(run, `${ref}:src/new.txt`)]).toEqual(["half wri", "untracked"]);
    expect(contents(run.root)).toEqual({ ".gitignore": "- *.log\n", "src/a.txt": "- a\n" });

    // The dead coder's late answer finds neither its lease nor its claim.
    writeFileSync(run.next.agents[0].result, "done\nSTATUS: COMPLETE\n");
    const late = atlas(plugin, run.root, run.next.then.split(" ").slice(1));
    expect(late).toMatchObject({ code: 3, json: { refused: { code: "claim.stale" } } });
    const again = atlas(plugin, run.root, ["resume"]).json;
    expect(again.did).toEqual(["reattached epoch 2"]);
    expect(again.next.agents).toMatchObject([{ lease: "coder#2@2" }]);
  });

  test("killed in turn again and again: every half is kept under its own epoch, and gas and trees are counted on", async () => {
    const run = await coding();
    const { root, id } = run;
    await run.host.kill();
    for (const epoch of [2, 3]) {
      write(root, `.atlas/${id}/worktree/e${epoch - 1}.1/src/a.txt`, `half of epoch ${epoch - 1}\n`);
      const host = await startHost(plugin, root);
      const { json } = await host.run(["resume"]);
      expect(json).toMatchObject({ epoch, next: { agents: [{ lease: `coder#${epoch}@${epoch}` }] } });
      await host.kill();
      const ref = `refs/atlas/${id}/e${epoch}/kept/e${epoch - 1}-1/worktree`;
      expect(named(run, `${ref}:src/a.txt`)).toBe(`half of epoch ${epoch - 1}`);
    }
    expect(readdirSync(join(root, ".atlas", id, "worktree"))).toEqual(["e3.1"]);
  });

  test("killed after CODED: the tree is the product, and nobody touches it", async () => {
    const run = await coding();
    write(run.tree, "src/a.txt", "the work\n");
    write(run.tree, "src/new.txt", "new\n");
    write(run.tree, "noise.log", "ignored\n");
    writeFileSync(run.next.agents[0].result, "done\nSTATUS: COMPLETE\n");
    const told = await run.host.run(run.next.then.split(" ").slice(1));
    expect(told.json.run.stage).toBe("CODED");
    const before = fingerprint(run.tree);
    await run.host.kill();
    const { json } = atlas(plugin, run.root, ["resume"]);
    expect(json).toMatchObject({ epoch: 2, run: { stage: "CODED" } });
    expect(json.next.agents.map((agent: Answer) => agent.lease)).toEqual([
      "correctness#2@2",
      "code-quality#2@2",
      "security#2@2",
    ]);
    expect(fingerprint(run.tree)).toEqual(before);
    expect(sh(run.root, "for-each-ref", "refs/atlas")).toBe("");
  });

  test("killed between its coder's last word and the hand-in: the result is taken, the tree stays the product", async () => {
    const run = await coding();
    write(run.tree, "src/a.txt", "the work\n");
    writeFileSync(run.next.agents[0].result, "done\nSTATUS: COMPLETE\n");
    await run.host.kill();
    const before = fingerprint(run.tree);
    const { json } = atlas(plugin, run.root, ["resume"]);
    expect(json).toMatchObject({ epoch: 2, run: { stage: "CODED" } });
    expect(json.did).toContain("took coder#1@1");
    expect(fingerprint(run.tree)).toEqual(before);
  });

  test("a half-written tree that cannot be told apart from the user's is left, and the coder works in a new one", async () => {
    const run = await coding();
    sh(run.root, "worktree", "lock", "--reason", "mine", run.tree);
    write(run.tree, "src/a.txt", "half wri");
    await run.host.kill();
    const before = contents(run.tree);
    const { code, json } = atlas(plugin, run.root, ["resume"]);
    expect(code).toBe(0);
    expect(json.did).toContain("keep-tree:e1.1 left (tree.locked)");
    expect(json.next.agents[0].lease).toBe("coder#2@2");
    expect(contents(run.tree)).toEqual(before);
  });
});
