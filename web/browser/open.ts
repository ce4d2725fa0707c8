/** Headless Chromium with a page of the lab, as `setrl playground` writes it. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

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
