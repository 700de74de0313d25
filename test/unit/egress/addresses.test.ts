import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyAddress } from "../../../src/egress/dial/addresses.ts";
import { parseIp } from "../../../src/egress/dial/ip.ts";

const typeOf = (address: string) => classifyAddress(address, []).type;

describe("the class of an address", () => {
  it.each([
    ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0"],
    ...["126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0"],
    ...["192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"],
    ...["2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2001:4860:4860::8888", "2400:cb00::1"],
    ...["::ffff:1.1.1.1", "64:ff9b::101:101", "64:ff9b::8.8.8.8", "2002:0101:0101::1"],
  ])("%s is public", (address) => {
    expect(classifyAddress(address, ["10.1.1.1", "2a00::1"])).toEqual({ type: "public" });
  });

  it.each(["127.0.0.1", "127.255.255.254", "127.0.0.53", "::1", "0:0:0:0:0:0:0:1"])(
    "N-40 %s is the host's loopback, which only `private: true` admits",
    (address) => {
      expect(classifyAddress(address, [])).toEqual({ type: "private", what: "an address of this machine's loopback" });
    },
  );

  it("N-41 an address of the host is private where the world can reach it, too", () => {
    const own = ["93.184.216.34", "2a00:1450::1"];
    const mine = { type: "private", what: "an address of this machine" };
    expect(classifyAddress("93.184.216.34", own)).toEqual(mine);
    expect(classifyAddress("2A00:1450:0::0001", own)).toEqual(mine);
    expect(classifyAddress("93.184.216.35", own)).toEqual({ type: "public" });
    expect(typeOf("172.17.0.1")).toBe("private");
  });

  it.each(["::ffff:8.8.4.4", "::ffff:808:404", "::ffff:0:8.8.4.4", "64:ff9b::8.8.4.4", "2002:808:404::1"])(
    "N-41 %s is the host's own address in a form of IPv6, and private as that is",
    (address) => {
      const mine = { type: "private", what: "an address of this machine" };
      expect(classifyAddress(address, ["8.8.4.4"])).toEqual(mine);
      expect(classifyAddress(address, ["8.8.4.5"])).toEqual({ type: "public" });
    },
  );

  it.each([
    ...["169.254.169.254", "169.254.170.2", "169.254.0.23", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"],
    ...["100.100.100.200", "168.63.129.16", "192.0.0.192", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe"],
    ...["2002:a9fe:a9fe::", "::ffff:a9fe:a9fe"],
  ])("N-43 %s, where a cloud keeps a machine's credentials, is never dialled", (address) => {
    expect(typeOf(address)).toBe("never");
  });

  it.each([
    ["10.0.0.0", "private"],
    ["10.255.255.255", "private"],
    ["172.16.0.0", "private"],
    ["172.31.255.255", "private"],
    ["192.168.0.1", "private"],
    ["100.64.0.0", "private"],
    ["100.127.255.255", "private"],
    ["198.18.0.1", "private"],
    ["198.19.255.255", "private"],
    ["0.0.0.0", "never"],
    ["0.1.2.3", "never"],
    ["169.254.1.1", "never"],
    ["192.0.0.1", "never"],
    ["192.0.2.1", "private"],
    ["192.31.196.1", "never"],
    ["192.52.193.1", "never"],
    ["192.88.99.1", "never"],
    ["192.175.48.1", "never"],
    ["198.51.100.7", "private"],
    ["203.0.113.7", "private"],
    ["224.0.0.1", "never"],
    ["239.255.255.255", "never"],
    ["240.0.0.1", "never"],
    ["255.255.255.254", "never"],
    ["255.255.255.255", "never"],
  ])("N-44 %s is %s", (address, type) => {
    expect(typeOf(address)).toBe(type);
  });

  it.each([
    ["fc00::1", "private"],
    ["fd12:3456::1", "private"],
    ["fe80::1", "never"],
    ["febf::1", "never"],
    ["fec0::1", "never"],
    ["ff02::1", "never"],
    ["::", "never"],
    ["::ffff:10.0.0.5", "private"],
    ["::ffff:127.0.0.1", "private"],
    ["::ffff:0.0.0.0", "never"],
    ["::ffff:0:10.0.0.5", "private"],
    ["::7f00:1", "never"],
    ["::127.0.0.1", "never"],
    ["2002:0a00:0005::1", "private"],
    ["2002:7f00:1::", "private"],
    ["2002:e000:1::", "never"],
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "never"],
    ["2001:2::1", "never"],
    ["2001:20::1", "never"],
    ["2001:db8::1", "private"],
    ["3fff::1", "private"],
    ["3fff:fff::1", "private"],
    ["5f00::1", "never"],
    ["64:ff9b::10.0.0.5", "private"],
    ["64:ff9b::7f00:1", "private"],
    ["64:ff9b:1::a00:5", "never"],
    ["100::1", "never"],
    ["100:0:0:1::1", "never"],
    ["2620:4f:8000::1", "never"],
    ["4000::1", "never"],
    ["200::1", "never"],
  ])("N-45 %s is %s", (address, type) => {
    expect(typeOf(address)).toBe(type);
  });

  it.each([
    ...["", "example.com", "127.1", "2852039166", "0x7f.0.0.1", "0177.0.0.1", "1.2.3.4.5", "1.2.3.256", "1.2.3.04"],
    ...[
      "fe80::1%eth0",
      "[::1]",
      "::1::",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "12345::",
      ":::",
      "1.2.3.4 ",
      "::1.2.3",
    ],
    ...["1:2:3:4:5:6:7::8", "1.2.3.4::"],
  ])("O-NET-02 what an answer spells as %j is no address, and never dialled", (address) => {
    expect(classifyAddress(address, [])).toEqual({ type: "never", what: "no address" });
  });

  it("reads every form of an IPv6 address as the same bytes", () => {
    const word = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.array(word, { minLength: 8, maxLength: 8 }), (words) => {
        const full = words.map((one) => one.toString(16).padStart(4, "0")).join(":");
        const short = new URL(`http://[${full}]/`).hostname.slice(1, -1);
        expect(parseIp(short)).toEqual(parseIp(full.toUpperCase()));
        expect(parseIp(full)).toEqual(words.flatMap((one) => [one >> 8, one & 255]));
      }),
    );
  });
});
