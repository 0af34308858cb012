import { defineConfig } from "vitest/config";

/** The real clients: `npm run test:hosts`. */
// biome-ignore lint/style/noDefaultExport: vitest takes it so
export default defineConfig({
  test: {
    include: ["test/hosts/clients/**/*.test.ts"],
    globalSetup: ["test/hosts/clients/setup.ts"],
    setupFiles: ["test/support/scrub.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
