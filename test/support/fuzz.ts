import * as fc from "fast-check";
import { expect, it } from "vitest";

/** Of each of the two ways; fewer only on a developer's machine. */
const SECONDS = Number(process.env["GLOVEBOX_FUZZ_SECONDS"] ?? 30);
/** So small that the last round ends soon after the time is up. */
const RUNS_A_ROUND = 20;
const FIXED_SEED = 20_260_101;

/**
 * Two tests that try `property` for half a minute each: from the same seed every time, so that what was found once is found
 * again, and from a fresh one. A failure names the seed and the smallest counterexample.
 */
export function fuzz<Inputs>(title: string, property: () => fc.IAsyncProperty<Inputs>): void {
  it.each([
    ["the fixed seed", FIXED_SEED],
    ["a fresh seed", Math.floor(Math.random() * 2 ** 31)],
  ])(
    `${title}: from %s`,
    async (_, first) => {
      const endsAt = performance.now() + SECONDS * 1000;
      let runs = 0;
      for (let seed = first; performance.now() < endsAt; seed++) {
        const details = await fc.check(property(), { seed, numRuns: RUNS_A_ROUND });
        if (details.failed) throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance });
        runs += details.numRuns;
      }
      console.log(`${title}: ${runs} runs from seed ${first}`);
      expect(runs).toBeGreaterThan(0);
    },
    (SECONDS + 240) * 1000,
  );
}
