import type { Carriage } from "../carriage.ts";
import { carryAuto } from "./auto.ts";
import { reset } from "./join.ts";
import { CARRY_OPTIONS, type CarryOptions } from "./options.ts";
import { carryRaw } from "./raw.ts";
import { carrySsh } from "./ssh.ts";
import { asRefusal } from "./words.ts";

type Carry = (carriage: Carriage) => Promise<void>;

/** A {@link carry} with other times or authorities. */
export function createCarry(options: Partial<CarryOptions>): Carry {
  return (carriage) => carryWith(carriage, { ...CARRY_OPTIONS, ...options });
}

/**
 * Carries the bytes of one connection until both ends are done, and closes the inside. What has to be looked at is,
 * before anything is dialled. A reset by one of the two ends is no rejection. @throws EgressRefusal, and nothing else
 */
export const carry: Carry = createCarry({});

async function carryWith(carriage: Carriage, options: CarryOptions): Promise<void> {
  const { inside } = carriage;
  inside.on("error", () => undefined);
  inside.allowHalfOpen = true;
  try {
    await carryByProtocol(carriage, options);
    inside.end();
  } catch (error) {
    const refusal = asRefusal(error);
    reset(inside, refusal);
    throw refusal;
  }
}

function carryByProtocol(carriage: Carriage, options: CarryOptions): Promise<void> {
  switch (carriage.treatment.protocol) {
    case "tcp":
      return carryRaw(carriage, options);
    case "ssh":
      return carrySsh(carriage, options);
    case "auto":
      return carryAuto(carriage, options);
  }
}
