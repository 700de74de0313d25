import { describe, expect, it } from "vitest";
import { BUILT_IN_POLICY } from "../../../src/policy/policy.ts";
import { fitLimits } from "../../../src/session/fit-limits.ts";

const { limits, origins } = BUILT_IN_POLICY;

describe("the limits of a policy on an engine", () => {
  it("stay as they are where the engine can keep them", () => {
    expect(fitLimits(limits, origins, { cpus: 2 })).toEqual({ limits, notes: [] });
  });

  it("never ask for more processors than there are, which is said with the rule", () => {
    expect(fitLimits(limits, origins, { cpus: 1 })).toEqual({
      limits: { ...limits, cpus: 1 },
      notes: ["processors: 1, which is all the engine has, of the 2 that built-in/limits.cpus allows"],
    });
    const asked = fitLimits({ ...limits, cpus: 64 }, { ...origins, "limits.cpus": "user/limits.cpus" }, { cpus: 8 });
    expect([asked.limits.cpus, asked.notes[0]]).toEqual([8, expect.stringContaining("the 64 that user/limits.cpus")]);
  });

  it("are left to an engine that does not say how many processors it has", () => {
    expect(fitLimits(limits, origins, { cpus: 0 }).limits.cpus).toBe(2);
  });

  it("say what /tmp holds where half of the memory is less", () => {
    const { notes } = fitLimits({ ...limits, memoryBytes: 512 * 1024 ** 2 }, origins, { cpus: 2 });
    expect(notes).toEqual([
      "/tmp holds 141MB, of the 1GB that built-in/limits.tmp allows, as temporary files count as memory",
    ]);
  });
});
