import { fork } from "node:child_process";
import { once } from "node:events";
import { cp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { figures, output, round, timed, watchMemory } from "./measure.mjs";
import { call, fromDist, openSandbox } from "./place.mjs";

const MIB = 1024 * 1024;
const BULK = 1_000_000_000;
const PIECE = 250_000_000;
const STREAMS = 200;
/** A name of the bench's own, at an address that only its dialler knows. */
const NAME = "far.test";
const client = join(import.meta.dirname, "egress-client.mjs");

/** Connections out of a container, each beside the same connection from the host. */
export async function egress(place) {
  const server = fork(join(import.meta.dirname, "egress-server.mjs"));
  const [ports] = await once(server, "message");
  const outlet = await openOutlet(Object.values(ports));
  await cp(client, join(place.workspace, "client.mjs"));
  await writeFile(join(place.workspace, "small.txt"), "a small file\n".repeat(20));
  const sandbox = await openSandbox(place, { outlet });
  try {
    const ends = { inside: insideOf(sandbox), here: hereOn(), ports };
    // Memory first: what other rows have used would hide growth.
    return [
      ...(await bulk(ends)),
      ...(await streams(ends)),
      await refusals(ends),
      await firstByte(ends),
      await calls(sandbox, ends),
    ];
  } finally {
    await sandbox.close();
    await outlet.close();
    server.kill();
  }
}

function openOutlet(ports) {
  return Promise.all([fromDist("egress/egress.js"), fromDist("policy/policy.js")]).then(
    ([{ openEgress }, policies]) => {
      const value = {
        host: NAME,
        ports,
        protocol: "tcp",
        private: false,
        inspect: false,
        methods: "all",
        paths: "all",
      };
      const allow = { rule: "user/network.allow", items: [{ value, rule: "user/network.allow[0]" }] };
      const { BUILT_IN_POLICY } = policies;
      return openEgress({
        policy: { ...BUILT_IN_POLICY, network: { ...BUILT_IN_POLICY.network, hosts: [{ allow }] } },
        dialler: { resolve: async () => ["93.184.216.34"], connect: dial },
        proxy: undefined,
        approver: { by: "nobody", ask: async () => ({ type: "no" }) },
        record: async () => undefined,
      });
    },
  );
}

async function dial({ port }) {
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true, noDelay: true });
  await once(socket, "connect");
  return socket;
}

/** What the client prints, run in the container. */
function insideOf(sandbox) {
  return async (what, port, number, host = NAME) => {
    const command = `node client.mjs ${what} ${host} ${port} ${number}`;
    const { content } = await call(sandbox, "bash", { command, timeout: 600 });
    return JSON.parse(content.map((part) => part.text ?? "").join(""));
  };
}

/** The same, run beside it. */
function hereOn() {
  return async (what, port, number, host = "127.0.0.1") =>
    JSON.parse(await output(process.execPath, [client, what, host, String(port), String(number)]));
}

async function bulk({ inside, here, ports }) {
  const rows = [];
  for (const [what, port] of [
    ["down", ports.source],
    ["up", ports.sink],
  ]) {
    await inside(what, port, PIECE);
    const before = process.memoryUsage().rss;
    const watch = watchMemory();
    const rates = [];
    for (let left = BULK; left > 0; left -= PIECE) rates.push(await inside(what, port, PIECE));
    const growth = round((watch.stop() - before) / MIB, 1);
    const host = await here(what, port, PIECE);
    const best = Math.max(...rates);
    rows.push({
      name: `1 GB ${what} one stream after another, the fastest; growth of the controller`,
      ...{ value: round(best, 0), unit: "MB/s", ratio: round(best / host, 2) },
      limit: "≥ 100 MB/s, and ≤ 64 MiB of growth",
      holds: best >= 100 && growth <= 64,
      raw: { rates: rates.map((rate) => round(rate, 0)), host: round(host, 0), growth_mib: growth },
    });
  }
  return rows;
}

async function streams({ inside, here, ports }) {
  const before = process.memoryUsage().rss;
  const watch = watchMemory();
  const rate = await inside("many", ports.echo, STREAMS);
  const each = round((watch.stop() - before) / STREAMS / 1024, 1);
  const host = await here("many", ports.echo, STREAMS);
  return [
    {
      name: `${STREAMS} connections at once, each echoing 1 MiB; growth of the controller for each`,
      ...{ value: each, unit: "KiB", ratio: round(rate / host, 2), limit: "≤ 256 KiB" },
      holds: each <= 256,
      raw: { megabytes_per_second: round(rate, 0), host: round(host, 0) },
    },
  ];
}

async function refusals({ inside }) {
  const refused = figures(await inside("refused", 0, 50, "denied.test"));
  return {
    name: "a host that nobody allows, until its name is answered",
    ...{ value: refused.p50, unit: "ms", ratio: null, limit: "≤ 50 ms", holds: refused.p50 <= 50 },
    raw: { refused_ms: refused },
  };
}

async function firstByte({ inside, here, ports }) {
  const [out, host] = [[], []];
  for (let turn = 0; turn < 3; turn++) {
    out.push(...(await inside("first", ports.echo, 100)));
    host.push(...(await here("first", ports.echo, 100)));
  }
  const [through, direct] = [figures(out), figures(host)];
  const added = round(through.p50 - direct.p50);
  return {
    name: "what the way out adds to the first byte of an allowed connection",
    ...{ value: added, unit: "ms", ratio: round(through.p50 / direct.p50, 1), limit: "≤ 3 ms", holds: added <= 3 },
    raw: { through_ms: through, direct_ms: direct },
  };
}

/** A tool call while a bulk download runs. */
async function calls(sandbox, { inside, ports }) {
  const read = () => timed(() => call(sandbox, "read", { path: "small.txt" }));
  const idle = [];
  for (let count = 0; count < 300; count++) idle.push(await read());
  const download = { done: false };
  const running = inside("down", ports.source, BULK).finally(() => {
    download.done = true;
  });
  const busy = [];
  while (!download.done) busy.push(await read());
  await running;
  const ratio = round(p95(busy) / p95(idle), 1);
  return {
    name: "`read` of a small file during a bulk download, p95; ratio: to an idle channel",
    ...{ value: round(p95(busy)), unit: "ms", ratio, limit: "≤ 3 × idle", holds: ratio <= 3 },
    raw: { idle_ms: figures(idle), busy_ms: figures(busy), idle_p95: round(p95(idle)) },
  };
}

function p95(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)];
}
