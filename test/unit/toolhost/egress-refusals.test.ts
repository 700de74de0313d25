import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import type { Outcome } from "../../../src/protocol/messages.ts";
import { heldPorts } from "../../../src/toolhost/egress/held-ports.ts";
import { outNoRoutes, outNoRoutes6, Refusals } from "../../../src/toolhost/egress/refusals.ts";
import { freeAddress, freePort, Inside } from "../../support/egress-inside.ts";

const SNMP = `Ip: Forwarding DefaultTTL OutDiscards OutNoRoutes ReasmTimeout
Ip: 2 64 1 17 0
Icmp: InMsgs
Icmp: 3
`;

function said(text: string): () => Promise<Outcome> {
  return () => Promise.resolve({ status: "failed", content: [{ type: "text", text }], details: {} });
}

describe("what is refused inside", () => {
  it("is read from the kernel's counters of both families", () => {
    expect([outNoRoutes(SNMP), outNoRoutes6("Ip6InReceives 4\nIp6OutNoRoutes                  \t5\n")]).toEqual([
      17, 5,
    ]);
    expect([outNoRoutes(""), outNoRoutes("Ip: OutNoRoutes\nIp: x\n"), outNoRoutes6("")]).toEqual([0, 0, 0]);
  });

  it("is told once, from the beginning of the call, and not at all when it is nothing", () => {
    let counter = 10;
    const refusals = new Refusals(() => counter);
    counter = 15;
    const begun = refusals.count();
    counter = 18;
    refusals.addOtherQuestion("text.test");
    const first = refusals.tell({ begun, heldPorts: [], isAdmitted: () => false });
    expect([first, refusals.tell({ begun, heldPorts: [], isAdmitted: () => false })]).toEqual([
      { unreachable: 3, other_questions: 1, taken: [], held_ports: [] },
      undefined,
    ]);
  });

  it("of a call that waited for another is not that other's", () => {
    let counter = 0;
    const refusals = new Refusals(() => counter);
    const [first, second] = [refusals.count(), refusals.count()];
    counter = 4;
    expect(refusals.tell({ begun: first, heldPorts: [], isAdmitted: () => false })?.unreachable).toBe(4);
    counter = 5;
    expect(refusals.tell({ begun: second, heldPorts: [], isAdmitted: () => false })?.unreachable).toBe(1);
  });

  it("stays within what a message may hold", () => {
    const refusals = new Refusals(() => 0);
    for (let port = 1; port <= 50; port++) {
      refusals.addTaken({ name: "n".repeat(500), port, process: "p".repeat(500) });
    }
    const ports = Array.from({ length: 300 }, (_, port) => port + 1);
    const told = refusals.tell({ begun: 0, heldPorts: ports, isAdmitted: () => false });
    expect([told?.taken.length, told?.held_ports.length]).toEqual([20, 100]);
    expect([told?.taken[0]?.name.length, told?.taken[0]?.process.length]).toEqual([260, 200]);
  });
});

describe("a program that cannot listen because of us", () => {
  const [port, forward] = [freePort(), freePort()];
  const held = [
    { address: freeAddress(), port },
    { address: freeAddress(), port: freePort() },
  ];

  it.each([
    ["Node's words", "node s.js", `Error: listen EADDRINUSE: address already in use 0.0.0.0:${port}`],
    [
      "Python's, the port in the command",
      `python3 -m http.server ${port}`,
      "OSError: [Errno 98] Address already in use",
    ],
    ["Flask's", "flask run", `Address already in use\nPort ${port} is in use by another program.`],
    ["Go's", "./server", `listen tcp :${port}: bind: address already in use`],
  ])("is told of the port by %s", (_whose, command, output) => {
    expect(heldPorts(held, command, output)).toEqual([port]);
  });

  it("is not blamed on us when the output names none of our ports, or says nothing of an address in use", async () => {
    const server = createServer().listen(0, freeAddress());
    await once(server, "listening");
    expect(heldPorts(held, "node s.js", "EADDRINUSE: address already in use :::3000")).toEqual([]);
    expect(heldPorts(held, `curl web.test:${port}`, `${port} is a number`)).toEqual([]);
    const trace = `s.js:${port}:7\n  File s.py, line ${port}\n1.${port}.0\n[Errno ${port}] Address already in use`;
    expect(heldPorts(held, "node s.js", trace)).toEqual([]);
    server.close();
  });

  it("is not blamed on us when a process of the session listens at that port", async () => {
    const server = createServer().listen(port, freeAddress());
    await once(server, "listening");
    expect(heldPorts(held, "", `address already in use :${port}`)).toEqual([]);
    server.close();
  });

  it("is told with the result of its call", async () => {
    const address = freeAddress();
    await using inside = await Inside.open({ forwards: [forward], forwardAt: [address] });
    const { outcome, refused } = await inside.egress.around("serve", said(`EADDRINUSE 127.0.0.1:${forward}`));
    expect([outcome.status, refused?.held_ports]).toEqual(["failed", [forward]]);
    expect(await inside.egress.around("serve", said(`all is well at ${forward}`))).not.toHaveProperty("refused");
  });
});
