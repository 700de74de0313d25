import type { Carriage } from "../carriage.ts";
import { join } from "./join.ts";
import type { CarryOptions } from "./options.ts";

/** Dials, and passes every byte as it is. @throws EgressRefusal */
export async function carryRaw(carriage: Carriage, { lingerMs }: CarryOptions): Promise<void> {
  const { inside, signal, count } = carriage;
  const outside = await carriage.dial();
  outside.allowHalfOpen = true;
  await join({
    inside,
    outside,
    signal,
    lingerMs,
    up: (piece) => {
      count("up", piece.length);
      outside.write(piece);
    },
    down: (piece) => {
      count("down", piece.length);
      inside.write(piece);
    },
  });
}
