import { defineConfig } from "vitest/config";

const node = { environment: "node" as const };

export default defineConfig({
  test: {
    projects: [
      { test: { ...node, name: "unit", include: ["test/unit/**/*.test.ts", "test/architecture.test.ts"] } },
      {
        test: {
          ...node,
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          globalSetup: ["test/support/bundle-setup.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...node,
          name: "docker",
          include: ["test/docker/**/*.test.ts"],
          globalSetup: ["test/support/engine-setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          ...node,
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/engine-setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
