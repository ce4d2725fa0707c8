import { defineConfig } from "vitest/config";

/** The page that is built; `build.js` builds one after the other. */
const page = process.env.LAB_PAGE ?? "playground";

// One classic script and one style sheet for each page: a page that is opened from disk cannot load
// modules, and no page should carry the code of another.
export default defineConfig({
  build: {
    outDir: process.env.LAB_BUNDLE ?? "../src/setrl/show/lab/bundle",
    emptyOutDir: false,
    target: "es2022",
    license: { fileName: `${page}.licenses.md` },
    reportCompressedSize: false,
    lib: {
      entry: `src/${page}/main.tsx`,
      formats: ["iife"],
      name: "setrlLab",
      fileName: () => `${page}.js`,
      cssFileName: page,
    },
  },
  define: { "process.env.NODE_ENV": '"production"' },
  test: { include: ["tests/**/*.test.ts"] },
});
