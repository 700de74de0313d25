/** A path of the host as a {@link Helper}'s command sees it; both absolute. */
export type HelperMount = { source: string; target: string; readOnly: boolean };

export type HelperJob = {
  /** The program and its arguments, no shell. The image's own programs, and those of the runtime volume. */
  command: readonly string[];
  mounts: readonly HelperMount[];
  /** Who runs it, as seen from inside; nobody's user when omitted. */
  user?: { uid: number; gid: number };
};

/** `stdout` is cut at 1 MiB, `stderr` at 4 KiB. */
export type HelperEnd = { exitCode: number; stdout: string; stderr: string };

/**
 * Runs one command in a container of its own, which is as closed as a session's, and gone afterwards: how the host
 * looks at files that it must not touch itself.
 */
export type Helper = {
  /** @throws GloveboxError `SANDBOX_START_FAILED`, `ENGINE_FAILED`; `SANDBOX_LOST` when it takes more than a minute. */
  run: (job: HelperJob) => Promise<HelperEnd>;
};
