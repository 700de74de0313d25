import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectControl, FETCH } from "../support/egress/attempt.ts";
import { Gated } from "../support/egress/gated.ts";
import { World } from "../support/egress/world.ts";

const POLICY = `network:
  allow:
    - { host: web.test, ports: [443, 80] }
    - { host: tcp.test, ports: [7000, 7003, 7004], protocol: tcp }
    - { host: tcp.test, ports: [443] }
    - expired.test
`;

let world: World;
let gated: Gated;
beforeAll(async () => {
  world = await World.start();
  gated = await Gated.open(world, { policy: POLICY });
});
afterAll(async () => {
  await gated?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  world.dialler.take();
  world.web.visits.splice(0);
});

/** What was dialled and asked for. */
function left(): unknown {
  return { dialled: world.dialler.take().dialled, visits: world.web.visits.map(({ path }) => path) };
}
const NOTHING = { dialled: [], visits: [] };

describe("the first bytes of a connection to an allowed name", () => {
  it.each([
    ["N-60 that ask for another site", "python3 tls.py web.test 443 other.test"],
    ["N-61 that ask for no site", "python3 tls.py web.test 443 -"],
    ["N-60 that ask for a site below", "python3 tls.py web.test 443 x.web.test"],
    ["N-63 that are no TLS", "python3 raw.py web.test 443 'SSH-2.0-x\\r\\n'"],
    ["N-63 that are noise", "python3 raw.py web.test 443 '\\x00\\x01\\x02\\x03noise'"],
    ["N-63 of a server's protocol on the port of https", "python3 raw.py tcp.test 443 'hello'"],
    ["N-64 with another host, by HTTP", `${FETCH} -f -H 'Host: other.test' http://web.test/evil`],
    ["N-64 with another host in the target", `${FETCH} -f --request-target http://other.test/evil http://web.test/`],
    ["N-64 with two hosts", `${FETCH} -f -H 'Host: web.test' -H 'host : other.test' http://web.test/evil`],
    ["N-64 without a host", "python3 raw.py web.test 80 'GET /evil HTTP/1.0\\r\\n\\r\\n'"],
    ["N-66 that offer to change to HTTP/2", `${FETCH} -f --http2 http://web.test/evil`],
    ["N-66 of HTTP/2 without TLS", `${FETCH} -f --http2-prior-knowledge http://web.test/evil`],
    [
      "N-67 with two lengths",
      "python3 raw.py web.test 80 'POST /evil HTTP/1.1\\r\\nHost: web.test\\r\\nContent-Length: 0\\r\\nContent-Length: 5\\r\\n\\r\\nhello'",
    ],
    [
      "N-67 with a length and chunks",
      "python3 raw.py web.test 80 'POST /evil HTTP/1.1\\r\\nHost: web.test\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n'",
    ],
    [
      "N-67 with chunks in disguise",
      "python3 raw.py web.test 80 'POST /evil HTTP/1.1\\r\\nHost: web.test\\r\\nTransfer-Encoding: xchunked\\r\\n\\r\\n0\\r\\n\\r\\n'",
    ],
    [
      "N-67 with a folded line",
      "python3 raw.py web.test 80 'GET /evil HTTP/1.1\\r\\nHost: web.test\\r\\nX: a\\r\\n Host: other.test\\r\\n\\r\\n'",
    ],
    ["N-67 with bare line feeds", "python3 raw.py web.test 80 'GET /evil HTTP/1.1\\nHost: web.test\\n\\n'"],
    [
      "N-67 with a header above the limit",
      `python3 raw.py web.test 80 "GET /evil HTTP/1.1\\r\\nHost: web.test\\r\\nX: $(head -c 200000 /dev/zero | tr '\\0' x)\\r\\n\\r\\n"`,
    ],
    [
      "N-80 with a method that is none",
      "python3 raw.py web.test 80 'G\\x00T /evil HTTP/1.1\\r\\nHost: web.test\\r\\n\\r\\n'",
    ],
  ])("%s go no further", async (_what, command) => {
    const { text } = await gated.sh(command, 30);
    expect(text).not.toContain("hello /");
    const { visits } = left() as { visits: string[] };
    expect(visits).toEqual([]);
    await expectControl(world, gated);
  });

  it.each([
    ["N-60 another site", "python3 tls.py web.test 443 other.test", /web\.test.*other\.test|other\.test.*web\.test/],
    ["N-61 no site", "python3 tls.py web.test 443 -", /web\.test.*(SNI|server name|name)/i],
    ["N-63 no TLS", "python3 raw.py web.test 443 'SSH-2.0-x\\r\\n'", /web\.test.*ssh/],
  ])("%s: nothing was dialled, and a line says why", async (_what, command, line) => {
    const { lines } = await gated.sh(command, 30);
    expect(left()).toEqual(NOTHING);
    expect(lines.join("\n")).toMatch(line);
    await expectControl(world, gated);
  });

  it.each([
    [
      "N-67 a second request to another host on a kept connection",
      ["GET /first HTTP/1.1\\r\\nHost: web.test\\r\\n\\r\\n", "GET /evil HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n"],
    ],
    [
      "N-67 a second request right behind the first",
      ["GET /first HTTP/1.1\\r\\nHost: web.test\\r\\n\\r\\nGET /evil HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n"],
    ],
    [
      "N-67 a request in the body of one with two framings",
      [
        "GET /first HTTP/1.1\\r\\nHost: web.test\\r\\n\\r\\nPOST /evil HTTP/1.1\\r\\nHost: web.test\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET /evil HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n",
      ],
    ],
    [
      "N-67 a chunk whose size overflows",
      [
        "POST /first HTTP/1.1\\r\\nHost: web.test\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nfffffffffffffffff\\r\\n0\\r\\n\\r\\nGET /evil HTTP/1.1\\r\\nHost: web.test\\r\\n\\r\\n",
      ],
    ],
  ])("%s goes no further", async (_what, texts) => {
    const words = texts.map((text) => `'${text}'`).join(" ");
    await gated.sh(`python3 raw.py web.test 80 ${words}`, 30);
    const { visits } = left() as { visits: string[] };
    expect(visits.filter((path) => path !== "/first")).toEqual([]);
    expect(world.other.visits).toEqual([]);
    await expectControl(world, gated);
  });

  it("N-67 a request that never ends is given up, and holds nobody up", async () => {
    const slow = `python3 - <<'END' &\nimport socket, time\none = socket.create_connection(("web.test", 80))\nfor letter in "GET /evil HTTP/1.1":\n    one.sendall(letter.encode()); time.sleep(1)\nEND`;
    await gated.sh(slow);
    await expectControl(world, gated);
    expect(world.web.visits.map(({ path }) => path)).not.toContain("/evil");
  });
});

