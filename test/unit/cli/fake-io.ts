import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import type { Io } from "../../../src/cli/io.ts";
import { Secrets } from "../../../src/core/secrets.ts";

/** A stream that keeps what is written to it. */
export class Sink extends Writable {
  text = "";
  isTTY = false;
  columns = 80;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString("utf8");
    done();
  }
}

export type FakeIo = Io & { stdin: PassThrough & { isTTY: boolean }; stdout: Sink; stderr: Sink; exits: number[] };

/** A process that is none, with a home and a current folder of its own. */
export function fakeIo(env: Record<string, string> = {}): FakeIo {
  const root = mkdtempSync(join(tmpdir(), "glovebox-cli-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const exits: number[] = [];
  return {
    stdin: Object.assign(new PassThrough(), { isTTY: false }),
    stdout: new Sink(),
    stderr: new Sink(),
    env: { GLOVEBOX_HOME: join(root, "home"), ...env },
    secrets: new Secrets(),
    cwd: root,
    userHome: join(root, "user"),
    signals: new EventEmitter(),
    exit: (code) => exits.push(code),
    exits,
  };
}
