import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectControl, FETCH } from "../support/egress/attempt.ts";
import { clientsImage } from "../support/egress/clients-image.ts";
import { Gated } from "../support/egress/gated.ts";
import { World } from "../support/egress/world.ts";
import { connect } from "../support/engine.ts";

const POLICY = `network:
  allow:
    - web.test
    - { host: front.test, inspect: true, methods: [GET, HEAD], paths: ["/public/**", "/api/*/items"] }
    - { host: plain.test, ports: [80], methods: [GET], paths: ["/public/**"] }
    - { host: expired.test, inspect: true }
`;

let world: World;
let gated: Gated;
beforeAll(async () => {
  const image = await clientsImage(await connect());
  world = await World.start();
  const port = async (name: string, at: number) =>
    world.dialler.routes.get(`${(await world.dialler.names.get(name)?.(0))?.[0]}:${at}`);
  world.site("front.test", { 443: await port("web.test", 443) });
  world.site("plain.test", { 80: await port("web.test", 80) });
  // The world's own certificates are what the host must trust here.
  gated = await Gated.open(world, { policy: POLICY, image, trusted: [world.authority.pem] });
});
afterAll(async () => {
  await gated?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => void world.web.visits.splice(0));

const paths = (): string[] => world.web.visits.splice(0).map(({ path }) => path);

describe("a host whose TLS is opened", () => {
  it.each([
    ["curl", "curl -sS https://front.test/public/a"],
    ["wget", "wget -q -O- https://front.test/public/a"],
    [
      "git's own trust",
      "git -c http.extraHeader=X:1 ls-remote https://front.test/public/a 2>&1 | grep -c certificate; curl -sS https://front.test/public/a",
    ],
    [
      "Node's fetch",
      `node -e 'fetch("https://front.test/public/a").then((r) => r.text()).then((t) => process.stdout.write(t))'`,
    ],
    [
      "Python's urllib",
      `python3 -c 'import urllib.request as r; print(r.urlopen("https://front.test/public/a").read().decode(), end="")'`,
    ],
    [
      "Python's requests",
      `python3 -c 'import requests; print(requests.get("https://front.test/public/a").text, end="")'`,
    ],
  ])("is trusted by %s as it is", async (_client, command) => {
    expect((await gated.sh(command)).text).toContain("hello /public/a\n");
  });

  it.each([
    ["N-80 another path", "https://front.test/secret"],
    ["N-80 a way up", "--path-as-is https://front.test/public/../secret"],
    ["N-80 an encoded way up", "--path-as-is https://front.test/public/%2e%2e/secret"],
    ["N-80 an encoded slash", "https://front.test/public%2f..%2fsecret"],
    ["N-80 encoded twice", "--path-as-is https://front.test/public/%252e%252e/secret"],
    ["N-80 a backslash", "--path-as-is 'https://front.test/public/..\\secret'"],
    ["N-80 a parameter", "'https://front.test/public;a=b/../secret' --path-as-is"],
    ["N-80 two slashes", "--path-as-is https://front.test//secret"],
    ["N-80 a segment too many", "https://front.test/api/a/b/items"],
    ["N-80 another method", "-X DELETE https://front.test/public/a"],
    ["N-80 a method in lower case", "-X get https://front.test/public/a"],
    ["N-80 a method that overrides", "-H 'X-HTTP-Method-Override: DELETE' -X POST https://front.test/public/a"],
    ["N-80 a method nobody knows", "-X FROB https://front.test/public/a"],
    ["N-64 N-65 another host inside", "-H 'Host: other.test' https://front.test/public/a"],
    ["N-64 another host inside, HTTP/1.1", "--http1.1 -H 'Host: other.test' https://front.test/public/a"],
    [
      "N-66 WebSocket by a method that is not listed",
      "--http1.1 -X POST -H 'Connection: Upgrade' -H 'Upgrade: websocket' https://front.test/public/a",
    ],
  ])("refuses %s", async (_what, args) => {
    const { text } = await gated.sh(`curl -sS --max-time 20 ${args}`);
    expect([text.includes("hello"), paths()]).toEqual([false, []]);
    expect((await gated.sh("curl -sS https://front.test/public/ok")).text).toBe("hello /public/ok\n");
  });

  it("lets through what is listed, with its query", async () => {
    const { text } = await gated.sh(
      "curl -sS 'https://front.test/public/a?b=../c' https://front.test/api/x/items; curl -sSI https://front.test/public/a | head -1",
    );
    expect(text).toMatch(/^hello \/public\/a\nhello \/api\/x\/items\nHTTP\/[\d.]+ 200/);
    expect(paths()).toEqual(["/public/a?b=../c", "/api/x/items", "/public/a"]);
  });

  it("says in the refused answer and the result which rule is missing", async () => {
    const { text, lines } = await gated.sh("curl -sS -X DELETE https://front.test/public/a");
    expect(text).toMatch(/front\.test/);
    expect(lines.join("\n")).toMatch(/front\.test.*DELETE|DELETE.*front\.test/);
  });

  it("N-74 whose certificate has expired is not reached", async () => {
    const { text } = await gated.sh("curl -sSk --max-time 20 https://expired.test/");
    expect(text).not.toContain("hello");
  });

  it("hands its own key to nobody: a site that is not opened keeps its certificate", async () => {
    await expectControl(world, gated);
    const { text } = await gated.sh(`${FETCH} https://front.test/public/a`);
    expect(text).not.toContain("hello");
  });
});

describe("a host of plain HTTP with rules for requests", () => {
  it("N-80 lets through what is listed and nothing else, on one connection too", async () => {
    const { text } = await gated.sh(
      "curl -sS http://plain.test/public/a; curl -sS http://plain.test/public/a http://plain.test/secret; curl -sS -d x http://plain.test/public/a",
    );
    expect(text.match(/hello \S+/g)).toEqual(["hello /public/a", "hello /public/a"]);
    expect(paths()).toEqual(["/public/a", "/public/a"]);
  });
});
