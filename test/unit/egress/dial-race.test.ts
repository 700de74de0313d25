import { describe, expect, it } from "vitest";
import { dialFirst, inTurns } from "../../../src/egress/dial/race.ts";
import { echo, TestServer } from "../../support/egress/servers.ts";
import { TestDialler } from "../../support/egress/test-dialler.ts";

const to = (...addresses: string[]) => addresses.map((address) => ({ address, port: 443 }));

describe("the addresses of a name", () => {
  it("take turns by family, beginning with the first, and are eight at most", () => {
    expect(inTurns(["a:", "b:", "c:", "1", "2"])).toEqual(["a:", "1", "b:", "2", "c:"]);
    expect(inTurns(["1", "2", "a:"])).toEqual(["1", "a:", "2"]);
    expect(inTurns(["1"])).toEqual(["1"]);
    expect(inTurns(Array.from({ length: 30 }, (_, index) => String(index)))).toHaveLength(8);
  });

  it("are tried in their order, the next one at once when one refuses", async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({}, { "198.18.0.2": server.port });
    const connect = dialler.connect.bind(dialler);
    const connection = await dialFirst(
      connect,
      to("198.18.0.1", "198.18.0.2", "198.18.0.3"),
      new AbortController().signal,
    );
    expect(dialler.dials).toEqual(["198.18.0.1:443", "198.18.0.2:443"]);
    connection.destroy();
  });

  it("are tried while an earlier one says nothing, and what is left over is given up", async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({}, { "2a00::1": 0, "198.18.0.2": server.port });
    let aborted = 0;
    const connection = await dialFirst(
      (where, signal) => {
        signal.addEventListener("abort", () => aborted++);
        return dialler.connect(where, signal);
      },
      to("2a00::1", "198.18.0.2"),
      new AbortController().signal,
    );
    expect([dialler.dials, aborted, connection.destroyed]).toEqual([["2a00::1:443", "198.18.0.2:443"], 2, false]);
    connection.destroy();
  });

  it("that connect too late are closed", async () => {
    await using server = await TestServer.open(echo);
    const dialler = new TestDialler({}, { "198.18.0.1": server.port, "198.18.0.2": server.port });
    const late = manual();
    const made: { destroyed: boolean }[] = [];
    const connection = await dialFirst(
      async (where) => {
        const socket = await dialler.connect(where, new AbortController().signal);
        made.push(socket);
        if (where.address === "198.18.0.1") await late.promise;
        return socket;
      },
      to("198.18.0.1", "198.18.0.2"),
      new AbortController().signal,
    );
    late.resolve();
    await new Promise(setImmediate);
    expect([connection.destroyed, made.map(({ destroyed }) => destroyed)]).toEqual([false, [true, false]]);
    connection.destroy();
  });

  it("that all fail have the failure of the first", async () => {
    const dialler = new TestDialler({});
    const connect = dialler.connect.bind(dialler);
    const failed = dialFirst(connect, to("198.18.0.1", "198.18.0.2"), new AbortController().signal);
    await expect(failed).rejects.toThrow("ECONNREFUSED");
  });

  it("are given up when nobody waits any more, whoever ignores that", async () => {
    const stop = new AbortController();
    const failed = dialFirst(() => new Promise(() => undefined), to("198.18.0.1"), stop.signal);
    stop.abort(new Error("enough"));
    await expect(failed).rejects.toThrow("enough");
  });
});

function manual() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
