const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** The option `--allow-host` for commander: each use adds a value. */
export const ALLOW_HOST = [
  "--allow-host <host>",
  "a host to allow beside your own, HOST or HOST:PORT; can be repeated",
  collect,
] as const;

/** The option `--tool`, likewise. */
export const TOOL = [
  "--tool <name>",
  "a tool to switch on beside the usual ones: pty; can be repeated",
  collect,
] as const;
