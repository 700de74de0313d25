import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { figures, interleave } from "./measure.mjs";
import { call, openSandbox } from "./place.mjs";

const MEGABYTE = 1_000_000;
const LARGE_BYTES = 10_000_000;

/** Edits of a file of a megabyte, exact and not, and a write of ten megabytes, through the channel. */
export async function files(place) {
  await writeFile(join(place.workspace, "plain.txt"), source("plain"));
  await writeFile(join(place.workspace, "formed.txt"), source("“formed”"));
  const content = `${"0123456789abcdefghijklmnopqrstu\n".repeat(LARGE_BYTES / 32)}`;
  const sandbox = await openSandbox(place);
  try {
    const times = await interleave(
      {
        exact: () => change(sandbox, "plain.txt", "plain"),
        loose: () => change(sandbox, "formed.txt", '"formed"'),
        write: () => call(sandbox, "write", { path: "large.txt", content }),
      },
      { rounds: 15, warmUp: 3 },
    );
    const [exact, loose, write] = [times.exact, times.loose, times.write].map(figures);
    return [
      row("`edit` of a file of 1 MB, exact", exact, 30),
      row("`edit` of a file of 1 MB, found but for quotes", loose, 30),
      row("`write` of 10 MB", write, 250),
    ];
  } finally {
    await sandbox.close();
  }
}

function row(name, times, most) {
  const holds = times.p50 <= most;
  return { name, value: times.p50, unit: "ms", ratio: null, limit: `≤ ${most} ms`, holds, raw: { call_ms: times } };
}

/** Lines as of code, the one to be changed in the middle. */
function source(word) {
  const lines = Array.from(
    { length: MEGABYTE / 50 },
    (_, at) => `const value${at} = compute(${at}, "${"x".repeat(20)}");\n`,
  );
  lines[lines.length / 2] = `// the ${word} line, which says 0\n`;
  return lines.join("");
}

/** The line says another number with each edit, and keeps its own quotes: they are outside of what is written anew. */
function change(sandbox, path, word) {
  const says = said.get(path) ?? 0;
  said.set(path, says + 1);
  const oldText = `// the ${word} line, which says ${says}\n`;
  const newText = `// the ${path === "formed.txt" ? "“formed”" : word} line, which says ${says + 1}\n`;
  return call(sandbox, "edit", { path, edits: [{ oldText, newText }] });
}

const said = new Map();
