import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [process.env.LAB_PICTURES ? "browser/**/*pictures.ts" : "browser/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
