import { describe, expect, it } from "vitest";
import { Secrets } from "../../src/core/secrets.ts";
import { LiveMask } from "../../src/session/live-mask.ts";

const SECRET = "sk-CANARY-0123456789";

function show(pieces: readonly string[], secrets = new Secrets({ KEY: SECRET })): string[] {
  const mask = new LiveMask(secrets);
  const shown = pieces.map((text) => mask.push({ type: "text_delta", live: true, text })?.text ?? "");
  return [
    ...shown,
    mask
      .flush()
      .map(({ text }) => text)
      .join(""),
  ];
}

describe("texts shown in pieces", () => {
  it.each([1, 2, 3, 7, 19, 20, 40])("hide a secret that comes %i characters at a time", (size) => {
    const text = `before ${SECRET} after ${SECRET}`;
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      text.slice(index * size, (index + 1) * size),
    );
    expect(show(pieces).join("")).toBe("before *** after ***");
  });

  it("hold back no more than what could be a secret's beginning, and show it when it is none", () => {
    expect(show(["ask", "-CAN", "ARD", " done sk"])).toEqual(["a", "", "sk-CANARD", " done ", "sk"]);
  });

  it("hold back nothing when there is no secret", () => {
    expect(show(["sk-", "CANARY"], new Secrets())).toEqual(["sk-", "CANARY", ""]);
  });

  it("keep the halves of a character together", () => {
    expect(show(["a\ud83d", "\ude80b"])).toEqual(["a", "🚀b", ""]);
  });

  it("keep the outputs of two calls apart", () => {
    const mask = new LiveMask(new Secrets({ KEY: SECRET }));
    const push = (call_id: string, text: string): string | undefined =>
      mask.push({ type: "tool_output", live: true, call_id, text })?.text;
    expect([push("a", SECRET.slice(0, 10)), push("b", SECRET.slice(10)), push("a", SECRET.slice(10))]).toEqual([
      undefined,
      SECRET.slice(10),
      "***",
    ]);
  });
});
