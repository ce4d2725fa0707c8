import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: [process.env.LAB_PICTURES ? "browser/**/*pictures.ts" : "browser/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false },
});
