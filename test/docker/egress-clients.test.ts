import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FETCH } from "../support/egress/attempt.ts";
import { clientsImage } from "../support/egress/clients-image.ts";
import { Gated } from "../support/egress/gated.ts";
import { sshKey, startPostgres, startSshd } from "../support/egress/server-container.ts";
import { World } from "../support/egress/world.ts";
import { connect } from "../support/engine.ts";

let world: World;
let gated: Gated;

beforeAll(async () => {
  const engine = await connect();
  const image = await clientsImage(engine);
  world = await World.start();
  const key = await sshKey(join(world.folder, "ssh"));
  const ssh = world.use(await startSshd(engine.docker, image, key.publicKey));
  const database = world.use(await startPostgres(engine.docker, image));
  const service = await world.listen(
    createServer((socket) => void socket.on("error", () => undefined).end("a service of the host\n")),
  );
  world.dialler.routes.set(`127.0.0.1:${service.port}`, { host: "127.0.0.1", port: service.port });
  world.site("ssh.test", { 22: ssh });
  world.site("db.test", { 5432: database });
  const policy = `network:
  allow:
    - { host: web.test, ports: [443, 80] }
    - git.test
    - grpc.test
    - { host: ssh.test, ports: [22], protocol: ssh }
    - { host: db.test, ports: [5432], protocol: tcp }
  forward: [{ listen: 5433, to: "127.0.0.1:${service.port}" }]
`;
  gated = await Gated.open(world, { policy, image });
  const keyFile = join(gated.root, "id");
  await writeFile(keyFile, key.privateKey, { mode: 0o600 });
  await build({
    entryPoints: [join(import.meta.dirname, "../support/egress/inside/grpc-client.mjs")],
    outfile: join(gated.root, "grpc-client.mjs"),
    allowOverwrite: true,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
});
afterAll(async () => {
  await gated?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const SSH = "-o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i $PWD/id";

describe("an unchanged client reaches an allowed host", () => {
  it.each<[string, string, string]>([
    ["curl, HTTP/1.1", `${FETCH} --http1.1 -w '%{http_version}' https://web.test/a`, "hello /a\n1.1"],
    ["curl, HTTP/2", `${FETCH} -w '%{http_version}' https://web.test/a`, "hello /a\n2"],
    ["curl, plain HTTP", `${FETCH} http://web.test/a`, "hello /a\n"],
    ["wget", "wget -q -O- --ca-certificate=ca.pem https://web.test/a", "hello /a\n"],
    [
      "Node's fetch",
      `NODE_EXTRA_CA_CERTS=ca.pem node -e 'fetch("https://web.test/a").then((r) => r.text()).then((t) => process.stdout.write(t))'`,
      "hello /a\n",
    ],
    [
      "Python's urllib",
      `SSL_CERT_FILE=ca.pem python3 -c 'import urllib.request as r; print(r.urlopen("https://web.test/a").read().decode(), end="")'`,
      "hello /a\n",
    ],
    [
      "Python's requests",
      `python3 -c 'import requests; print(requests.get("https://web.test/a", verify="ca.pem").text, end="")'`,
      "hello /a\n",
    ],
    ["a WebSocket over TLS", "python3 websocket.py wss://web.test/", "a text\n1000000\n"],
    ["a WebSocket without TLS", "python3 websocket.py ws://web.test/", "a text\n1000000\n"],
    [
      "Node's WebSocket",
      `NODE_EXTRA_CA_CERTS=ca.pem node -e 'const s = new WebSocket("wss://web.test/"); s.onopen = () => s.send("x"); s.onmessage = (m) => { console.log(m.data); s.close(); }'`,
      "x\n",
    ],
    ["gRPC, both ways streaming", "node grpc-client.mjs grpc.test:443", "one\ntwo\nthree\n"],
    ["ssh", `ssh ${SSH} root@ssh.test cat /tmp/w/README`, "hi\n"],
    [
      "git over ssh",
      `GIT_SSH_COMMAND="ssh ${SSH}" git clone -q root@ssh.test:/srv/repo.git by-ssh && cat by-ssh/README`,
      "hi\n",
    ],
    ["psql, on a rule that lets bytes pass", "psql -h db.test -U glovebox postgres -Atc 'select 40 + 2'", "42\n"],
    ["a service of the host, by its forwarded port", "python3 first.py 127.0.0.1 5433", "a service of the host\n"],
  ])("N-04 O-NET-06 %s", async (_client, command, output) => {
    const { text, lines } = await gated.sh(command);
    expect([text, lines]).toEqual([output, []]);
  });

  it("git over https clones, commits and pushes", async () => {
    const command = `export GIT_SSL_CAINFO=$PWD/ca.pem; git clone -q https://git.test/git/repo.git by-https && cd by-https && cat README && echo more >> README && git -c user.name=t -c user.email=t@t.test commit -qam more && git push -q origin main && git fetch -q && git status -sb | head -1; cd ..`;
    expect((await gated.sh(command)).text).toBe("a repository\n## main...origin/main\n");
  });

  it("every connection is on record, with its call, its bytes and its end", async () => {
    gated.facts.splice(0);
    await gated.sh(`${FETCH} https://web.test/bytes/100000 | wc -c`);
    const [start] = gated.facts;
    expect(start).toMatchObject({
      type: "egress",
      host: "web.test",
      port: 443,
      verdict: "allowed",
      rule_id: "user/network.allow[0]",
      via: "direct",
      why: null,
    });
    expect(start?.type === "egress" && start.call_id).toMatch(/^call_\d+$/);
    await expect.poll(() => gated.facts.length, { timeout: 10_000 }).toBe(2);
    const [, end] = gated.facts;
    expect(end).toMatchObject({ type: "egress_end", why: null });
    expect(end?.type === "egress_end" && [end.bytes_down > 100_000, end.bytes_up > 100]).toEqual([true, true]);
  });
});
