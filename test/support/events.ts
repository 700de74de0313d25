import type { SessionEvent } from "../../src/core/events.ts";
import type { startCli } from "./engine.ts";

type Started = ReturnType<typeof startCli>;

/** The events a run with `--events` has printed so far. */
export function eventsOf({ stdout }: Pick<Started, "stdout">): SessionEvent[] {
  const lines = stdout().split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as SessionEvent);
}

/** Waits for the `count`th event of this type; rejects when the run ends before. */
export function eventOf<T extends SessionEvent["type"]>(
  started: Started,
  type: T,
  count = 1,
): Promise<Extract<SessionEvent, { type: T }>> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const event = eventsOf(started).filter((one) => one.type === type)[count - 1];
      if (event) resolve(event as Extract<SessionEvent, { type: T }>);
    };
    look();
    started.child.stdout?.on("data", look);
    started.ended.then(({ stderr }) => reject(new Error(`ended without ${type}: ${stderr}`)), reject);
  });
}