describe("what must work", () => {
  it.each([
    ["N-73 a greeting byte by byte", "python3 tls.py web.test 443 web.test bytewise"],
    ["N-73 a greeting of more than 16 KiB", "python3 tls.py web.test 443 web.test padded"],
    ["N-24 a site's name in upper case", "python3 tls.py web.test 443 WEB.test"],
    ["N-69 a request that waits for a word", `${FETCH} -H 'Expect: 100-continue' -d x http://web.test/hello`],
    ["N-64 the full address as the target", `${FETCH} --request-target http://web.test/hello http://web.test/`],
    ["N-67 two requests on one connection", `${FETCH} http://web.test/hello http://web.test/hello`],
  ])("%s", async (_what, command) => {
    expect((await gated.sh(command, 30)).text).toContain("hello /hello\n");
  });

  it("N-69 an answer without a body", async () => {
    expect(
      (await gated.sh(`${FETCH} -I http://web.test/hello http://web.test/again`)).text.match(/200 OK/g)?.length,
    ).toBe(2);
  });

  it("N-69 a direction that ends keeps the other one open", async () => {
    expect((await gated.sh("printf ping | python3 half.py tcp.test 7000")).text).toBe("ping\n");
  });

  it("a server that speaks first", async () => {
    expect((await gated.sh("python3 first.py tcp.test 7004")).text).toBe("220 ready\n");
  });

  it("N-74 a certificate that has expired is seen by the client, and refused by it", async () => {
    expect((await gated.sh(`${FETCH} https://expired.test/`)).text).toMatch(/certificate has expired/);
  });
});
