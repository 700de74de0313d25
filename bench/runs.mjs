import { figures, interleave, round, timed } from "./measure.mjs";
import { scriptedRun } from "./place.mjs";

const TURNS = 20;
const LIMIT_MS = 1000;

/** Whole runs of the command line, beside an empty container by the engine's own means. */
export async function runs(place) {
  const answer = [{ text: "Done." }];
  const turn = { calls: [{ bash: { command: "true" } }] };
  const twenty = [...Array.from({ length: TURNS - 1 }, () => turn), ...answer];
  const times = await interleave(
    {
      docker: async () => place.dockerRun(),
      ready: async () => (await scriptedRun(place, answer)).timing.sandbox_ready_ms,
      docker_again: async () => place.dockerRun(),
      twenty: () => timed(() => scriptedRun(place, twenty).then(() => undefined)),
    },
    { rounds: 15 },
  );
  const docker = figures([...times.docker, ...times.docker_again]);
  return [readyRow(figures(times.ready), docker, place), turnsRow(figures(times.twenty), docker, place)];
}

function readyRow(ready, docker, { baseline }) {
  const ratio = round(ready.p50 / docker.p50);
  return {
    name: "sandbox ready, self-test included",
    ...{ value: ready.p50, unit: "ms", ratio, limit: "≤ 1.8 × docker run", holds: ratio <= 1.8 },
    raw: { ready_ms: ready, docker_run_ms: docker, baseline },
  };
}

function turnsRow(turns, docker, { baseline }) {
  const ratio = round(turns.p50 / docker.p50);
  return {
    name: `${TURNS}-turn run of \`bash true\`, whole process`,
    ...{ value: turns.p50, unit: "ms", ratio, limit: `≤ ${LIMIT_MS} ms and ≤ 5 × docker run` },
    holds: turns.p50 <= LIMIT_MS && ratio <= 5,
    raw: { run_ms: turns, docker_run_ms: docker, baseline },
  };
}
