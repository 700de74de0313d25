import type { Readable, Writable } from "node:stream";
import { messageOf } from "../core/errors.ts";
import type { Appeared } from "../core/quarantine.ts";
import {
  type Hello,
  type MountsChanged,
  type Outcome,
  PROTOCOL_VERSION,
  type SelfTestExpectation,
  type ToController,
  ToToolHost,
} from "../protocol/messages.ts";
import type { MuxStream } from "../protocol/mux-stream.ts";
import { Peer } from "../protocol/peer.ts";
import { validateArguments } from "../tools/arguments.ts";
import { contractOf, isToolName } from "../tools/catalogue.ts";
import type { CallContext, Handlers, Host } from "./context.ts";
import { withCertificates } from "./egress/certificates.ts";
import { Egress } from "./egress/egress.ts";
import { createGuard, type Guard } from "./guard/guard.ts";
import { Keeper } from "./guard/keeper.ts";
import { foldersToProtect, scanLinks } from "./guard/links.ts";
import { MountWatch } from "./guard/mount-watch.ts";
import { moveOut } from "./guard/move-out.ts";
import { restore } from "./guard/restore.ts";
import { FILE_HANDLERS, handle } from "./handle.ts";
import { LiveOutput } from "./live-output.ts";
import { outcome } from "./outcomes.ts";
import { selfTest } from "./self-test.ts";
import { createShell, type Shell } from "./shell/bash.ts";
import type { ProcessScope } from "./shell/process-scope.ts";

export type ToolHostParts = {
  input: Readable;
  output: Writable;
  /** Which processes are the session's, and may be killed. */
  scope: ProcessScope;
  /** The tool host is over: orderly, or because its channel is. */
  exit: (code: number) => void;
};

/** What is known once the controller has said `hello`. */
type Greeted = {
  host: Host;
  handlers: Handlers;
  shell: Shell;
  guard: Guard;
  watch: MountWatch;
  /** Absent where nothing leaves. */
  egress: Egress | undefined;
};

type Result = Extract<ToController, { type: "result" }>;

/** Answers one controller over one channel until it ends or falls silent, then ends everything it started. */
export class ToolHost {
  readonly #parts: ToolHostParts;
  readonly #peer: Peer<ToToolHost, ToController>;
  readonly #running = new Map<number, AbortController>();
  /** Cancels that overtook the arguments of their call. */
  readonly #cancelled = new Set<number>();
  readonly #keeper: Keeper;
  #greeted: Greeted | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #ending = false;

