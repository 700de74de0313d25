import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../support/engine.ts";
import { words } from "../support/sandbox-contract.ts";
import { ATTACK_ROWS, FATAL_ROWS } from "../support/shell-table/attacks.ts";
import { BACKGROUND_ROWS } from "../support/shell-table/background.ts";
import { CARRIED_ROWS } from "../support/shell-table/carried.ts";
import { ENDING_ROWS } from "../support/shell-table/endings.ts";
import { buildTableImages } from "../support/shell-table/images.ts";
import { INPUT_ROWS } from "../support/shell-table/input.ts";
import { SCARCE_ROWS, TIME_ROWS, TIMEOUT_ROWS } from "../support/shell-table/limits.ts";
import { OUTPUT_ROWS } from "../support/shell-table/output.ts";
import { fill, IMAGES, type Row, rowOn } from "../support/shell-table/row.ts";
import { TableShell } from "../support/shell-table/table-shell.ts";
import { TEXT_ROWS } from "../support/shell-table/text.ts";

const ROWS: Row[] = [
  ...TEXT_ROWS,
  ...ENDING_ROWS,
  ...CARRIED_ROWS,
  ...BACKGROUND_ROWS,
  ...TIME_ROWS,
  ...TIMEOUT_ROWS,
  ...INPUT_ROWS,
  ...OUTPUT_ROWS,
  ...ATTACK_ROWS,
];

const images = buildTableImages(await connect());
afterAll(() => images.remove());

describe.each(IMAGES)("the shell in an image of the kind %s", (image) => {
  let shell: TableShell;
  beforeAll(async () => {
    shell = await TableShell.open(image, await images.ref[image]);
  });
  afterAll(() => shell[Symbol.asyncDispose]());

  const rows = ROWS.filter((row) => row.only === undefined || row.only === image);

  it.each(rows)("$title", async (row) => {
    const variant = rowOn(row, { image, root: shell.root });
    expect(await shell.run(variant)).toEqual(shell.expected(variant));
    expect(await shell.probe(variant)).toBe(shell.alive(variant));
  });

  it.each(rows)("cancelled in its middle: $title", async (row) => {
    const variant = rowOn(row, { image, root: shell.root });
    const { status, text } = await shell.cancel(variant);
    if (row.isLong) expect([status, text]).toEqual(["cancelled", expect.stringMatching(/^(begun|y)\n/)]);
    // What was over before the cancel came has done what it does.
    const left = status === "cancelled" ? {} : variant;
    expect(await shell.probe(left)).toBe(shell.alive(left));
  });
});

describe.each(IMAGES)("the shell of a small container in an image of the kind %s", (image) => {
  let shell: TableShell;
  beforeAll(async () => {
    shell = await TableShell.open(image, await images.ref[image], {
      limits: { memoryBytes: 256 * 1024 * 1024, pids: 96 },
    });
  });
  afterAll(() => shell[Symbol.asyncDispose]());

  it.each([...SCARCE_ROWS, ...FATAL_ROWS])("$title", async (row) => {
    const variant = rowOn(row, { image, root: shell.root });
    expect(await shell.run(variant)).toEqual(shell.expected(variant));
    expect(await shell.probe(variant)).toBe(shell.alive(variant));
  });

  it.each([...SCARCE_ROWS, ...FATAL_ROWS])("cancelled in its middle: $title", async (row) => {
    await shell.cancel(rowOn(row, { image, root: shell.root }));
    expect(await shell.probe({})).toBe(shell.alive({}));
  });
});

describe.each(IMAGES)("calls that overlap in an image of the kind %s", (image) => {
  let shell: TableShell;
  beforeAll(async () => {
    shell = await TableShell.open(image, await images.ref[image]);
  });
  afterAll(() => shell[Symbol.asyncDispose]());

  it("46 run one after the other, twenty of them, each with its own result", async () => {
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    const results = await Promise.all(
      numbers.map((n) => shell.call(`n=$((\${n:-0}+1)); export n; echo a${n} $n; : | :; echo b${n}; exit ${n}`)),
    );
    expect(results.map((result) => [result.details.exit_code, words(result).replace(/\[.*\]$/, "")])).toEqual(
      numbers.map((n) => [n, `a${n} ${n + 1}\nb${n}\n`]),
    );
  });

  it("46 one that waits behind a cancelled one runs, and a cancelled one that waits does not", async () => {
    const controller = new AbortController();
    const long = shell.call(fill("echo up; {wait}", { image, root: shell.root }), {}, controller.signal);
    const waiting = shell.call("echo >never", {}, controller.signal);
    const last = shell.call("[ -e never ] && echo ran; echo clean");
    controller.abort();
    expect([(await long).status, (await waiting).status, words(await last)]).toEqual([
      "cancelled",
      "cancelled",
      "clean\n",
    ]);
  });

  it("46 one after a timeout finds a clean shell", async () => {
    const command = fill("cd /tmp; export gone=1; echo late; {wait}", { image, root: shell.root });
    const timedOut = shell.call(command, { timeout: 0.2 });
    const next = shell.call('echo "[$gone] $PWD"');
    expect([(await timedOut).status, words(await next)]).toEqual(["timed_out", `[] ${shell.root}\n`]);
  });
});
