import { type Ip, isInBlock, parseBlock, parseIp } from "./ip.ts";

/**
 * What may be dialled. `private`: only for a rule with `private: true`; `never`: no rule admits it. `what` is a noun
 * phrase, for words.
 */
export type AddressClass = { type: "public" } | { type: "private" | "never"; what: string };

/**
 * The class of an address a name was resolved to. `own`: the addresses of this machine's interfaces, which are private
 * even where the world can reach them. What is no address is never dialled.
 */
export function classifyAddress(address: string, own: readonly string[]): AddressClass {
  const ip = parseIp(address);
  if (!ip) return { type: "never", what: "no address" };
  const found = classOf(ip);
  if (found.type !== "public") return found;
  const reached = [ip, ...embeddedIn(ip)];
  const isOwn = own.map(parseIp).some((mine) => reached.some((form) => sameIp(mine, form)));
  return isOwn ? { type: "private", what: "an address of this machine" } : found;
}

/** The IPv4 address that an IPv6 address reaches. */
function embeddedIn(ip: Ip): Ip[] {
  return EMBEDDING.filter(({ block }) => isInBlock(ip, block)).map(({ at }) => ip.slice(at, at + 4));
}

function sameIp(one: Ip | undefined, other: Ip): boolean {
  return one?.length === other.length && one.every((byte, index) => byte === other[index]);
}

function classOf(ip: Ip): AddressClass {
  const special = SPECIAL.find(({ block }) => isInBlock(ip, block));
  if (special) return special.judge(ip);
  if (ip.length === 4 || isInBlock(ip, GLOBAL_UNICAST)) return { type: "public" };
  return { type: "never", what: "a reserved address" };
}

type Judge = (ip: Ip) => AddressClass;

const never =
  (what: string): Judge =>
  () => ({ type: "never", what });
const restricted =
  (what: string): Judge =>
  () => ({ type: "private", what });
/** As the IPv4 address in it. */
const embedded: Judge = (ip) => embeddedIn(ip).map(classOf)[0] ?? { type: "never", what: "a reserved address" };

/** Forms of IPv6 that reach the IPv4 address whose first byte stands at `at`. */
const EMBEDDING = [
  { block: parseBlock("::ffff:0:0/96"), at: 12 },
  { block: parseBlock("::ffff:0:0:0/96"), at: 12 },
  { block: parseBlock("64:ff9b::/96"), at: 12 },
  { block: parseBlock("2002::/16"), at: 2 },
];

const METADATA = never("the metadata service of a cloud");
const LINK_LOCAL = never("a link-local address");
const MULTICAST = never("a multicast address");
const RESERVED = never("a reserved address");
// Closed networks use them, as labs do that have no other numbers left.
const DOCUMENTATION = restricted("an address for documentation");
const PRIVATE = restricted("a private address");
const LOOPBACK = restricted("an address of this machine's loopback");

// IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and after), IANA multicast and unicast assignments,
// and the addresses at which clouds keep the credentials of a machine, which lie in ranges of every kind.
// The first that matches counts.
const TABLE: readonly (readonly [string, Judge])[] = [
  ["169.254.0.0/16", never("a link-local address, where clouds have their metadata service")],
  ["168.63.129.16/32", METADATA],
  ["100.100.100.200/32", METADATA],
  ["192.0.0.192/32", METADATA],
  ["0.0.0.0/8", never("an address of this network")],
  ["10.0.0.0/8", PRIVATE],
  ["100.64.0.0/10", restricted("a shared address (CGNAT)")],
  ["127.0.0.0/8", LOOPBACK],
  ["172.16.0.0/12", PRIVATE],
  ["192.0.0.0/24", RESERVED],
  ["192.0.2.0/24", DOCUMENTATION],
  ["192.31.196.0/24", RESERVED],
  ["192.52.193.0/24", RESERVED],
  ["192.88.99.0/24", RESERVED],
  ["192.168.0.0/16", PRIVATE],
  ["192.175.48.0/24", RESERVED],
  ["198.18.0.0/15", restricted("an address for benchmarks")],
  ["198.51.100.0/24", DOCUMENTATION],
  ["203.0.113.0/24", DOCUMENTATION],
  ["224.0.0.0/4", MULTICAST],
  ["255.255.255.255/32", never("the broadcast address")],
  ["240.0.0.0/4", RESERVED],
  ["fd00:ec2::/32", METADATA],
  ["fd20:ce::254/128", METADATA],
  ["::/128", never("the unspecified address")],
  ["::1/128", LOOPBACK],
  ["::ffff:0:0/96", embedded],
  ["::ffff:0:0:0/96", embedded],
  ["::/96", never("an IPv4-compatible address")],
  ["64:ff9b::/96", embedded],
  ["64:ff9b:1::/48", never("an address of a local translation")],
  ["100::/64", never("an address whose packets are discarded")],
  ["100:0:0:1::/64", RESERVED],
  ["2001::/32", never("a Teredo address")],
  ["2001::/23", RESERVED],
  ["2001:db8::/32", DOCUMENTATION],
  ["2002::/16", embedded],
  ["2620:4f:8000::/48", RESERVED],
  ["3fff::/20", DOCUMENTATION],
  ["5f00::/16", RESERVED],
  ["fc00::/7", PRIVATE],
  ["fe80::/10", LINK_LOCAL],
  ["fec0::/10", never("a site-local address")],
  ["ff00::/8", MULTICAST],
];
const SPECIAL = TABLE.map(([block, judge]) => ({ block: parseBlock(block), judge }));
/** The only part of IPv6 that the world has given out. */
const GLOBAL_UNICAST = parseBlock("2000::/3");
