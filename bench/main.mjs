import { availableParallelism, loadavg, release } from "node:os";
import { calls } from "./calls.mjs";
import { egress } from "./egress.mjs";
import { ending } from "./ending.mjs";
import { files } from "./files.mjs";
import { firstRequest } from "./first-request.mjs";
import { flood } from "./flood.mjs";
import { guarding } from "./guarding.mjs";
import { output } from "./output.mjs";
import { createPlace } from "./place.mjs";
import { policies } from "./policies.mjs";
import { runs } from "./runs.mjs";
import { tools } from "./tools.mjs";
import { verdicts } from "./verdicts.mjs";
import { version } from "./version.mjs";

/** Those that watch memory first: what other parts have used would hide growth. */
const PARTS = {
  ...{ flood, output, egress, version, firstRequest, verdicts, runs, calls, policies, guarding, ending },
  ...{ files, tools },
};

/** Every row of the table, one after the other on an otherwise quiet machine. */
export async function main() {
  const place = await createPlace();
  const loadBefore = loadavg()[0];
  const rows = [];
  try {
    for (const [name, part] of Object.entries(PARTS)) {
      console.error(`— ${name}`);
      const measured = await part(place);
      for (const row of measured) console.error(line(row));
      rows.push(...measured);
    }
  } finally {
    await place.remove();
  }
  return { version: 1, holds: rows.every(({ holds }) => holds), machine: machine(loadBefore), rows };
}

function line({ name, value, unit, ratio, limit, holds }) {
  const times = ratio === null ? "" : `, ratio ${ratio}`;
  return `${holds ? "✓" : "✗"} ${name}: ${value} ${unit}${times} (${limit})`;
}

function machine(loadBefore) {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch} ${release()}`,
    cpus: availableParallelism(),
    load_before: loadBefore,
    load_after: loadavg()[0],
  };
}
