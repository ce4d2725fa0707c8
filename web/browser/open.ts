/** Headless Chromium with a page of the lab, as `setrl playground` writes it. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const PYTHON = process.env.LAB_PYTHON ?? "python3";

const CHROMIUM = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function launch(): Promise<Browser> {
  const executablePath = CHROMIUM.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("Chromium is needed: install it, or set CHROMIUM to its path");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** The address of a freshly written playground. */
export function written(): string {
  const file = join(mkdtempSync(join(tmpdir(), "lab-")), "playground.html");
  execFileSync(PYTHON, ["-m", "setrl", "playground", "--no-open", "--output", file]);
  return pathToFileURL(file).href;
}

/** Everything that a page must not do: requests to a host, messages in the console, errors. */
export interface Watched {
  readonly page: Page;
  readonly misdeeds: string[];
}

export async function open(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
  ready = "tbody .number",
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const misdeeds: string[] = [];
  page.on("request", (request) => {
    if (request.url() !== address.replace(/#.*/, "")) misdeeds.push(`request ${request.url()}`);
  });
  page.on("console", (message) => misdeeds.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => misdeeds.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    misdeeds.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address);
  await page.waitForSelector(ready);
  return { page, misdeeds };
}

interface Axe {
  readonly run: (part: string) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** What axe finds in a part of a page, which must be open with bypassCSP: axe is not a part of it. */
export async function violations(page: Page, part = "html"): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async (part) => {
    const { violations } = await (window as unknown as { axe: Axe }).axe.run(part);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
  }, part);
}

/** How many pixels a page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
