import type { Carriage } from "../carriage.ts";
import { Gathered } from "./gathered.ts";
import { join } from "./join.ts";
import type { CarryOptions } from "./options.ts";
import { refuseProtocol, shown } from "./words.ts";

/** With its end (RFC 4253, 4.2). */
const MAX_BANNER_BYTES = 255;
const BANNER = /^SSH-(?:2\.0|1\.99)-[\u0020-\u007e]+\r?\n$/;
const PREFIXES = ["SSH-2.0-", "SSH-1.99-"];

/** Dials at once, because the server may speak first; nothing of the program passes before its banner. @throws EgressRefusal */
export async function carrySsh(carriage: Carriage, { lingerMs }: CarryOptions): Promise<void> {
  const { inside, signal, count } = carriage;
  const outside = await carriage.dial();
  outside.allowHalfOpen = true;
  const banner = new Gathered();
  let isSsh = false;
  const pass = (piece: Buffer) => {
    count("up", piece.length);
    outside.write(piece);
  };
  await join({
    inside,
    outside,
    signal,
    lingerMs,
    up: (piece) => {
      if (isSsh) return pass(piece);
      banner.add(piece);
      isSsh = isWholeBanner(banner.bytes, carriage);
      if (isSsh) pass(banner.take());
    },
    down: (piece) => {
      count("down", piece.length);
      inside.write(piece);
    },
  });
}

/** @throws EgressRefusal as soon as it cannot become one. */
function isWholeBanner(bytes: Buffer, carriage: Carriage): boolean {
  const end = bytes.indexOf(10) + 1;
  const line = bytes.toString("latin1", 0, end || MAX_BANNER_BYTES + 1);
  const isBegun = PREFIXES.some((prefix) => line.startsWith(prefix.slice(0, line.length)));
  const isGood = isBegun && line.length <= MAX_BANNER_BYTES && (end === 0 || BANNER.test(line));
  if (isGood) return end > 0;
  throw refuseProtocol(carriage, `expected the banner of an SSH client, met \`${shown(line)}\``);
}
