import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { GloveboxError, messageOf } from "../core/errors.ts";
import { type Fact, isEntry, type LoggedEvent, type SessionHeader } from "../core/events.ts";
import { shortId } from "../core/ids.ts";

/** A result is on the disk this soon even when nothing follows it. */
const RESULT_SYNC_MS = 20;

type Waiting = { line: string; durable: boolean; resolve: () => void; reject: (error: unknown) => void };

/**
 * The append-only log of one session, the only place its facts are. Lines that come together are written and synced
 * together. After a failed write every further append fails: a log with a hole would be worse than none.
 */
export class SessionLog {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #startedAt = performance.now();
  #seq = 1;
  #lastEntryId: string | null = null;
  #waiting: Waiting[] = [];
  #writing = false;
  #failure: GloveboxError | undefined;
  #syncTimer: NodeJS.Timeout | undefined;
  #idle: Promise<void> = Promise.resolve();

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** Creates the file (0600, in folders of 0700), with `header` as its first line. @throws `SESSION_WRITE_FAILED`. */
  static async create(path: string, header: SessionHeader): Promise<SessionLog> {
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(path, "ax", 0o600);
      await file.write(`${JSON.stringify(header)}\n`);
      await file.sync();
      await syncDirectory(dirname(path));
      return new SessionLog(path, file);
    } catch (error) {
      throw writeFailure(path, error);
    }
  }

  /** Resolves with the line as it stands in the log once it does, synced when the kind of fact asks for that. */
  async append(fact: Fact): Promise<LoggedEvent> {
    if (this.#failure) throw this.#failure;
    const event = this.#stamp(fact);
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ line: `${JSON.stringify(event)}\n`, durable: isDurable(fact), resolve, reject });
      if (!this.#writing) this.#idle = this.#drain();
    });
    if (fact.type === "tool_result") this.#syncSoon();
    return event;
  }

  /** Waits for what was appended and closes the file. */
  async close(): Promise<void> {
    clearTimeout(this.#syncTimer);
    await this.#idle;
    await this.#file.close();
  }

  #stamp(fact: Fact): LoggedEvent {
    const id = shortId();
    const stamp = {
      seq: this.#seq++,
      id,
      ts: new Date().toISOString(),
      mono: Math.round(performance.now() - this.#startedAt),
    };
    if (!isEntry(fact)) return { ...fact, ...stamp };
    const parent_id = this.#lastEntryId;
    this.#lastEntryId = id;
    return { ...fact, ...stamp, parent_id };
  }

  async #drain(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await writeAll(this.#file, Buffer.from(batch.map(({ line }) => line).join(""), "utf8"));
        if (batch.some(({ durable }) => durable)) await this.#file.datasync();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#failure = writeFailure(this.path, error);
        for (const { reject } of [...batch, ...this.#waiting]) reject(this.#failure);
        this.#waiting = [];
      }
    }
    this.#writing = false;
  }

  #syncSoon(): void {
    clearTimeout(this.#syncTimer);
    // A failed sync shows at the next append; there is nobody to tell now.
    this.#syncTimer = setTimeout(() => void this.#file.datasync().catch(() => undefined), RESULT_SYNC_MS);
  }
}

/** Intent must be on the disk before its effect, and an answer that was paid for before it is used. */
function isDurable(fact: Fact): boolean {
  switch (fact.type) {
    case "user":
    case "assistant":
    case "run_end":
      return true;
    case "call_started":
      return fact.replay === "never";
    default:
      return false;
  }
}

/** A short write (a disk that fills up) is continued, so that a line is torn only by a crash. */
async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  let offset = 0;
  while (offset < bytes.length) offset += (await file.write(bytes, offset)).bytesWritten;
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The error for a file of a session that could not be written. */
export function writeFailure(path: string, error: unknown): GloveboxError {
  return new GloveboxError(
    "SESSION_WRITE_FAILED",
    `Session log \`${path}\` could not be written: ${messageOf(error)}`,
    {
      hint: "Free space or fix the permissions of that folder; nothing runs that cannot be logged",
      cause: error,
    },
  );
}
