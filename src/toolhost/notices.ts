import type { ToolDetails } from "../core/tool-result.ts";
import type { Outcome } from "../protocol/messages.ts";
import { outcome } from "./outcomes.ts";

/** `text`, then each notice in brackets on a line of its own, so that it stands last and apart from the output. */
export function withNotices(text: string, notices: readonly string[]): string {
  if (notices.length === 0) return text;
  const lines = notices.map((notice) => `[${notice}]`).join("\n");
  if (text === "") return lines;
  return text.endsWith("\n") ? `${text}${lines}` : `${text}\n${lines}`;
}

/** A size for people: `12 bytes`, `1.5 KiB`, `20.0 GiB`. */
export function shownSize(bytes: number): string {
  if (bytes < 1024) return plural(bytes, "byte");
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
}

/** An outcome whose text was cut when `truncated`. */
export function shownOutcome(
  status: Outcome["status"],
  text: string,
  details: ToolDetails,
  truncated: boolean,
): Outcome {
  return { ...outcome(status, text, details), ...(truncated && { truncated }) };
}

export function cancelled(what: string): Outcome {
  return outcome("cancelled", `Cancelled; ${what}`);
}
