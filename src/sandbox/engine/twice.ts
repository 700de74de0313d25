import { setTimeout as sleep } from "node:timers/promises";
import { statusOf } from "./status.ts";

/** Engines find things busy for a moment after what used them has ended. */
const PAUSE_MS = 500;

/** Removes something, trying again once; `fine` are the answers that mean it is gone already. */
export async function twice(remove: () => Promise<unknown>, fine: readonly number[]): Promise<void> {
  const attempt = async (): Promise<void> => {
    try {
      await remove();
    } catch (error) {
      if (!fine.includes(statusOf(error) ?? 0)) throw error;
    }
  };
  try {
    await attempt();
  } catch {
    await sleep(PAUSE_MS);
    await attempt();
  }
}
