import { type ErrorCode, GloveboxError } from "../core/errors.ts";
import type { Usage } from "../core/messages.ts";

/** Whether the same request may be sent again. `wait`: the provider said after how long. */
export type RetryAdvice = { type: "never" } | { type: "back_off" } | { type: "wait"; ms: number };

type FailureOptions = { retry?: RetryAdvice; overflow?: boolean; hint?: string | undefined; cause?: unknown };

/** One failed attempt at a response. Nothing of it was executed. `retry` omitted means never. */
export class ModelFailure extends GloveboxError {
  readonly retry: RetryAdvice;
  /** The request did not fit into the model's context: shorter, it may succeed. */
  readonly overflow: boolean;
  /** What had arrived when the attempt failed; usage is billed although the answer is void. */
  partial: { chars: number; usage: Usage | undefined } = { chars: 0, usage: undefined };

  constructor(code: ErrorCode, message: string, options: FailureOptions = {}) {
    super(code, message, { ...(options.hint && { hint: options.hint }), cause: options.cause });
    this.retry = options.retry ?? { type: "never" };
    this.overflow = options.overflow ?? false;
  }
}

/** Who was asked for what, for the words of a failure. */
export type Endpoint = {
  provider: string;
  model: string;
  /** The base URL, without credentials. */
  url: string;
  /** Removes every known secret from a text of the provider. */
  mask: (text: string) => string;
};
