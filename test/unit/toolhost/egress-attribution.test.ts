import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Attribution, type By, type Client } from "../../../src/toolhost/egress/attribution.ts";
import { listSockets, parseSockets } from "../../../src/toolhost/egress/socket-table.ts";
import { JobTable } from "../../../src/toolhost/shell/jobs.ts";
import { freeAddress } from "../../support/egress-inside.ts";
import { TestShell } from "../shell/test-shell.ts";

/** Accepts connections and says whose each was when its first byte came, which the program sends as its name. */
class Door {
  readonly address = freeAddress();
  readonly seen = new Map<string, By>();
  readonly #server: Server;

  private constructor(attribution: () => Attribution) {
    this.#server = createServer((socket: Socket) => {
      socket.on("error", () => undefined);
      const by = attribution().of(clientOf(socket));
      socket.once("data", (name: Buffer) => {
        this.seen.set(name.toString().trim(), by);
        socket.end("seen\n");
      });
    });
  }

  static async open(attribution: () => Attribution): Promise<Door> {
    const door = new Door(attribution);
    door.#server.listen(0, door.address);
    await once(door.#server, "listening");
    return door;
  }

  /** A command that connects, says its name and waits for the answer. */
  knock(name: string): string {
    const { port } = this.#server.address() as { port: number };
    return `exec 3<>/dev/tcp/${this.address}/${port}; echo ${name} >&3; read -r _ <&3; exec 3<&-`;
  }

  close(): void {
    this.#server.close();
  }
}

function clientOf(socket: Socket): Client {
  return {
    protocol: "tcp",
    address: socket.remoteAddress ?? "",
    port: socket.remotePort ?? 0,
    ourPort: socket.localPort ?? 0,
  };
}

describe("whose a connection is", () => {
  let shell: TestShell;
  let door: Door;
  let attribution: Attribution;
  beforeEach(async () => {
    shell = new TestShell();
    attribution = new Attribution(shell.shell.whose);
    door = await Door.open(() => attribution);
  });
  afterEach(async () => {
    door.close();
    await shell.close();
  });

  it("is the running call's without a look while there are no jobs", async () => {
    await shell.run(door.knock("plain"), { id: 41 });
    expect(door.seen.get("plain")).toEqual({ call: 41, assumed: false });
  });

  it("is nobody's when nothing runs", () => {
    expect(attribution.of({ protocol: "tcp", address: "127.0.0.1", port: 1, ourPort: 1 })).toEqual({
      call: null,
      assumed: false,
    });
  });

  it("of a background job is the call's that made it, while another call runs and after that", async () => {
    const go = join(shell.folder, "go");
    const job = `until [ -e ${go} ]; do sleep 0.05; done; ${door.knock("job")}; ${door.knock("job again")}; touch ${go}ne`;
    await shell.run(job, { id: 51, background: true });
    await shell.run(`${door.knock("call")}; touch ${go}; until [ -e ${go}ne ]; do sleep 0.05; done`, { id: 52 });
    expect(Object.fromEntries(door.seen)).toEqual({
      call: { call: 52, assumed: false },
      job: { call: 51, assumed: false },
      "job again": { call: 51, assumed: false },
    });
  });

  it("of a process that left its session and its parent is still its job's", async () => {
    const go = join(shell.folder, "go");
    const inner = `until [ -e ${go} ]; do sleep 0.05; done; ${door.knock("daemon")}; touch ${go}ne`;
    await shell.run(`setsid bash -c '${inner}' >/dev/null 2>&1 & sleep 0.3`, { id: 61 });
    await shell.run(`touch ${go}; until [ -e ${go}ne ]; do sleep 0.05; done`, { id: 62 });
    expect(door.seen.get("daemon")).toEqual({ call: 61, assumed: false });
  });

  it("that cannot be told is the running call's, and said to be assumed", async () => {
    await shell.run("sleep 60", { id: 71, background: true });
    const unknown: Client = { protocol: "udp", address: "127.0.0.1", port: 1, ourPort: 1 };
    const running = shell.run("sleep 0.5", { id: 72 });
    while (shell.shell.whose.running() !== 72) await new Promise((resolve) => setImmediate(resolve));
    const during = attribution.of(unknown);
    await running;
    expect([during, attribution.of(unknown)]).toEqual([
      { call: 72, assumed: true },
      { call: 71, assumed: true },
    ]);
  });

  it("is known after the tool host was started again, from what it wrote down, unless that was spoilt", async () => {
    await shell.run("sleep 60", { id: 81, background: true });
    const file = join(shell.hello.state, "jobs/jobs.json");
    const stored = JSON.parse(readFileSync(file, "utf8")) as object[];
    expect(stored).toMatchObject([{ call: 81 }]);
    for (const call of [-1, 1.5, "81", 2 ** 40, null]) {
      writeFileSync(file, JSON.stringify(stored.map((one) => ({ ...one, call }))));
      const { anyAlive, latestCall } = new JobTable(shell.hello.state);
      expect([call, anyAlive, latestCall]).toEqual([call, true, undefined]);
    }
    writeFileSync(file, JSON.stringify(stored));
    expect(new JobTable(shell.hello.state).latestCall).toBe(81);
  });

  it("is not looked for without end: a flood is the running call's, assumed", async () => {
    await shell.run("sleep 60", { id: 91, background: true });
    const begun = performance.now();
    for (let index = 0; index < 20_000; index++) {
      attribution.of({ protocol: "tcp", address: "127.0.0.1", port: 1, ourPort: index });
    }
    expect(performance.now() - begun).toBeLessThan(10_000);
  }, 60_000);
});

describe("the kernel's table of sockets", () => {
  it("is read for both families, with mapped addresses as the ones they are", () => {
    const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
   1: 05004D7F:01BB 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 20 4 30 10 -1
   2: 0000000000000000FFFF00000100007F:C350 0000000000000000FFFF000005004D7F:01BB 01 0:0 0:0 0 1000 0 13 1
   3: 00000000000000000000000001000000:1538 0:0 0A 0:0 0:0 0 1000 0 14
 garbage
`;
    expect(parseSockets(table)).toEqual([
      { address: "127.0.0.1", port: 8080, remotePort: 0, listens: true, inode: "11" },
      { address: "127.77.0.5", port: 443, remotePort: 50_000, listens: false, inode: "12" },
      { address: "127.0.0.1", port: 50_000, remotePort: 443, listens: false, inode: "13" },
      { address: "::1", port: 5432, remotePort: 0, listens: true, inode: "14" },
    ]);
  });

  it("shows a socket that listens here", async () => {
    const address = freeAddress();
    const server = createServer().listen(0, address);
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    expect(listSockets("tcp").filter((socket) => socket.address === address)).toMatchObject([{ port, listens: true }]);
    server.close();
  });
});
