import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectH2, createSecureServer } from "node:http2";
import { createServer, get, type RequestOptions } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createAuthority } from "../../../src/egress/carry/authority.ts";
import {
  dial,
  type Gate,
  type GateOptions,
  listenOn,
  openGate,
  openServer,
  outcomeOf,
  portOf,
  readAll,
} from "./carry-fixture.ts";
import { makeHello, recordsOf, serverNames } from "./hello-fixture.ts";

/** Of the world, which Node is told to trust, and of the session. */
const world = await createAuthority();
const session = await createAuthority();
const folder = mkdtempSync(join(tmpdir(), "glovebox-tls-"));
const closing: (() => Promise<void>)[] = [];
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Answer = (request: { method?: string | undefined; url?: string | undefined }) => string;

async function https(answer: Answer, by = world) {
  const server = createServer(await by.certify("allowed.test"), (req, res) => res.end(answer(req)));
  closing.push(await listenOn(server));
  return { port: portOf(server) };
}

async function gateTo({ port }: { port: number }, more: GateOptions = {}): Promise<Gate> {
  const options = { authorities: [world.certificate], ...more.options };
  const gate = await openGate({ to: port, certify: session.certify, ...more, options });
  closing.push(gate.close);
  return gate;
}

/** What an HTTPS client gets through the gate, or the code of its error. */
function fetchBy(gate: Pick<Gate, "port">, options: RequestOptions = {}): Promise<string> {
  const headers = { host: "allowed.test" };
  const at = { host: "127.0.0.1", port: gate.port, servername: "allowed.test", ca: world.certificate, headers };
  return new Promise((resolve) => {
    const req = get({ ...at, agent: false, ...options }, (res) => {
      text(res).then(
        (body) => resolve(`${res.statusCode} ${body}`),
        () => resolve("cut"),
      );
    });
    req.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

describe("TLS that passes as it is", { timeout: 30_000 }, () => {
  it("reaches the server end to end, whose certificate the program sees", async () => {
    const gate = await gateTo(await https(({ url }) => `for ${url}`));
    expect(await fetchBy(gate, { path: "/x" })).toBe("200 for /x");
    expect(await outcomeOf(gate)).toBeUndefined();
    expect(gate.carried[0]?.dials).toBe(1);
  });

  it("carries HTTP/2", async () => {
    const server = createSecureServer(await world.certify("allowed.test"));
    server.on("stream", (stream) => stream.respond({ ":status": 200 }) ?? stream.end("two"));
    closing.push(await listenOn(server as never));
    const gate = await gateTo({ port: portOf(server) });
    const client = connectH2("https://allowed.test", {
      createConnection: () =>
        connect({ port: gate.port, servername: "allowed.test", ca: world.certificate, ALPNProtocols: ["h2"] }),
    });
    const stream = client.request({ ":path": "/" });
    expect(await readAll(stream)).toBe("two");
    client.close();
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it.each([1, 7, 200])("N-73 reaches the server when the hello comes in records of %d bytes", async (size) => {
    const gate = await gateTo(await https(() => "whole"));
    const relay = createTcpServer(async (socket) => {
      const out = await dial(gate.port);
      out.pipe(socket);
      socket.once("data", (first) => {
        const fragments = recordsOf(first.subarray(5), size);
        for (let at = 0; at < fragments.length; at += 100) out.write(fragments.subarray(at, at + 100));
        socket.pipe(out);
      });
    });
    closing.push(await listenOn(relay));
    expect(await fetchBy({ ...gate, port: portOf(relay) })).toBe("200 whole");
  });

  it.each([
    [
      "N-60 another name",
      makeHello([serverNames("other.test")]),
      "for another host: `other.test`; expected `allowed.test`",
    ],
    ["N-60 a look-alike name", makeHello([serverNames("allowed.test.evil.test")]), "`allowed.test.evil.test`"],
    ["N-60 a name with a NUL", makeHello([serverNames("allowed.test\u0000.evil.test")]), "allowed.test\\x00.evil.test"],
    ["N-61 no name", makeHello([]), "names no host (SNI); expected `allowed.test`"],
    [
      "N-62 an encrypted hello under another name",
      makeHello([serverNames("cover.test"), { type: 0xfe0d, data: Buffer.alloc(9) }]),
      "(ECH), its outer name `cover.test`",
    ],
  ])("%s in the hello is refused, and nothing is dialled", async (_what, hello, words) => {
    const server = await openServer((socket) => socket.resume());
    closing.push(server.close);
    const gate = await gateTo(server);
    const client = await dial(gate.port);
    client.write(recordsOf(hello));
    expect(await readAll(client)).toMatch(/^!/);
    const refusal = await outcomeOf(gate);
    expect(refusal?.message).toContain(words);
    expect(refusal?.denial?.rule).toBe("built-in/network.protocol");
    expect(refusal?.denial?.enable_with).not.toContain("tcp");
    expect([gate.carried[0]?.dials, server.connections]).toEqual([0, 0]);
  });

  it("passes by a name in other letters", async () => {
    const gate = await gateTo(await https(() => "same"));
    expect(await fetchBy(gate, { servername: "Allowed.TEST" })).toBe("200 same");
  });

  it("is refused when requests must be seen, with what would make them so", async () => {
    const gate = await gateTo(await https(() => ""), { tls: "refused" });
    expect(await fetchBy(gate)).toBe("ECONNRESET");
    expect(await outcomeOf(gate)).toMatchObject({
      message: "the rule for `allowed.test` has methods or paths, which cannot be seen inside TLS",
      denial: { enable_with: "add `inspect: true` to the rule for `allowed.test`, port 443, in `network.allow`" },
    });
    expect(gate.carried[0]?.dials).toBe(0);
  });
});

describe("TLS that is opened", { timeout: 30_000 }, () => {
  const opened: GateOptions = {
    tls: "opened",
    judge: ({ method, path }) =>
      method === "GET" && path.startsWith("/open/")
        ? { type: "allow", rule: "user/network.allow[0]" }
        : { type: "deny", rule: "user/network.allow", enableWith: "add the path" },
  };
  const ca = session.certificate;

  it("shows the program a certificate of the session, and the server's is checked", async () => {
    const gate = await gateTo(await https(({ method, url }) => `${method} ${url}`), opened);
    expect(await fetchBy(gate, { ca, path: "/open/a?b" })).toBe("200 GET /open/a?b");
    expect(await outcomeOf(gate)).toBeUndefined();
    expect(gate.carried[0]?.dials).toBe(1);
  });

  it("answers a request that no rule admits, and nothing is dialled", async () => {
    const gate = await gateTo(await https(() => "never"), opened);
    const said = await fetchBy(gate, { ca, path: "/secret" });
    expect(said).toBe(
      "403 glovebox: `GET https://allowed.test/secret` is not admitted (rule user/network.allow); what a person can do: add the path\n",
    );
    expect(await outcomeOf(gate)).toMatchObject({ verdict: "denied", denial: { rule: "user/network.allow" } });
    expect(gate.carried[0]?.dials).toBe(0);
  });

  it.each(["/open/../secret", "/open/%2e%2e/secret", "/open%2fa", "/open//a", "/open/;a", "/open/\\a", "/open/%252e"])(
    "N-80 the path %s is refused where rules are for paths, and not dialled",
    async (path) => {
      const gate = await gateTo(await https(() => "never"), opened);
      expect(await fetchBy(gate, { ca, path })).toMatch(/^403 glovebox: the path /);
      await outcomeOf(gate);
      expect(gate.carried[0]?.dials).toBe(0);
    },
  );

  it("lets pass what a registry needs where no rule is for paths", async () => {
    const judge: GateOptions["judge"] = () => ({ type: "allow", rule: "user/network.allow[0]" });
    const gate = await gateTo(await https(({ url }) => `${url}`), { ...opened, judge, strictPaths: false });
    expect(await fetchBy(gate, { ca, path: "/@scope%2fname" })).toBe("200 /@scope%2fname");
  });

  it("N-74 a server whose certificate nobody trusts is not spoken to: the program sees a reset", async () => {
    const gate = await gateTo(await https(() => "never", await createAuthority()), opened);
    expect(await fetchBy(gate, { ca, path: "/open/a" })).toBe("ECONNRESET");
    const refusal = await outcomeOf(gate);
    expect(refusal?.message).toMatch(/^TLS to `allowed.test` could not be set up: /);
    expect(refusal?.verdict).toBe("failed");
  });

  it("N-74 a server with a certificate of another name is not spoken to", async () => {
    const server = createServer(await world.certify("other.test"), (_req, res) => res.end("never"));
    closing.push(await listenOn(server));
    const gate = await gateTo({ port: portOf(server) }, opened);
    expect(await fetchBy(gate, { ca, path: "/open/a" })).toBe("ECONNRESET");
    expect((await outcomeOf(gate))?.message).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("N-74 a program that trusts only the real certificate ends, and the record says why", async () => {
    const gate = await gateTo(await https(() => "never"), opened);
    expect(await fetchBy(gate, { path: "/open/a" })).toMatch(/^UNABLE_TO_VERIFY/);
    const refusal = await outcomeOf(gate);
    expect(refusal?.message).toMatch(/^the program did not accept the session's certificate for `allowed.test`: /);
    expect(gate.carried[0]?.dials).toBe(0);
  });

  it("N-65 a program that speaks HTTP/2 alone is refused, one that can do without is served", async () => {
    const alone = await gateTo(await https(() => "never"), opened);
    const client = connect({ port: alone.port, servername: "allowed.test", ca, ALPNProtocols: ["h2"] });
    client.on("error", () => undefined);
    await new Promise((resolve) => client.on("close", resolve));
    expect((await outcomeOf(alone))?.message).toContain("the program offers `h2` alone");
    const gate = await gateTo(await https(() => "one"), opened);
    const both = { ca, path: "/open/", ALPNProtocols: ["h2", "http/1.1"] };
    expect(await fetchBy(gate, both)).toBe("200 one");
  });

  it("N-64 a request inside for another host is refused", async () => {
    const gate = await gateTo(await https(() => "never"), opened);
    expect(await fetchBy(gate, { ca, path: "/open/a", headers: { host: "other.test" } })).toMatch(
      /^403 glovebox: a request is for the host `other.test`/,
    );
  });

  it("N-69 answers a program that has finished speaking", async () => {
    const gate = await gateTo(await https(({ url }) => `late ${url}`), { tls: "opened" });
    const client = connect({ port: gate.port, servername: "allowed.test", ca });
    client.end("GET /x HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\n\r\n");
    expect(await readAll(client)).toContain("late /x");
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it("carries a body of megabytes both ways", async () => {
    const server = createServer(await world.certify("allowed.test"), (req, res) => req.pipe(res));
    closing.push(await listenOn(server));
    const gate = await gateTo({ port: portOf(server) }, { tls: "opened" });
    const client = connect({ port: gate.port, servername: "allowed.test", ca });
    const size = 5_000_000;
    const head = `POST / HTTP/1.1\r\nHost: allowed.test\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`;
    client.write(head);
    client.write(Buffer.alloc(size, "x"));
    const said = await readAll(client);
    expect(said.length).toBeGreaterThan(size);
    expect(await outcomeOf(gate)).toBeUndefined();
  });

  it.each([
    ["as it is", { tls: "sealed" }, world],
    ["opened", opened, session],
  ] as const)("works with curl, %s", async (_how, more, authority) => {
    const file = join(folder, "ca.pem");
    writeFileSync(file, authority.certificate);
    const gate = await gateTo(await https(({ url }) => `curl ${url}`), more);
    const at = ["--resolve", `allowed.test:${gate.port}:127.0.0.1`, "--cacert", file, "-sS"];
    const url = `https://allowed.test:${gate.port}/open/x`;
    const header = ["-H", "Host: allowed.test"];
    const { stdout } = await promisify(execFile)("curl", [...at, ...header, url]);
    expect(stdout).toBe("curl /open/x");
  });
});