  constructor(parts: ToolHostParts) {
    this.#parts = parts;
    this.#peer = new Peer({
      input: parts.input,
      output: parts.output,
      incoming: ToToolHost,
      parity: "even",
      onMessage: (message) => this.#receive(message),
      onClose: (error) => void this.#end(error ? 1 : 0),
    });
    this.#keeper = new Keeper({ open: () => this.#peer.open(), send: (message) => this.#peer.send(message) });
  }

  #receive(message: ToToolHost): void {
    switch (message.type) {
      case "hello":
        return this.#greet(message);
      case "call":
        return void this.#call(message.id, message.tool, message.args);
      case "cancel":
        return this.#cancel(message.id);
      case "self_test":
        return void this.#selfTest(message.id, message.expect);
      case "scan_links":
        return void this.#scanLinks(message.id);
      case "sweep":
        return void this.#sweep(message.id, message.paths);
      case "restore":
        return void this.#restore(message.id, message.path, this.#peer.accept(message.stream));
      case "kept":
        return this.#keeper.kept(message.id, message.problem);
      case "named":
        return this.#greeted?.egress?.named(message);
      case "shutdown":
        return void this.#shutDown();
      default:
        return message satisfies never;
    }
  }

  #greet(message: Hello): void {
    if (!this.#greeted) {
      const hello = withCertificates(message);
      process.umask(hello.umask);
      const { scope } = this.#parts;
      const shared = { hello, scope, keeper: this.#keeper };
      const guard = createGuard(shared);
      const host: Host = { hello, seen: new Map(), guard };
      const shell = createShell(shared);
      const watch = new MountWatch({
        ...shared,
        guard,
        isQuiet: () => this.#running.size === 0 && scope.session().length === 0,
        onChange: (change) => this.#sayChanged(change),
      });
      const egress =
        hello.egress &&
        new Egress({ settings: hello.egress, peer: this.#peer, whose: shell.whose, after: shell.settled });
      const handlers = { ...FILE_HANDLERS, bash: shell.handleBash, pty: shell.handlePty };
      this.#greeted = { host, shell, guard, watch, egress, handlers };
      // One that died while it held everything still has left it so.
      if (hello.previousPid !== undefined) void shell.settled.then(() => scope.continueAll?.());
      this.#watch(hello.idleSeconds * 1000);
    }
    this.#peer.send({ type: "ready", protocol: PROTOCOL_VERSION, pid: process.pid, node: process.version });
  }

  /** A dead engine leaves stdin open, so silence is the only sign that nobody is there any more. */
  #watch(idleMs: number): void {
    this.#watchdog = setInterval(() => {
      if (performance.now() - this.#peer.lastFrameAt > idleMs) void this.#end(1);
    }, idleMs / 10);
  }

  async #call(id: number, tool: string, args: Record<string, unknown>): Promise<void> {
    if (this.#greeted?.watch.hasChanged()) return;
    const controller = new AbortController();
    if (this.#cancelled.delete(id)) controller.abort();
    this.#running.set(id, controller);
    this.#greeted?.watch.resume();
    const live = new LiveOutput(id, this.#peer);
    const call = { id, signal: controller.signal, show: (bytes: Uint8Array) => live.show(bytes) };
    const goOn = isToolName(tool) && contractOf(tool).replay === "safe" ? this.#peer.standBack() : undefined;
    const result = await this.#perform(tool, args, call);
    goOn?.();
    this.#running.delete(id);
    live.end();
    this.#peer.send({ type: "result", id, ...result });
  }

  async #perform(
    tool: string,
    args: Record<string, unknown>,
    call: Omit<CallContext, "host">,
  ): Promise<Omit<Result, "type" | "id">> {
    if (!this.#greeted) return { outcome: outcome("invalid", "The tool host has not been greeted") };
    if (!isToolName(tool)) return { outcome: outcome("invalid", `No tool named ${tool}`) };
    const parsed = validateArguments(tool, args);
    if (!parsed.ok) return { outcome: outcome("invalid", parsed.problem) };
    const { host, handlers, watch, guard, egress } = this.#greeted;
    const run = (): Promise<Outcome> => handle(handlers[tool], parsed.args, { host, ...call });
    if (contractOf(tool).replay === "safe") return { outcome: await run() };
    await watch.remember();
    const act = async (): Promise<Outcome> => guard.after(await run());
    const ran = String(parsed.args["command"] ?? parsed.args["text"] ?? "");
    return egress ? egress.around(ran, act) : { outcome: await act() };
  }

  #cancel(id: number): void {
    const running = this.#running.get(id);
    if (running) running.abort();
    else this.#cancelled.add(id);
  }

  async #selfTest(id: number, expect: SelfTestExpectation): Promise<void> {
    if (!this.#greeted) return;
    const { host, shell } = this.#greeted;
    await shell.settled;
    this.#peer.send({ type: "self_tested", id, controls: await selfTest(host, expect) });
  }

  async #scanLinks(id: number): Promise<void> {
    if (!this.#greeted) return;
    const { root, readonly } = this.#greeted.host.hello;
    const closed = readonly.map(({ path }) => path).filter((path) => path !== ".");
    const { files, ...seen } = await scanLinks(root, closed);
    this.#peer.send({ type: "links", id, folders: foldersToProtect(files), files: files.length, ...seen });
  }

  async #sweep(id: number, paths: readonly Appeared[]): Promise<void> {
    if (!this.#greeted) return;
    const moved = await moveOut(this.#greeted.host.hello.root, paths, {
      keeper: this.#keeper,
      tooLarge: "leave",
    });
    const problems = moved.flatMap(({ item, problem }) => (problem === undefined ? [] : [`${item.path}: ${problem}`]));
    this.#peer.send({ type: "swept", id, problems });
  }

  async #restore(id: number, path: string, archive: MuxStream): Promise<void> {
    if (!this.#greeted) return;
    try {
      await restore(this.#greeted.host.hello.root, path, archive);
      this.#peer.send({ type: "restored", id });
    } catch (error) {
      this.#peer.send({ type: "restored", id, problem: messageOf(error) });
    }
    archive.destroy();
  }

  #sayChanged(change: Pick<MountsChanged, "paths" | "notes">): void {
    this.#peer.send({ type: "mounts_changed", ...change, running: [...this.#running.keys()] });
  }

  async #shutDown(): Promise<void> {
    this.#ending = true;
    for (const call of this.#running.values()) call.abort();
    this.#peer.send({ type: "bye", left: await this.#endProcesses() });
    this.#parts.exit(0);
  }

  async #endProcesses(): Promise<number> {
    return (await this.#greeted?.shell.endEverything()) ?? 0;
  }

  async #end(code: number): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    clearInterval(this.#watchdog);
    this.#greeted?.watch.stop();
    for (const call of this.#running.values()) call.abort();
    await this.#endProcesses();
    this.#parts.exit(code);
  }
}
