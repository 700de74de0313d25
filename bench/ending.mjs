import { figures, timed } from "./measure.mjs";
import { call, openSandbox } from "./place.mjs";

const LIMIT_MS = 1000;
const ROUNDS = 7;

/** From the wish to close until the engine has no such container, a process of the agent's still running in it. */
export async function ending(place) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const sandbox = await openSandbox(place);
    await call(sandbox, "bash", { command: "sleep 600", background: true });
    times.push(await timed(() => sandbox.close()));
    await assertGone(place.docker, sandbox.facts.containerId);
  }
  const close = figures(times);
  return [
    {
      name: "end of session, container gone",
      ...{ value: close.p50, unit: "ms", ratio: null, limit: `≤ ${LIMIT_MS} ms`, holds: close.p50 <= LIMIT_MS },
      raw: { close_ms: close },
    },
  ];
}

async function assertGone(docker, id) {
  const found = await docker.listContainers({ all: true, filters: { id: [id] } });
  if (found.length > 0) throw new Error(`Container ${id.slice(0, 12)} is still there after its session was closed`);
}
