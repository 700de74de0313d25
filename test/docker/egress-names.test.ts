import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Attempt, expectContained, expectControl, FETCH, missingRule } from "../support/egress/attempt.ts";
import { Gated } from "../support/egress/gated.ts";
import { World } from "../support/egress/world.ts";

const POLICY = `network:
  allow:
    - { host: web.test, ports: [443, 80] }
    - "*.pkg.test"
    - "*.trap.test"
    - secret.pkg.test
    - { host: tcp.test, ports: [7000], protocol: tcp }
  deny: [secret.pkg.test, "*.deep.pkg.test"]
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

const denied = (host: string): string => `${FETCH} https://${host}/`;

const ATTEMPTS: Attempt[] = [
  {
    title: "N-20 a subdomain of an exact name is denied",
    command: denied("x.web.test"),
    line: missingRule("x.web.test"),
  },
  { title: "N-21 the apex under a wildcard is denied", command: denied("pkg.test"), line: missingRule("pkg.test") },
  {
    title: "N-23 O-NET-01 a look-alike in front is denied",
    command: denied("notweb.test"),
    line: missingRule("notweb.test"),
  },
  {
    title: "N-23 a look-alike behind is denied",
    command: denied("web.test.other.test"),
    line: missingRule("web.test.other.test"),
  },
  {
    title: "N-23 a look-alike of a wildcard is denied",
    command: denied("evilpkg.test"),
    line: missingRule("evilpkg.test"),
  },
  { title: "N-25 two trailing dots are no name", command: denied("web.test..") },
  {
    title: "N-26 the address of an allowed host has no route",
    command: "curl -sS http://93.184.216.34/",
    sees: /unreachable|connect/i,
  },
  { title: "N-30 a look-alike letter is denied", command: denied("wеb.test"), sees: /not resolve|Malformed|IDN/i },
  { title: "N-30 a look-alike's A-label is denied", command: denied("xn--wb-8kc.test"), line: /xn--wb-8kc\.test/ },
  {
    title: "N-31 an allowed host before an at sign is denied",
    command: denied("web.test@other.test"),
    line: missingRule("other.test"),
  },
  {
    title: "N-31 an allowed host before a backslash is denied",
    command: `${FETCH} 'https://other.test\\@web.test.other.test/'`,
  },
  {
    title: "N-31 an allowed host behind a hash is denied",
    command: `${FETCH} 'https://other.test#@web.test/'`,
    line: missingRule("other.test"),
  },
  {
    title: "N-32 O-NET-05 another port has nobody behind it",
    command: `${FETCH} https://web.test:22/; ${FETCH} https://web.test:8443/`,
    sees: /refused|connect/i,
  },
  { title: "N-33 deny beats allow", command: denied("secret.pkg.test"), line: /secret\.pkg\.test.*deny/ },
  { title: "N-33 deny below a wildcard beats it", command: denied("a.deep.pkg.test"), line: /deny/ },
  {
    title: "N-14 an allowed name at an address of one's own has no route",
    command: `${FETCH} --resolve web.test:443:93.184.216.35 https://web.test/`,
    sees: /unreachable|connect/i,
  },
  {
    title: "N-14 an allowed name at another host is denied",
    command: `${FETCH} --connect-to web.test:443:other.test:443 https://web.test/`,
    line: missingRule("other.test"),
  },
];

describe("names beside the allowed ones", () => {
  it.each(ATTEMPTS.map((one) => [one.title, one] as const))("%s", async (_title, attempt) => {
    await expectContained(world, gated, attempt);
    await expectControl(world, gated);
  });

  it("N-27 O-NET-02 numbers that resolvers take for addresses reach nobody", async () => {
    const { port } = world.honeypot;
    const hosts = [
      "2852039166",
      "0xA9FEA9FE",
      "0251.0376.0251.0376",
      "169.254.43518",
      "[::ffff:10.0.0.1]",
      "[64:ff9b::a00:1]",
      "[fe80::1%25lo]",
      "①⑦②.17.0.1",
    ];
    const command = `for host in ${hosts.map((host) => `'${host}'`).join(" ")}; do curl -sS --max-time 5 "http://$host:${port}/" && echo GOT-THROUGH; done; false`;
    await expectContained(world, gated, { title: "numbers", command, sees: /^(?![\s\S]*GOT-THROUGH)[\s\S]*$/ });
    await expectControl(world, gated);
  });

  it("N-28, N-29, N-30, N-31 questions for what is no name have no answer", async () => {
    const questions = [
      ...["web\\x00 test", "web\\r\\n test", "web\\x20 test", "web%2etest", "web.test", "other%00 test"],
      ...[
        "user@web test",
        "web\\\\ test",
        "web# test",
        "web/ test",
        "\\xff\\xfe test",
        "we\\xe2\\x80\\x8bb test",
        "1 2 3 4",
        "2130706433",
      ],
      ...[
        Array(60).fill("aaaa").join(" "),
        `${"a".repeat(63)} ${"b".repeat(63)} ${"c".repeat(63)} ${"d".repeat(62)} test`,
      ],
    ];
    const lines = [...questions, "web test"].map((line) => line.replaceAll("'", "'\\''")).join("\n");
    const { text } = await gated.sh(`python3 dns.py <<'END'\n${lines}\nEND`);
    const answers = text.split("\n").slice(0, questions.length + 1);
    expect(answers.slice(0, -1).filter((answer) => answer.startsWith("ok") && answer !== "ok 0")).toEqual([]);
    expect(answers.at(-1)).toBe("ok 1");
    expect(world.touched()).toMatchObject({ resolved: [], dialled: [], visits: 0 });
    await expectControl(world, gated);
  });
});

