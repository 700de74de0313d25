import { CLOSED_OUTLET } from "../core/outlet.ts";
import type { Appeared } from "../core/quarantine.ts";
import { Box, type BoxPlan } from "./box.ts";
import type { Engine } from "./engine/engine.ts";
import { lost } from "./lost.ts";
import type { Keep } from "./sandbox.ts";

/** The plan of a container in which nothing of the agent's runs: all of the workspace can be written. */
export function unguarded(plan: BoxPlan): BoxPlan {
  const { spec, hello, expect } = plan;
  const mounts = spec.mounts
    .filter(({ target }) => target === hello.root)
    .map((mount) => ({ ...mount, readOnly: false }));
  return {
    ...plan,
    spec: { ...spec, mounts, covers: [] },
    hello: { ...hello, readonly: [], hidden: [], guarded: [], mounts: [hello.root] },
    expect: { ...expect, readonly: [], hidden: [], pinned: [] },
  };
}

/** Runs `work` with a tool host in a container of its own, which is removed then. */
export async function inBox<T>(
  engine: Engine,
  { plan, keep }: { plan: BoxPlan; keep: Keep },
  work: (connection: Box["connection"]) => Promise<T>,
): Promise<T> {
  const box = await Box.start(engine, plan, { keep, outlet: CLOSED_OUTLET });
  try {
    return await work(box.connection);
  } finally {
    await box.remove();
  }
}

/**
 * Moves out of a workspace what is at these paths, by a tool host that the agent never met; for when no other container
 * has it mounted. @throws as {@link Box.start}, and when something could not be moved.
 */
export async function sweep(
  engine: Engine,
  parts: { plan: BoxPlan; keep: Keep },
  paths: readonly Appeared[],
): Promise<void> {
  if (paths.length === 0) return;
  const problems = await inBox(engine, parts, (connection) => connection.sweep(paths));
  if (problems.length > 0)
    throw lost(`What must not be in the workspace could not be moved out: ${problems.join("; ")}`);
}
