import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { killAll } from "../../../src/toolhost/shell/process-kill.ts";
import { descendantScope, namespaceScope, type ProcessScope } from "../../../src/toolhost/shell/process-scope.ts";
import { listProcesses } from "../../../src/toolhost/shell/process-table.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function pidOf(command: string[]): number {
  const child = spawn(command[0] ?? "", command.slice(1), { stdio: "ignore", detached: true });
  children.push(child);
  return child.pid ?? 0;
}

function holds(scope: ProcessScope, pid: number): boolean {
  return scope.session().some((proc) => proc.pid === pid);
}

describe("the scope of a pid namespace", () => {
  test("is refused outside a container of ours, where it would hold every process of the user", () => {
    expect(() => namespaceScope()).toThrow("this is no container of glovebox");
  });
});

describe("the scope of descendants", () => {
  test("holds only what an adopted process started, and remembers it after its parent ended", async () => {
    const scope = descendantScope();
    const stranger = pidOf(["sleep", "60"]);
    const child = spawn("bash", ["-c", "sleep 60 & echo $!; read"], {
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    });
    children.push(child);
    scope.adopt(child.pid ?? 0);
    const [line] = await once(child.stdout, "data");
    const orphan = Number(line);
    expect([holds(scope, child.pid ?? 0), holds(scope, orphan), holds(scope, stranger)]).toEqual([true, true, false]);
    child.stdin.end();
    await once(child, "exit");
    scope.release(child.pid ?? 0);
    expect(scope.session().map((proc) => proc.pid)).toEqual([orphan]);
    expect(await killAll({ list: () => scope.session() })).toEqual({ ended: 1, left: 0 });
    expect(listProcesses().some((proc) => proc.pid === orphan)).toBe(false);
  });
});
