import type { LiveEvent } from "../core/events.ts";
import type { Secrets } from "../core/secrets.ts";

/** A live event that carries a piece of a longer text. */
type Piece = Extract<LiveEvent, { text: string; type: "text_delta" | "reasoning_delta" | "tool_output" }>;

/**
 * Masks texts that come in pieces. A secret, or a character, may be cut by the end of a piece: what could be the
 * beginning of one waits for the next piece, or for the end of the text.
 */
export class LiveMask {
  readonly #secrets: Secrets;
  readonly #held = new Map<string, Piece>();

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** The piece as it may be shown now; undefined when all of it has to wait. */
  push(piece: Piece): Piece | undefined {
    const key = keyOf(piece);
    const text = (this.#held.get(key)?.text ?? "") + piece.text;
    const masked = this.#secrets.mask(text);
    const keep = Math.max(this.#secrets.beginningAtEnd(masked), endsInHalf(masked) ? 1 : 0);
    const shown = masked.slice(0, masked.length - keep);
    if (keep > 0) this.#held.set(key, { ...piece, text: masked.slice(masked.length - keep) });
    else this.#held.delete(key);
    return shown === "" ? undefined : { ...piece, text: shown };
  }

  /** What still waits; its texts are over. */
  flush(): Piece[] {
    const pieces = [...this.#held.values()];
    this.#held.clear();
    return pieces;
  }
}

function keyOf(piece: Piece): string {
  return piece.type === "tool_output" ? `${piece.type} ${piece.call_id}` : piece.type;
}

function endsInHalf(text: string): boolean {
  return /[\ud800-\udbff]$/.test(text);
}
