/** Names of the container itself. */
export const SELF_NAMES: readonly string[] = ["localhost", "glovebox"];

/** Where the tool host listens; other than these in tests only, which share a machine with other things. */
export type Places = {
  /** Addresses of the resolver; a second one need not be there. */
  dns: { address: string; port: number }[];
  /** Addresses of forwarded ports; likewise. */
  forwards: string[];
};

export const PLACES: Places = {
  dns: [
    { address: "127.0.0.1", port: 53 },
    { address: "::1", port: 53 },
  ],
  forwards: ["127.0.0.1", "::1"],
};
