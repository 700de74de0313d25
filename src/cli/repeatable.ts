/** The option `--allow-host` for commander: each use adds a value. */
export const ALLOW_HOST = [
  "--allow-host <host>",
  "a host to allow beside your own, HOST or HOST:PORT; can be repeated",
  (value: string, before: readonly string[] = []): string[] => [...before, value],
] as const;
