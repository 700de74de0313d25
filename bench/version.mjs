import { cli } from "../scripts/setup.mjs";
import { figures, interleave, output, round } from "./measure.mjs";

/** The start of the command line, beside the start of node alone. */
export async function version() {
  const { glovebox, node } = await interleave(
    {
      glovebox: () => output(process.execPath, [cli, "--version"]).then(() => undefined),
      node: () => output(process.execPath, ["-e", "0"]).then(() => undefined),
    },
    { rounds: 30, warmUp: 3 },
  );
  const [ours, bare] = [figures(glovebox), figures(node)];
  const ratio = round(ours.p50 / bare.p50);
  return [
    {
      name: "glovebox --version",
      ...{ value: ours.p50, unit: "ms", ratio, limit: "≤ 1.3 × node -e 0", holds: ratio <= 1.3 },
      raw: { glovebox_ms: ours, node_ms: bare },
    },
  ];
}
