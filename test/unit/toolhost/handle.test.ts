import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Outcome } from "../../../src/protocol/messages.ts";
import { handleLs } from "../../../src/toolhost/files/ls.ts";
import { handleRead } from "../../../src/toolhost/files/read.ts";
import { handleWrite } from "../../../src/toolhost/files/write.ts";
import { createGuard } from "../../../src/toolhost/guard/guard.ts";
import type { Keeper } from "../../../src/toolhost/guard/keeper.ts";
import { handle } from "../../../src/toolhost/handle.ts";
import { text, Workspace } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

const said = ({ status, denial, ...rest }: Outcome) => [status, text({ status, ...rest }), denial];

/** What a read-only mount says of every write. */
const onReadonly = (): never => {
  throw Object.assign(new Error("read-only"), { code: "EROFS" });
};
const OPENED = "only a person can open it, in their own policy";

function denied(words: string, rule: string, enable = OPENED) {
  return ["denied", words, { by: "containment", rule, enable_with: enable }];
}

describe("what a policy hides", () => {
  const rule = "user/workspace.hidden[0]";
  const ask = (tool: typeof handleRead | typeof handleLs, path: string) =>
    handle(tool as typeof handleRead, { path }, ws.context).then(said);

  it.each<[string, typeof handleRead | typeof handleLs, string]>([
    ["by its own name", handleRead, ".env"],
    ["by a link to it", handleRead, "link"],
    ["by a link to a link", handleRead, "again"],
    ["as a folder behind a link", handleLs, "folder"],
    ["as a file that is not there behind a link", handleRead, "folder/x"],
  ])("is denied %s, not told as empty or absent", async (_, tool, path) => {
    mkdirSync(ws.path("secrets"));
    await ws.put(".env", "");
    symlinkSync(".env", ws.path("link"));
    symlinkSync(ws.path("link"), ws.path("again"));
    symlinkSync("secrets", ws.path("folder"));
    ws.host.hello.hidden = [".env", "secrets"].map((hidden) => ({ path: hidden, rule }));
    expect(await ask(tool, path)).toEqual(
      denied(`${path}: hidden by policy rule ${rule}; ${OPENED}; work without it`, rule),
    );
  });

  it("is all that is: a file beside it is read, by a link too", async () => {
    await ws.put("f", "a\n");
    symlinkSync("f", ws.path("link"));
    ws.host.hello.hidden = [{ path: ".env", rule }];
    expect(await ask(handleRead, "link")).toEqual(["ok", "a\n", undefined]);
  });
});

describe("a denied write names the rule of where it leads, and where writing is possible", () => {
  const write = (path: string) => handle(onReadonly, { path, content: "" }, ws.context);
  const places = (...some: string[]) => `write in ${[...some, ws.home].join(", ")} or /tmp`;

  it("through a link to a protected file", async () => {
    await ws.put(".git/config", "x");
    symlinkSync(".git/config", ws.path("gitlink"));
    const rule = "built-in/workspace.protected[0]";
    ws.host.hello.readonly = [{ path: ".git", rule }];
    const words = `gitlink: read-only by policy rule ${rule}; ${OPENED}; ${places(ws.root)}`;
    expect(said(await write("gitlink"))).toEqual(denied(words, rule));
  });

  it("in a workspace of which only some folders are writable", async () => {
    const rule = "user/workspace.writable";
    Object.assign(ws.host.hello, {
      readonly: [
        { path: ".", rule },
        { path: "src/.git", rule: "r" },
      ],
      mounts: [ws.root, ...["src", "src/a", "src/.git", "docs"].map((name) => ws.path(name))],
    });
    const words = `f: read-only by policy rule ${rule}; ${OPENED}; ${places(ws.path("src"), ws.path("docs"))}`;
    expect(said(await write("f"))).toEqual(denied(words, rule));
  });

  it("outside, with words for a person that are none for the model", async () => {
    const enable = "no policy opens it, only another image (`--image`) has other files there";
    const rule = "built-in/container.root";
    const words = `/etc/x: read-only by policy rule ${rule}; ${enable}; ${places(ws.root)}`;
    expect(said(await write("/etc/x"))).toEqual(denied(words, rule, enable));
  });
});

describe("a pattern of what is read-only", () => {
  it.each([
    ["user/workspace.readonly[0]", "take that rule out of the policy"],
    ["built-in/workspace.protected[3]", "open it in their own policy (`workspace.unprotect`)"],
  ])(
    "of %s says of a file that is there that it is read-only, of none that none may be made",
    async (rule, opening) => {
      ws.host.hello.guarded = [{ path: "**/*.lock", rule, until: "call" }];
      ws.host.guard = createGuard({ hello: ws.host.hello, scope: {}, keeper: undefined as unknown as Keeper });
      await ws.put("a/b.lock", "x");
      const write = (path: string) => handle(handleWrite, { path, content: "y" }, ws.context).then(said);
      const change = `only a person can change it, or ${opening}`;
      expect(await write("a/b.lock")).toEqual(
        denied(`a/b.lock: read-only by policy rule ${rule}; ${change}`, rule, change),
      );
      const create = `only a person can create it, or ${opening}`;
      const none = `a/c.lock: nothing may be created here by policy rule ${rule}; ${create}`;
      expect(await write("a/c.lock")).toEqual(denied(none, rule, create));
      expect(await ws.bytes("a/b.lock")).toBe("x");
    },
  );
});

describe("a path at which nothing is", () => {
  const read = async (path: string) => text(await handle(handleRead, { path }, ws.context));
  const enter = (directory: string) => {
    mkdirSync(join(ws.base, "state"), { recursive: true });
    writeFileSync(join(ws.base, "state/shell-state"), `${directory}\n\x000022\n\0declare -x A="1"\n\0`);
  };

  it("is told with where the shell is, when that is elsewhere", async () => {
    await ws.put("sub/f", "a\n");
    expect(await read("f")).toBe("f: no such file or directory");
    enter(ws.path("sub"));
    const words = `paths are relative to ${ws.root} also after a cd, and bash is in ${ws.path("sub")}`;
    expect(await read("f")).toBe(`f: no such file or directory; ${words}: name \`${ws.path("sub/f")}\``);
    expect(await read("g")).toBe(`g: no such file or directory; ${words}`);
  });

  it("is told as it is when it is absolute, or the shell is in the workspace", async () => {
    enter(ws.path("sub"));
    expect(await read("/none")).toBe("/none: no such file or directory");
    enter(ws.root);
    expect(await read("none")).toBe("none: no such file or directory");
  });
});
