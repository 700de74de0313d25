import type { Identity } from "./authority.ts";
import type { DnsAnswer } from "./dns-server.ts";

/** Answers by name, one for each time, the last one for all later ones; what is not named does not exist. */
export type AnswerTable = Record<string, DnsAnswer[]>;
export type OutsideCommand = { id: number; start?: { address: string; identity: Identity }; answers?: AnswerTable };
export type Seen = { questions: string[]; connections: number; visits: string[]; proxied: string[] };

export const PROXY_PORT = 3128;

/** Where the name server and the proxy are. */
export const GATEWAY = "198.51.100.1";
/** A private address that would be reached if somebody dialled it. */
export const PRIVATE = "10.20.30.40";
/** The name under which the site is a registry of npm, too. */
export const REGISTRY = "packages.test";
