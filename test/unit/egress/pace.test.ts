import { describe, expect, it } from "vitest";
import { Pace } from "../../../src/egress/pace.ts";

describe("the pace of connections", () => {
  it("lets a thousand to one host go at once and a hundred a second after, each host for itself", () => {
    const pace = new Pace();
    const allowed = (host: string, now: number): number =>
      Array.from({ length: 5000 }, () => pace.allows(host, now)).filter(Boolean).length;
    expect([allowed("a.test", 0), allowed("a.test", 0), allowed("b.test", 0)]).toEqual([1000, 0, 1000]);
    expect([allowed("a.test", 1000), allowed("a.test", 61_000)]).toEqual([100, 1000]);
  });
});
