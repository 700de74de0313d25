import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { CLOSED_OUTLET } from "../../src/core/outlet.ts";
import { Box, type BoxPlan } from "../../src/sandbox/box.ts";
import type { Opened as Made } from "../../src/session/docker-provider.ts";
import { keepNothing } from "../../src/session/guarding.ts";
import { type OpenOptions, openSandbox, type Place, placeWith } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

const isRoot = process.getuid?.() === 0;
const SECRET = "s3cret-value-of-nobody";
const ENCODED = Buffer.from(SECRET).toString("base64").slice(0, 12);

describe("a hidden path", () => {
  const HIDDEN = { hidden: ["**/.env", "secrets"] };
  const FILES = { ".env": SECRET, "app/.env": SECRET, "secrets/key": SECRET, "app/open.txt": "open-value" };

  it("FS-36 is read by no program and no encoding, and what is beside it is", async () => {
    await using place = await placeWith(FILES);
    await using opened = await openSandbox(place.root, { protect: HIDDEN });
    const command = `
      cat .env app/.env secrets/* $PWD/app/../.env; base64 .env app/.env; od -c .env; grep -r . . ; find . -type f -exec cat {} +
      tar cf - . | strings; cp -a . /tmp/copy && cat /tmp/copy/.env /tmp/copy/secrets/*; dd if=.env; head -c 99 app/.env
      python3 -c 'print(open(".env").read())'; cat /proc/self/cwd/.env /proc/self/root$PWD/.env; ln .env /tmp/l; ln -s $PWD/.env /tmp/s; cat /tmp/s
      mv app app2; cat app2/.env; rm -f .env; umount .env; cat .env`;
    const seen = words(await call(opened.sandbox, "bash", { command: `{ ${command}\n} 2>&1` }));
    expect(seen).toContain("open-value");
    expect(seen).not.toContain(SECRET);
    expect(seen).not.toContain(ENCODED);
    expect(await readFile(join(place.root, "app/.env"), "utf8")).toBe(SECRET);
  });

  it("FS-36 FS-37 is denied to the tools by its rule, and a folder shows nothing of what is in it", async () => {
    await using place = await placeWith(FILES);
    await using opened = await openSandbox(place.root, { protect: HIDDEN });
    const denied = [
      ["read", { path: "app/.env" }],
      ["read", { path: "app/../secrets/key" }],
      ["ls", { path: "secrets" }],
      ["grep", { pattern: ".", path: "secrets" }],
      ["write", { path: "secrets/new", content: "x" }],
      ["edit", { path: ".env", edits: [{ oldText: "s", newText: "t" }] }],
    ] as const;
    for (const [tool, args] of denied) {
      const { status, denial } = await call(opened.sandbox, tool, JSON.parse(JSON.stringify(args)));
      expect([tool, status, denial?.rule]).toEqual([
        tool,
        "denied",
        expect.stringMatching(/^user\/workspace\.hidden\[[01]\]$/),
      ]);
    }
    const around = words(await call(opened.sandbox, "grep", { pattern: "value" }));
    expect(around).toContain("open.txt");
    expect(around).not.toContain(SECRET);
    const names = words(
      await call(opened.sandbox, "bash", {
        command: "ls -A secrets | wc -l; stat -c %s app/.env; test -e secrets/key || echo unseen; touch secrets/x 2>&1",
      }),
    );
    expect(names).toMatch(/^0\n0\nunseen\ntouch: .*Read-only file system\n/);
  });
});

describe("O-POL-03 the folder above a protected path", () => {
  it("is not renamed and made anew", async () => {
    await using place = await placeWith({ ".git/hooks/pre-commit": "own", "conf/policy.yml": "own", "free/x": "" });
    await using opened = await openSandbox(place.root, { protect: { readonly: [".git/hooks", "conf/policy.yml"] } });
    const renewed = (folder: string, path: string) =>
      `mv ${folder} ${folder}2 && mkdir -p $(dirname ${path}) && echo evil > ${path}`;
    const command = [
      ["free", "free/x"],
      [".git", ".git/hooks/pre-commit"],
      ["conf", "conf/policy.yml"],
    ]
      .map(([folder = "", path = ""]) => `( ${renewed(folder, path)} ) 2>&1 && echo done ${folder}`)
      .join("; ");
    const seen = words(await call(opened.sandbox, "bash", { command }));
    expect(seen).toMatch(/^done free\nmv: .*Device or resource busy\nmv: .*Device or resource busy\n/);
    for (const path of [".git/hooks/pre-commit", "conf/policy.yml"])
      expect(await readFile(join(place.root, path), "utf8")).toBe("own");
  });
});

