import type { OutputStream } from "./io.ts";

/** Select Graphic Rendition codes (ECMA-48): on, off. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof STYLES;
export type Paint = (style: Style, text: string) => string;

export const NO_PAINT: Paint = (_style, text) => text;

/** Colours for a terminal. As in Node itself, `FORCE_COLOR` wins over `NO_COLOR`. */
export function paintFor(stream: OutputStream, env: NodeJS.ProcessEnv): Paint {
  return wantsColor(stream, env) ? inColor : NO_PAINT;
}

function wantsColor(stream: OutputStream, env: NodeJS.ProcessEnv): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"]) return false;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

function inColor(style: Style, text: string): string {
  const [on, off] = STYLES[style];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}
