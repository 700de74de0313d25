import { describe, expect, it } from "vitest";
import { runcWarning } from "../../src/sandbox/engine/runc.ts";

describe("O-DOCK-01 an old runc", () => {
  it.each([
    ["1.1.5+ds1", /CVE-2024-21626, CVE-2025-31133/],
    ["1.0.3", /CVE-2024-21626, CVE-2025-31133/],
    ["1.1.12", /^(?!.*CVE-2024).*CVE-2025-31133/],
    ["1.2.7", /^(?!.*CVE-2024).*CVE-2025-31133/],
    ["v1.3.2", /^(?!.*CVE-2024).*CVE-2025-31133/],
  ])("%s is named with what it may lack", (version, says) => {
    expect(runcWarning(version)).toMatch(says);
  });

  it.each(["1.2.8", "1.3.3", "1.4.0", "2.0.0", "unknown"])("%s is not", (version) => {
    expect(runcWarning(version)).toBeUndefined();
  });
});