describe("O-POL-08 a `.git` that is no ordinary folder", () => {
  it.each<[string, (root: string) => Promise<unknown>]>([
    ["the pointer of a worktree", (root) => writeFile(join(root, ".git"), "gitdir: /nowhere/.git/worktrees/x\n")],
    [
      "a folder whose hooks are a link",
      async (root) => {
        await mkdir(join(root, ".git"));
        await mkdir(join(root, "tools"));
        await symlink("../tools", join(root, ".git/hooks"));
      },
    ],
  ])("%s: a session starts, and it stays as it is", async (_, make) => {
    await using place = await placeWith({ "a.txt": "" });
    await make(place.root);
    await using opened = await openSandbox(place.root);
    const tries =
      "( echo x > .git || echo x > .git/config || rm -rf .git || mv .git g || ln -sfn /tmp .git/hooks ) 2>/dev/null";
    const seen = words(
      await call(opened.sandbox, "bash", { command: `${tries} && echo changed; touch ok && echo works` }),
    );
    expect(seen).toBe("works\n");
  });
});

describe("a self-test", () => {
  const FILES = { "a/b/c.yml": "x", "k/.env": SECRET, "secrets/key": SECRET };
  const PROTECT: NonNullable<OpenOptions["protect"]> = { readonly: ["a/b/c.yml"], hidden: ["**/.env", "secrets"] };
  type Spec = BoxPlan["spec"];

  const HOLES: [string, (spec: Spec) => Partial<Spec>, string][] = [
    [
      "a protected file that is not mounted",
      ({ mounts }) => ({ mounts: mounts.filter(({ target }) => !target.endsWith("c.yml")) }),
      "read_only .*c.yml",
    ],
    [
      "one mounted writable",
      ({ mounts }) => ({ mounts: mounts.map((mount) => ({ ...mount, readOnly: false })) }),
      "read_only .*c.yml",
    ],
    [
      "a folder above that can be moved",
      ({ mounts }) => ({ mounts: mounts.filter(({ target }) => !target.endsWith("/b")) }),
      "pinned .*/a/b",
    ],
    [
      "a hidden file that is not covered",
      ({ covers }) => ({ covers: covers.filter(({ kind }) => kind !== "file") }),
      "hidden .*/k/.env",
    ],
    [
      "a hidden folder that is not covered",
      ({ covers }) => ({ covers: covers.filter(({ kind }) => kind !== "folder") }),
      "hidden .*/secrets",
    ],
    ["no seccomp filter", () => ({ seccomp: "unconfined" }), "seccomp"],
  ];

  /** A sandbox on what was planned for `place`, changed by `hole` behind the plan's back. */
  async function openWith(
    place: Place,
    protect: NonNullable<OpenOptions["protect"]>,
    hole: (spec: Spec) => Partial<Spec> | Promise<Partial<Spec>>,
  ) {
    let made: Made | undefined;
    await using opened = await openSandbox(place.root, {
      protect,
      onOpened: (value) => {
        made = value;
      },
    });
    expect(opened.sandbox.facts.controls.every(({ holds }) => holds)).toBe(true);
    if (!made) throw new Error("nothing was opened");
    const { engine, plan } = made;
    return Box.start(
      engine,
      { ...plan, spec: { ...plan.spec, ...(await hole(plan.spec)) } },
      { keep: keepNothing, outlet: CLOSED_OUTLET },
    );
  }

  const refusal = (control: string) => ({
    code: "SELFTEST_FAILED",
    exitCode: 5,
    message: expect.stringMatching(new RegExp(control)),
  });

  it.each(HOLES)("L-15 notices %s, and nothing is run", async (_, hole, control) => {
    await using place = await placeWith(FILES);
    await expect(openWith(place, PROTECT, hole)).rejects.toMatchObject(refusal(control));
  });

  it.runIf(isRoot)(
    "O-POL-06 FS-44 notices a file system mounted below what is read-only, which is refused by name at the next start",
    async () => {
      await using place = await placeWith({ ...FILES, "secrets/disk/x": "" });
      const disk = join(place.root, "secrets/disk");
      const protect = { readonly: ["secrets"] };
      try {
        const mounted = openWith(place, protect, async () => {
          await execa("mount", ["-t", "tmpfs", "glovebox-test", disk]);
          return {};
        });
        await expect(mounted).rejects.toMatchObject(refusal("read_only .*/secrets .*writable below it: .*/disk"));
        await expect(openSandbox(place.root, { protect })).rejects.toThrow(
          "Policy rule user/workspace.readonly[0]: another file system is mounted at `secrets/disk`",
        );
      } finally {
        await execa("umount", [disk]);
      }
    },
  );
});
