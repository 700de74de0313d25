import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectControl } from "../support/egress/attempt.ts";
import { Gated } from "../support/egress/gated.ts";
import { hashOfBytes } from "../support/egress/raw-servers.ts";
import { World } from "../support/egress/world.ts";

const GIGABYTE = 1_000_000_000;
const MIB = 1024 * 1024;
const POLICY = `network:
  allow:
    - { host: web.test, ports: [443, 80] }
    - { host: tcp.test, ports: [7000, 7001, 7002], protocol: tcp }
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

/** The most this process, which is the controller, has had beyond what it had before. */
async function growthWhile<T>(work: () => Promise<T>): Promise<{ value: T; growthBytes: number }> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 50);
  try {
    return { value: await work(), growthBytes: most - before };
  } finally {
    clearInterval(timer);
  }
}

describe("much at once", () => {
  it("N-70 a gigabyte comes down whole, in flat memory", async () => {
    await gated.sh("echo 50000000 | python3 half.py tcp.test 7001 | wc -c");
    const command = `bash -c 'exec 3<>/dev/tcp/tcp.test/7001; echo ${GIGABYTE} >&3; sha256sum <&3'`;
    const { value, growthBytes } = await growthWhile(() => gated.sh(command, 110));
    expect(value.text).toContain(hashOfBytes(GIGABYTE));
    expect(growthBytes).toBeLessThan(96 * MIB);
  });

  it("N-70 a gigabyte goes up whole, in flat memory", async () => {
    const command = `head -c ${GIGABYTE} /dev/zero | python3 sink.py tcp.test 7002`;
    const { value, growthBytes } = await growthWhile(() => gated.sh(command, 110));
    expect(value.text).toMatch(new RegExp(`${GIGABYTE} [0-9a-f]{64} same`));
    expect(growthBytes).toBeLessThan(96 * MIB);
  });

  it("N-72 200 connections at once keep their bytes apart, and leave nothing open", async () => {
    const { text } = await gated.sh("python3 streams.py tcp.test 7000 200 200000", 110);
    expect(text).toBe("200 of 200\n");
    await expectControl(world, gated);
  });
});

describe("limits", () => {
  it("N-91 what goes up beyond the upload limit is cut, and a line says so", async () => {
    const policy = `network: { allow: [{ host: tcp.test, ports: [7002], protocol: tcp }, web.test], upload_limit: 1MB }`;
    await using limited = await Gated.open(world, { policy });
    const { text, lines } = await limited.sh("head -c 5000000 /dev/zero | python3 sink.py tcp.test 7002");
    expect(text).not.toContain("same");
    expect(lines.join("\n")).toMatch(/tcp\.test.*(1MB|limit)/);
    const ends = limited.facts.flatMap((fact) => (fact.type === "egress_end" ? [fact] : []));
    expect(ends.map(({ bytes_up, why }) => [bytes_up <= 1.2 * MIB, why !== null])).toContainEqual([true, true]);
    await expectControl(world, limited);
  });

  it("N-50 N-90 one session's addresses lead nowhere in another", async () => {
    await using other = await Gated.open(world);
    const address = (await gated.sh("getent hosts web.test | head -1 | cut -d' ' -f1")).text.trim();
    expect(address).toMatch(/^127\./);
    const { text } = await other.sh(`curl -sSk --max-time 9 --resolve web.test:443:${address} https://web.test/`);
    expect(text).toMatch(/refused|connect/i);
    expect(world.touched()).toMatchObject({ resolved: [], dialled: [] });
    await expectControl(world, gated);
  });
});
