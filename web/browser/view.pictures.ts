/** Pictures of the run explorer: of the run in the folder LAB_RUN, and of a log that TRL wrote. */

import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launch } from "./open";
import { openServed, serve, type Served } from "./served";

const ROOT = join(import.meta.dirname, "../..");
const RUN = process.env.LAB_RUN;
const WRONG = "show=wrong_up&sort=wrong_up&desc=1";

const PICTURES = [
  { name: "view-groups", of: "run", view: `groups&${WRONG}`, opens: false, width: 1180, height: 620, colorScheme: "light" },
  { name: "view-group", of: "run", view: `groups&${WRONG}`, opens: true, width: 1180, height: 1900, colorScheme: "light" },
  { name: "view-metrics", of: "run", view: "metrics", opens: false, width: 1180, height: 1000, colorScheme: "dark" },
  { name: "view-evaluation", of: "run", view: "evaluation&split=shifted", opens: false, width: 1180, height: 1000, colorScheme: "light" },
  { name: "view-phone", of: "run", view: `groups&${WRONG}`, opens: true, width: 400, height: 1500, colorScheme: "dark" },
  { name: "view-trl", of: "trl", view: "groups", opens: true, width: 1180, height: 1100, colorScheme: "light" },
] as const;

let browser: Browser;
const served: Partial<Record<"run" | "trl", Served>> = {};

beforeAll(async () => {
  browser = await launch();
  served.trl = await serve(join(ROOT, "tests/data/trl_completions"), "--reward", "short");
  if (RUN) served.run = await serve(join(ROOT, RUN));
});

afterAll(async () => {
  await browser?.close();
  served.trl?.stop();
  served.run?.stop();
});

it.each(PICTURES)("$name", async ({ name, of, view, opens, width, height, colorScheme }) => {
  const server = served[of];
  if (!server) return; // no LAB_RUN: its pictures stay
  const { page, misdeeds } = await openServed(browser, server.address, `run=${server.runs[0]!.id}&view=${view}`, { viewport: { width, height }, colorScheme });
  if (opens) {
    await page.locator("tbody a").first().click();
    await page.waitForSelector(".credits");
  }
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(ROOT, `docs/lab/${name}.png`) });
  expect(misdeeds).toEqual([]);
  await page.context().close();
});
