import { networkInterfaces } from "node:os";
import type { Duplex } from "node:stream";
import { systemCode } from "../../core/errors.ts";
import type { Dialler } from "../dialler.ts";
import type { Route } from "../ledger.ts";
import { EgressRefusal } from "../refusal.ts";
import { isExempt, isLocalName, type UpstreamProxy } from "../upstream-proxy.ts";
import { type AddressClass, classifyAddress } from "./addresses.ts";
import { failureWords } from "./failure-words.ts";
import { parseIp } from "./ip.ts";
import { dialFirst, inTurns } from "./race.ts";
import { untilAborted } from "./until-aborted.ts";
import { dialThroughProxy } from "./via-proxy.ts";

export type Target = { host: string; port: number };

/** A way out that was found and checked; `connect` takes it. What is denied has the route it would have taken. */
export type Way = Route & ({ connect: (signal: AbortSignal) => Promise<Duplex> } | { denied: EgressRefusal });

type Means = { dialler: Dialler; proxy: UpstreamProxy | undefined };

/**
 * The way to an admitted name: through the person's proxy, or to its addresses, all of which are checked, so that those
 * that are dialled are. `whenPrivate`: why it may not be reached at a private address.
 * @throws EgressRefusal when it cannot be resolved, or the signal's reason
 */
export async function wayToName(
  { dialler, proxy }: Means,
  { target, whenPrivate }: { target: Target; whenPrivate: () => EgressRefusal | undefined },
  signal: AbortSignal,
): Promise<Way> {
  if (proxy && !isExempt(proxy, target)) return wayThrough({ dialler, proxy }, target);
  const addresses = await resolve(dialler, target.host, signal);
  const own = ownAddresses();
  const classes = addresses.map((address) => ({ address, class: classifyAddress(address, own) }));
  const first =
    classes.find((item) => item.class.type === "never") ?? classes.find((item) => item.class.type === "private");
  const denied = first && refusalOf(target, first.class, whenPrivate);
  if (denied) return { via: "direct", address: first.address, denied };
  return wayTo({ dialler, via: "direct" }, addresses, target.port);
}

/** The way to a service that a rule forwards to: whatever its addresses are, since a person wrote them. */
export async function wayToService(dialler: Dialler, { host, port }: Target, signal: AbortSignal): Promise<Way> {
  const addresses = parseIp(host) ? [host] : await resolve(dialler, host, signal);
  return wayTo({ dialler, via: "forward" }, addresses, port);
}

function wayTo(
  { dialler, via }: { dialler: Dialler; via: Route["via"] },
  addresses: readonly string[],
  port: number,
): Way {
  const dialled = inTurns(addresses);
  const candidates = dialled.map((address) => ({ address, port }));
  return {
    via,
    address: dialled.join(", "),
    connect: (signal) => dialFirst((to, until) => dialler.connect(to, until), candidates, signal),
  };
}

function wayThrough({ dialler, proxy }: { dialler: Dialler; proxy: UpstreamProxy }, target: Target): Way {
  const route = { via: "proxy", address: `${proxy.host}:${proxy.port}` } as const;
  if (!isLocalName(target.host)) {
    return { ...route, connect: (signal) => dialThroughProxy({ dialler, proxy }, target, signal) };
  }
  const denied = new EgressRefusal(`\`${target.host}\` is a name of your own network, which no proxy is asked for`, {
    rule: "built-in/network.proxy",
    enable_with: `put \`${target.host}\` into NO_PROXY, and \`private: true\` into its rule, if it is meant`,
  });
  return { ...route, denied };
}

async function resolve(dialler: Dialler, host: string, signal: AbortSignal): Promise<readonly string[]> {
  let addresses: readonly string[] = [];
  try {
    addresses = [...new Set(await untilAborted(dialler.resolve(host, signal), signal))];
  } catch (error) {
    signal.throwIfAborted();
    const code = systemCode(error);
    if (code === undefined) throw new EgressRefusal(failureWords(error));
    throw new EgressRefusal(`this machine found no address for \`${host}\` (${code})`);
  }
  if (addresses.length === 0) throw new EgressRefusal(`\`${host}\` has no address`);
  return addresses;
}

function refusalOf(
  { host }: Target,
  found: AddressClass,
  whenPrivate: () => EgressRefusal | undefined,
): EgressRefusal | undefined {
  if (found.type === "public") return undefined;
  const why = `\`${host}\` resolves to ${found.what}`;
  if (found.type === "private") {
    const refusal = whenPrivate();
    return refusal && new EgressRefusal(why, refusal.denial);
  }
  return new EgressRefusal(why, {
    rule: "built-in/network.addresses",
    enable_with: "no rule admits such an address; use `forward` for a service of this machine",
  });
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
