import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../support/engine.ts";
import { ATTACK_ROWS } from "../support/shell-table/attacks.ts";
import { BACKGROUND_ROWS } from "../support/shell-table/background.ts";
import { CARRIED_ROWS } from "../support/shell-table/carried.ts";
import { ENDING_ROWS } from "../support/shell-table/endings.ts";
import { buildTableImages } from "../support/shell-table/images.ts";
import { INPUT_ROWS } from "../support/shell-table/input.ts";
import { TIME_ROWS, TIMEOUT_ROWS } from "../support/shell-table/limits.ts";
import { OUTPUT_ROWS } from "../support/shell-table/output.ts";
import { IMAGES, type Row, rowOn } from "../support/shell-table/row.ts";
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
