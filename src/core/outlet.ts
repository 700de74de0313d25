import type { Duplex } from "node:stream";

/** Which tool call a question or a connection of the container is of. */
export type Origin = {
  /** The model's id of the call; null when none was running. */
  callId: string | null;
  /** The process could not be told, so it is taken for the running call's. */
  assumed: boolean;
};

/** What a connection of the container asks for: a name it was given an address for, or a port that is forwarded. */
export type Destination = { type: "name"; name: string; port: number } | { type: "forward"; listen: number };

/** An admitted name: the loopback address that stands for it in the container, and the ports somebody may admit. */
export type AdmittedName = { address: string; ports: readonly number[] };

/** What the container's kernel or tool host refused while a call ran, without asking anybody. */
export type RefusedInside = {
  /** Packets to addresses, for which there is no route. */
  unreachable: number;
  /** Questions for other than addresses: TXT, MX, SRV. */
  otherQuestions: number;
  /** Ports of admitted names that a process of the session holds: the name was not given an address. */
  taken: readonly { name: string; port: number; process: string }[];
  /** A process could not listen on ports that stand for names. */
  heldPorts: readonly number[];
};

/**
 * Where the connections of a container go out, each judged on the host. A sandbox is handed one and never makes one.
 * None of its functions rejects.
 */
export type Outlet = {
  /** Ports on the container's 127.0.0.1 that reach a service of the host's choice. */
  readonly forwards: readonly number[];
  /** Certificates (PEM) that programs inside must trust beside their own; undefined when there are none. */
  readonly certificates: string | undefined;
  /** Whether a name may get an address inside; undefined is no. `name` is as the container sent it: hostile. */
  lookup: (name: string, by: Origin) => Promise<AdmittedName | undefined>;
  /** Takes over `stream` and its end: what is refused is destroyed, with the reason as its error. */
  connect: (to: Destination, by: Origin, stream: Duplex) => void;
  /**
   * What the model is to know of the connections of a call that has ended, each a line; empty for most calls. Unless
   * processes of the call go on, nobody is asked for it any more.
   */
  linesFor: (callId: string, inside: RefusedInside, goesOn: boolean) => Promise<string[]>;
};

/** Nothing leaves: for containers that have no policy of their own. */
export const CLOSED_OUTLET: Outlet = {
  forwards: [],
  certificates: undefined,
  lookup: () => Promise.resolve(undefined),
  connect: (_to, _by, stream) => void stream.destroy(new Error("nothing leaves this container")),
  linesFor: () => Promise.resolve([]),
};
