/**
 * Exit codes of every command. 3: completed, but calls or hosts were denied because nobody was there to ask.
 * 7: the model's answer was truncated or refused. 130/143: ended by SIGINT/SIGTERM.
 */
export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  deniedUnattended: 3,
  limit: 4,
  sandbox: 5,
  credentials: 6,
  truncated: 7,
  interrupted: 130,
  terminated: 143,
} as const;

/** Every code a {@link GloveboxError} can carry, with the exit code it ends a command with. */
export const ERROR_EXITS = {
  USAGE: EXIT.usage,
  CONFIG_INVALID: EXIT.usage,
  SCRIPT_INVALID: EXIT.usage,
  WORKSPACE_REFUSED: EXIT.usage,
  NOT_A_TERMINAL: EXIT.usage,
  SESSION_NOT_FOUND: EXIT.usage,
  SESSION_CORRUPT: EXIT.failed,
  SESSION_WRITE_FAILED: EXIT.failed,
  ENGINE_UNREACHABLE: EXIT.sandbox,
  ENGINE_FORBIDDEN: EXIT.sandbox,
  ENGINE_UNSUPPORTED: EXIT.sandbox,
  ENGINE_FAILED: EXIT.sandbox,
  IMAGE_MISSING: EXIT.sandbox,
  IMAGE_BUILD_FAILED: EXIT.sandbox,
  IMAGE_UNUSABLE: EXIT.sandbox,
  SANDBOX_START_FAILED: EXIT.sandbox,
  SELFTEST_FAILED: EXIT.sandbox,
  SANDBOX_LOST: EXIT.sandbox,
  PROTOCOL: EXIT.sandbox,
  CREDENTIALS_MISSING: EXIT.credentials,
  CREDENTIALS_REJECTED: EXIT.credentials,
  MODEL_NOT_FOUND: EXIT.failed,
  MODEL_UNREACHABLE: EXIT.failed,
  MODEL_REJECTED: EXIT.failed,
  MODEL_RATE_LIMITED: EXIT.failed,
  MODEL_PROTOCOL: EXIT.failed,
  EXPECTATION_FAILED: EXIT.failed,
  HOST_FAILED: EXIT.failed,
  ABORTED: EXIT.interrupted,
  INTERNAL: EXIT.failed,
} as const;

export type ErrorCode = keyof typeof ERROR_EXITS;

/**
 * The one error class. `message` is a sentence with the value met and what was expected, without a full stop;
 * `hint` says what a person can do. Never holds a credential.
 */
export class GloveboxError extends Error {
  override readonly name = "GloveboxError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }

  get exitCode(): number {
    return ERROR_EXITS[this.code];
  }
}

/**
 * Any thrown value as a {@link GloveboxError}. What this machine refused (a full disk, a missing permission) becomes
 * `HOST_FAILED`, everything else that is not one already `INTERNAL`, with the value as cause.
 */
export function toGloveboxError(thrown: unknown): GloveboxError {
  if (thrown instanceof GloveboxError) return thrown;
  const hint = HOST_HINTS[systemCode(thrown) ?? ""];
  if (hint !== undefined) return new GloveboxError("HOST_FAILED", messageOf(thrown), { hint, cause: thrown });
  return new GloveboxError("INTERNAL", messageOf(thrown), { cause: thrown });
}

const HOST_HINTS: Record<string, string> = {
  ENOSPC: "The disk is full: free some space, or set `GLOVEBOX_HOME` to a folder elsewhere",
  EDQUOT: "Your quota is used up: free some space, or set `GLOVEBOX_HOME` to a folder elsewhere",
  EACCES: "Fix the permissions of that path, or set `GLOVEBOX_HOME` to a folder of yours",
  EPERM: "Fix the permissions of that path, or set `GLOVEBOX_HOME` to a folder of yours",
  EROFS: "Set `GLOVEBOX_HOME` to a folder that can be written",
  EMFILE: "This process may open too few files: raise `ulimit -n`",
  ENFILE: "This machine has too many files open",
};

/** The text of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a Node system error (`ENOENT`, `EPIPE`), or undefined. */
export function systemCode(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}
