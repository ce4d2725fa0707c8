/** Pictures of the pages for the documentation: `make web-pictures`. */

import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launch, open, written } from "./open";

const FOLDER = join(import.meta.dirname, "../../docs/lab");

const PICTURES = [
  { name: "credit", part: "#credit", hash: "", width: 1180, colorScheme: "light", point: 4 },
  { name: "who-gets-credit", part: "#story", hash: "", width: 1000, colorScheme: "light", press: "5 credit" },
  { name: "parts", part: "#parts", hash: "", width: 1180, colorScheme: "light" },
  { name: "collapse", part: "#collapse", hash: "#t=200", width: 1180, colorScheme: "dark" },
  { name: "water", part: "#water", hash: "#mix=0.6", width: 1180, colorScheme: "light" },
] as const;

let browser: Browser;
let address: string;

beforeAll(async () => {
  browser = await launch();
  address = written();
});

afterAll(() => browser?.close());

it.each(PICTURES)("$name", async ({ name, part, hash, width, colorScheme, ...rest }) => {
  const look = { viewport: { width, height: 1000 }, colorScheme, reducedMotion: "reduce" } as const;
  const { page, misdeeds } = await open(browser, address + hash, look, "#story table");
  // A phone folds all parts but the story.
  for (const folded of await page.locator(`${part} > details`).all())
    await folded.evaluate((panel) => panel.setAttribute("open", ""));
  if ("press" in rest) await page.getByRole("button", { name: rest.press }).click();
  if ("point" in rest) await page.locator("tbody button.name").nth(rest.point).click();
  await page.evaluate(() => scrollTo(0, 0)); // the clip is a part of the whole page
  await page.waitForTimeout(300);
  const box = (await page.locator(part).boundingBox())!;
  const clip = { ...box, height: Math.min(box.height, 1250) };
  await page.screenshot({ path: join(FOLDER, `${name}.png`), clip, fullPage: true });
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

const ROOT = join(import.meta.dirname, "../..");
const { LAB_RUN, LAB_CONTROL, LAB_AUDIT } = process.env;

const OF_A_REPORT = [
  { name: "report", folder: LAB_RUN, file: "report.html", width: 1180, height: 1240, colorScheme: "light" },
  { name: "report-phone", folder: LAB_RUN, file: "report.html", width: 400, height: 1240, colorScheme: "dark" },
  { name: "report-control", folder: LAB_CONTROL, file: "report.html", width: 1180, height: 1240, colorScheme: "light" },
  { name: "report-audit", folder: LAB_AUDIT, file: "audit.html", width: 1180, height: 1240, colorScheme: "light" },
] as const;

it.each(OF_A_REPORT)("$name", async ({ name, folder, file, width, height, colorScheme }) => {
  if (!folder) return; // without its folder, its picture stays
  const report = pathToFileURL(resolve(ROOT, folder, file)).href;
  const { page, misdeeds } = await open(browser, report, { viewport: { width, height }, colorScheme }, ".chart svg");
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  expect(misdeeds).toEqual([]);
  await page.context().close();
});
