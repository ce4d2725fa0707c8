import { defineConfig } from "vitest/config";

// One classic script and one style sheet: a page that is opened from disk cannot load modules.
export default defineConfig({
  build: {
    outDir: process.env.LAB_BUNDLE ?? "../src/setrl/lab/bundle",
    emptyOutDir: true,
    target: "es2022",
    license: { fileName: "licenses.md" },
    reportCompressedSize: false,
    lib: {
      entry: "src/playground/main.tsx",
      formats: ["iife"],
      name: "setrlLab",
      fileName: () => "playground.js",
      cssFileName: "playground",
    },
  },
  define: { "process.env.NODE_ENV": '"production"' },
  test: { include: ["tests/**/*.test.ts"] },
});
