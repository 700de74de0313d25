import { defineConfig } from "vitest/config";

/** Tests of this machine's processor alone: two at a time, on machines of two. */
const local = {
  environment: "node" as const,
  maxWorkers: 2,
  sequence: { groupOrder: 1 },
  // Against hangs alone: a busy machine is no failure.
  testTimeout: 30_000,
};

/** Tests that share one engine, where some look at all of its containers and volumes: one file after another. */
const shared = {
  environment: "node" as const,
  maxWorkers: 1,
  sequence: { groupOrder: 2 },
  globalSetup: ["test/support/engine-setup.ts"],
  testTimeout: 120_000,
  hookTimeout: 600_000,
};

export default defineConfig({
  test: {
    projects: [
      { test: { ...local, name: "unit", include: ["test/unit/**/*.test.ts", "test/architecture.test.ts"] } },
      {
        test: {
          ...local,
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          globalSetup: ["test/support/bundle-setup.ts"],
        },
      },
      { test: { ...shared, name: "docker", include: ["test/docker/**/*.test.ts"] } },
      { test: { ...shared, name: "e2e", include: ["test/e2e/**/*.test.ts"] } },
      {
        test: {
          ...shared,
          name: "fuzz",
          include: ["test/fuzz/**/*.test.ts"],
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
