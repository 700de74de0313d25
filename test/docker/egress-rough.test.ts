import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectControl, FETCH } from "../support/egress/attempt.ts";
import { Gated } from "../support/egress/gated.ts";
import { World } from "../support/egress/world.ts";

const POLICY = `network:
  allow:
    - { host: web.test, ports: [443, 80] }
    - { host: tcp.test, ports: [7000, 7001, 7003], protocol: tcp }
    - { host: nobody.test, ports: [443], protocol: tcp }
    - { host: lost.test, ports: [443], protocol: tcp }
`;

let world: World;
let gated: Gated;
beforeAll(async () => {
  world = await World.start();
  world.site("nobody.test", {});
  gated = await Gated.open(world, { policy: POLICY });
});
afterAll(async () => {
  await gated?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

/** Runs commands until what a flood left to be judged has been told: it comes late, and is no part of what follows. */
async function expectSettled(): Promise<void> {
  await expect.poll(async () => (await gated.sh("true")).lines, { interval: 500, timeout: 60_000 }).toEqual([]);
}

describe("those who do not play along", () => {
  it("10,000 connections one after the other, most of them left at once", async () => {
    const { text } = await gated.sh("python3 opens.py tcp.test 7000 10000", 110);
    expect(text).toMatch(/^opened \d+ failed \d+\n/);
    await expectSettled();
    await expectControl(world, gated);
  });

  it("packets that are no questions are dropped, and the next question is answered", async () => {
    const { text } = await gated.sh("python3 dns-flood.py 3", 60);
    expect(text).toMatch(/^sent \d+ held \d+\n/);
    await expectSettled();
    await expectControl(world, gated);
    expect(world.touched()).toMatchObject({ connections: 0, resolved: [], dialled: [] });
  });

  it("questions for 5,000 names of one call make few records and one short end of its result", async () => {
    gated.facts.splice(0);
    const { lines } = await gated.sh(
      `for n in $(seq 5000); do echo "x$n flood test"; done | timeout 50 python3 dns.py | sort | uniq -c`,
      60,
    );
    expect(lines.length).toBeLessThan(40);
    expect(gated.facts.length).toBeLessThan(2_000);
    await expectSettled();
    await expectControl(world, gated);
  });

  it("a server that never reads, and a client that never reads, hold up nobody else", async () => {
    await gated.sh(
      "(timeout 60 python3 -c 'import socket\none = socket.create_connection((\"tcp.test\", 7003)); one.settimeout(50)\nwhile True: one.sendall(bytes(65536))' > /dev/null 2>&1 &)",
    );
    await gated.sh(
      '(timeout 60 python3 -c \'import socket, time\none = socket.create_connection(("tcp.test", 7001)); one.sendall(b"1000000000\\n"); time.sleep(50)\' > /dev/null 2>&1 &)',
    );
    for (let count = 0; count < 5; count++) await expectControl(world, gated);
    expect((await gated.sh("python3 streams.py tcp.test 7000 20 1000000")).text).toBe("20 of 20\n");
  });

  it("1,000 connections that never say a word end with their process, and the next one works", async () => {
    const { text } = await gated.sh("python3 held.py web.test 443 1000");
    expect(text).toMatch(/^held \d+\n/);
    await expectSettled();
    await expectControl(world, gated);
  });

  it("nobody at the address: reset, and a line says so", async () => {
    const { code, lines } = await gated.sh(`${FETCH} https://nobody.test/`);
    expect([code === 0, lines.join("\n")]).toEqual([false, expect.stringMatching(/nobody\.test.*refused/i)]);
    await expectControl(world, gated);
  });

  it("a name service that is down: reset, and a line says so", async () => {
    world.dialler.names.set("lost.test", () =>
      Promise.reject(Object.assign(new Error("getaddrinfo EAI_AGAIN lost.test"), { code: "EAI_AGAIN" })),
    );
    const { code, lines } = await gated.sh(`${FETCH} https://lost.test/`);
    expect([code === 0, lines.join("\n")]).toEqual([false, expect.stringMatching(/lost\.test/)]);
    await expectControl(world, gated);
  });

  it("the agent's own server on an admitted port: the name has no address, and a line names the process", async () => {
    const server = "python3 -m http.server 443 --bind 0.0.0.0 > /dev/null 2>&1 & pid=$!; sleep 1";
    await using own = await Gated.open(world, { policy: POLICY });
    const { code, lines } = await own.sh(`${server}; ${FETCH} https://web.test/; code=$?; kill $pid; exit $code`);
    expect([code === 0, lines.join("\n")]).toEqual([
      false,
      expect.stringMatching(/web\.test.*443.*python|443.*python.*web\.test/),
    ]);
    await expectControl(world, own);
    const { lines: held } = await own.sh("python3 -m http.server 443 --bind 0.0.0.0");
    expect(held.join("\n")).toMatch(/443/);
  });
});