describe("an allowed name", () => {
  it.each([
    ["N-24 in upper case", "WEB.TEST", "web.test"],
    ["N-25 with a trailing dot", "web.test.", "web.test"],
    ["N-22 deep below a wildcard", "a.b.pkg.test", "a.b.pkg.test"],
  ])("%s is resolved in its one form", async (_title, asked, canonical) => {
    world.dialler.take();
    const { text } = await gated.sh(`${FETCH} -k https://${asked}/named`);
    expect([text, world.dialler.take().resolved]).toEqual(["hello /named\n", [canonical]]);
  });

  const PRIVATE = [
    ...["127.0.0.1", "10.0.0.5", "172.17.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1"],
    ...["::1", "::", "fd00::1", "fe80::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "ff02::1"],
  ];
  it("N-46 O-NET-03 that resolves to a private address is never dialled", async () => {
    for (const [index, address] of PRIVATE.entries()) world.trap(`n${index}.trap.test`, () => [address], [address]);
    const command = `for n in $(seq 0 ${PRIVATE.length - 1}); do ${FETCH} -k https://n$n.trap.test/ && echo GOT-THROUGH; done; false`;
    const { text, lines } = await gated.sh(command);
    const { dialled, connections } = world.touched();
    expect([dialled, connections, text.includes("GOT-THROUGH")]).toEqual([[], 0, false]);
    expect(lines.join("\n")).toMatch(/n0\.trap\.test.*(private|loopback)/);
    await expectControl(world, gated);
  });

  it("N-47 that resolves to a public and a private address is refused", async () => {
    const address = "93.184.216.200";
    world.trap("mixed.trap.test", () => [address, "10.0.0.5"], [address, "10.0.0.5"]);
    const { code } = await gated.sh(`${FETCH} -k https://mixed.trap.test/`);
    expect([code === 0, world.touched().dialled]).toEqual([false, []]);
    await expectControl(world, gated);
  });

  it("N-47 that resolves to a public address once and to a private one then is refused then", async () => {
    const secure = world.dialler.routes.get(`${(await world.dialler.names.get("web.test")?.(0))?.[0]}:443`);
    const address = world.site("rebind.trap.test", { 443: secure });
    world.dialler.names.set("rebind.trap.test", (time) => [time === 0 ? address : "169.254.169.254"]);
    const command = `${FETCH} -k https://rebind.trap.test/hi; ${FETCH} -k https://rebind.trap.test/hi`;
    const { text } = await gated.sh(command);
    expect(text.match(/hello \/hi/g)).toEqual(["hello /hi"]);
    expect(world.touched()).toMatchObject({ dialled: [`${address}:443`], connections: 0 });
    await expectControl(world, gated);
  });

  it.each([
    ["a refused host", "https://other.test/x"],
    ["a private address", "http://10.0.0.1/x"],
    ["metadata", "http://169.254.169.254/latest/meta-data/"],
  ])("N-48 that redirects to %s does not lead there", async (_what, to) => {
    const { code } = await gated.sh(`${FETCH} -L 'https://web.test/redirect?to=${encodeURIComponent(to)}'`);
    const { resolved, dialled, visits, connections } = world.touched();
    expect([code === 0, resolved, dialled.length, visits, connections]).toEqual([false, ["web.test"], 1, 0, 0]);
    await expectControl(world, gated);
  });

  it("N-51 shows nothing of proxies or their credentials inside", async () => {
    const { text } = await gated.sh(
      "env | grep -i proxy; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -i proxy; echo end",
    );
    expect(text).toMatch(/^end\n/);
  });
});
