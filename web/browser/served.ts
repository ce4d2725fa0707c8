/** A server of `setrl view`, and a page of it. */

import { type ChildProcess, spawn } from "node:child_process";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { PYTHON, type Watched } from "./open";

export interface Served {
  readonly address: string;
  readonly runs: readonly {
    readonly id: string;
    readonly name: string;
    readonly arms: readonly { readonly name: string }[];
  }[];
  readonly stop: () => void;
}

/** Serve a folder at any free port. */
export async function serve(folder: string, ...options: string[]): Promise<Served> {
  const server: ChildProcess = spawn(PYTHON, ["-m", "setrl", "view", folder, "--no-open", "--port", "0", ...options]);
  const address = await new Promise<string>((found, failed) => {
    server.stdout!.on("data", (text: Buffer) => found(String(text).split("\n")[0]!));
    server.stderr!.on("data", (text: Buffer) => failed(new Error(String(text))));
  });
  const known = (await (await fetch(`${address}api/runs`)).json()) as Pick<Served, "runs">;
  return { ...known, address, stop: () => void server.kill("SIGINT") };
}

/** A page of the server, once its first answer is there. */
export async function openServed(
  browser: Browser,
  address: string,
  hash: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const misdeeds: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith("data:"))
      misdeeds.push(`request ${request.url()}`);
  });
  page.on("console", (message) => misdeeds.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => misdeeds.push(`error: ${error.message}`));
  await page.goto(`${address}#${hash}`);
  await page.waitForSelector("h2, [role=alert]");
  await page.waitForFunction(() => !document.body.innerText.includes("One moment"));
  return { page, misdeeds };
}
