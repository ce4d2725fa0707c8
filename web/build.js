/** Builds every page into src/setrl/show/lab/bundle, or into the folder LAB_BUNDLE. */

import { rmSync } from "node:fs";
import { build } from "vite";

const PAGES = ["playground", "view", "report"];

rmSync(process.env.LAB_BUNDLE ?? "../src/setrl/show/lab/bundle", { recursive: true, force: true });
for (const page of PAGES) {
  process.env.LAB_PAGE = page;
  await build({ logLevel: "warn" });
}
