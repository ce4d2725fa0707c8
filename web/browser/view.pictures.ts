/** Pictures of the run explorer: of the runs in LAB_RUN and LAB_CONTROL, and of logs that TRL and tinker-cookbook wrote. */

import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launch } from "./open";
import { openServed, serve, type Served } from "./served";

const ROOT = join(import.meta.dirname, "../..");
const { LAB_RUN: RUN, LAB_CONTROL: CONTROL } = process.env;
const WRONG = "show=wrong_up&sort=wrong_up&desc=1";

const PICTURES = [
  {
    name: "view-groups",
    of: "run",
    view: `groups&${WRONG}`,
    opens: false,
    width: 1180,
    height: 620,
    colorScheme: "light",
  },
  {
    name: "view-group",
    of: "run",
    view: `groups&${WRONG}`,
    opens: true,
    width: 1180,
    height: 1900,
    colorScheme: "light",
  },
  { name: "view-problems", of: "math", view: "groups", opens: false, width: 1180, height: 700, colorScheme: "light" },
  {
    name: "view-problem",
    of: "math",
    view: "groups&text=70",
    opens: true,
    width: 1180,
    height: 1300,
    colorScheme: "light",
  },
  {
    name: "view-inspect",
    of: "inspect",
    view: "groups&sort=disagreement",
    opens: true,
    width: 1180,
    height: 1150,
    colorScheme: "light",
  },
  { name: "view-metrics", of: "run", view: "metrics", opens: false, width: 1180, height: 1000, colorScheme: "dark" },
  { name: "view-trl", of: "trl", view: "groups", opens: true, width: 1180, height: 1100, colorScheme: "light" },
  { name: "view-tinker", of: "tinker", view: "groups", opens: true, width: 1180, height: 1100, colorScheme: "light" },
] as const;

let browser: Browser;
const served: Partial<Record<"run" | "inspect" | "math" | "trl" | "tinker" | "control", Served>> = {};

beforeAll(async () => {
  browser = await launch();
  served.math = await serve(join(ROOT, "tests/data/generations_math_20x8.jsonl"), "--text", "samples.end");
  served.inspect = await serve(join(ROOT, "tests/data/inspect_arith.eval"));
  served.trl = await serve(join(ROOT, "tests/data/trl_completions"), "--reward", "short");
  served.tinker = await serve(
    join(ROOT, "tests/data/tinker_cookbook"),
    "--reward",
    "correct",
    "--strategy",
    "strategy",
  );
  if (RUN) served.run = await serve(resolve(ROOT, RUN));
  if (CONTROL) served.control = await serve(resolve(ROOT, CONTROL));
});

afterAll(async () => {
  await browser?.close();
  Object.values(served).forEach((server) => server.stop());
});

it.each(PICTURES)("$name", async ({ name, of, view, opens, width, height, colorScheme }) => {
  const server = served[of];
  if (!server) return; // without its run, its picture stays
  const { page, misdeeds } = await openServed(browser, server.address, `run=${server.runs[0]!.id}&view=${view}`, {
    viewport: { width, height },
    colorScheme,
  });
  if (opens) {
    await page.locator("tbody a").first().click();
    await page.waitForSelector("#samples .card");
    if (of === "inspect") for (const key of ["x", "j", "j", "x"]) await page.keyboard.press(key);
  }
  await page.waitForTimeout(1500);
  if (name === "view-metrics") {
    const box = (await page.locator("#metrics .chart svg").nth(1).boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  }
  await page.screenshot({ path: join(ROOT, `docs/lab/${name}.png`) });
  expect(misdeeds).toEqual([]);
  await page.context().close();
});
