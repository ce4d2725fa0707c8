/** The playground in a real browser: keyboard, values, requests, accessibility. */

import { execFileSync } from "node:child_process";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launch, open, overflow, PYTHON, violations, written } from "./open";

let browser: Browser;
let address: string;

beforeAll(async () => {
  browser = await launch();
  address = written();
});

afterAll(() => browser?.close());

const GROUPS = {
  start: "",
  "drawn sets": "#s=1A1B0C0A1D0-1A0B&f=any_correct&k=3&b=smaller_sets&d=group_std&sets=12,7&l=1.5&a=0.25",
};

it.each(Object.entries(GROUPS))("values of Python: %s", async (_, hash) => {
  const { page, misdeeds } = await open(browser, address + hash);
  await page.locator("#credit").getByText("show the Python code").click();
  const code = await page.locator("#credit pre").innerText();
  const report = `\nimport json\nfound = {name: method.advantages(rewards, correct=right, strategies=strategies, answers=answers)
    .values_BN[0].tolist() for name, method in compared.items()}\nprint(json.dumps(found))\n`;
  const printed = execFileSync(PYTHON, ["-c", code + report], { encoding: "utf8" });
  const wanted = JSON.parse(printed.trim().split("\n").at(-1)!) as Record<string, number[]>;
  expect(Object.keys(wanted).length).toBe(6);
  for (const [name, values] of Object.entries(wanted)) {
    const cells = page.locator(`td[data-method="${name}"]`);
    const shown = await cells.evaluateAll((all) => all.map((cell) => Number((cell as HTMLElement).dataset.value)));
    expect(shown.length).toBe(values.length);
    shown.forEach((value, i) => expect(Math.abs(value - values[i]!), name).toBeLessThanOrEqual(1e-12));
  }
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

const value = (page: Page, method: string, sample: number): Promise<string | null> =>
  page
    .locator(`td[data-method="${method}"]`)
    .nth(sample - 1)
    .getAttribute("data-value");

it("everything works with the keyboard alone", async () => {
  const { page, misdeeds } = await open(browser, address);
  const tabTo = async (name: RegExp, kind = "*") => {
    for (let presses = 0; presses < 200; presses++) {
      await page.keyboard.press("Tab");
      const label = await page.evaluate((selector) => {
        const at = document.activeElement;
        if (!at?.matches(selector)) return "";
        const by = at.getAttribute("aria-labelledby");
        return at.getAttribute("aria-label") ?? (by ? document.getElementById(by)?.textContent : at.textContent) ?? "";
      }, kind);
      if (name.test(label)) return;
    }
    throw new Error(`nothing called ${name} can be reached with Tab`);
  };
  const before = await value(page, "GRPO", 1);
  await tabTo(/^advantage$/);
  expect(await page.locator("#tip").isVisible()).toBe(true);
  await page.keyboard.press("Escape");
  expect(await page.locator("#tip").isVisible()).toBe(false);
  await tabTo(/^Set size K$/, "input");
  await page.keyboard.press("ArrowLeft");
  expect(await page.locator(".explanation").first().innerText()).toContain("56 sets");
  await tabTo(/^y1 is right/);
  expect(await page.locator(".explanation").first().innerText()).toContain("y1 is in 21 of 56 sets");
  await page.keyboard.press("Space");
  expect(await value(page, "GRPO", 1)).not.toBe(before);
  await tabTo(/^y1 uses strategy A/);
  await page.keyboard.press("Enter");
  expect(await page.getByLabel(/^y1 uses strategy B/).count()).toBe(1);
  const ring = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
  expect(ring).toBe("solid");
  await tabTo(/The sets one by one/);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".sets li.lit");
  await tabTo(/play/);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => Number(document.querySelector(".player output")?.textContent) > 8);
  await page.keyboard.press("Enter");
  await tabTo(/^water line$/); // far below: the browser scrolls, and the explanation must stay
  await page.waitForTimeout(300);
  const [word, tip] = [
    await page.getByText("water line", { exact: true }).boundingBox(),
    await page.locator("#tip").boundingBox(),
  ];
  expect(Math.abs(tip!.y - word!.y)).toBeLessThan(200);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("opens on a still story, plays when asked, and says one sentence a scene", async () => {
  const { page, misdeeds } = await open(browser, address);
  expect(await page.locator("#story").evaluate((story) => story.getBoundingClientRect().top)).toBeLessThan(450);
  await page.waitForTimeout(500);
  expect(await page.locator("#story [aria-pressed=true]").innerText()).toMatch(/^1/);
  await page.getByRole("button", { name: "▶ play" }).first().click();
  await page.waitForFunction(() => document.querySelector("#story [aria-pressed=true]")?.textContent === "2 GRPO");
  const scenes = page.locator("#story .segments button");
  const said: string[] = [];
  for (let scene = 0; scene < 6; scene++) {
    await scenes.nth(scene).click();
    said.push(await page.locator("#story .lead").innerText());
  }
  expect(new Set(said).size).toBe(6);
  expect(said[2]).toMatch(/^After 400 steps 1\.\d strategies are left of five/);
  expect(await page.locator("#story tbody tr").count()).toBe(4); // the last scene compares sizes of sets
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("drawn sets have a standard error, which shrinks with their number", async () => {
  const { page, misdeeds } = await open(browser, `${address}#s=1A1B0C0A1D0-1A0B&k=3&sets=8,7`);
  const errors = () =>
    page
      .locator(".draws td[data-error]")
      .evaluateAll((all) => all.map((cell) => Number((cell as HTMLElement).dataset.error)));
  const few = await errors();
  expect(few.length).toBe(8);
  expect(await page.locator(".draws caption").innerText()).toContain("with 8 drawn sets, over 400 draws");
  const [, shown] = await page.locator(".draws tbody tr").first().locator("td").allInnerTexts();
  expect(shown).toBe(
    (await page.locator('td[data-method="Your choice"] .number').first().innerText()).replace(/^!?\s*|:.*$/gs, ""),
  );
  await page.locator(".draw input").fill("40");
  await page.locator(".draw input").press("Enter");
  await page.waitForFunction(() => document.querySelector(".draws caption")?.textContent?.includes("40 drawn"));
  (await errors()).forEach((error, i) => expect(error).toBeLessThan(few[i]!));
  await page.getByLabel("Sets that are scored").selectOption("all");
  await page.waitForFunction(() => !document.querySelector(".draws"));
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("the address holds the state", async () => {
  const { page } = await open(browser, address);
  await page.getByRole("button", { name: "A wrong sample gets paid" }).click();
  await page.getByLabel(/^y2 is right/).click();
  await page.waitForFunction(() => location.hash.includes("s=1A0A1A"));
  const shown = await value(page, "Poly-EPO", 8);
  await page.reload();
  await page.waitForSelector("tbody .number");
  expect(await value(page, "Poly-EPO", 8)).toBe(shown);
  await page.goBack().catch(() => undefined);
  await page.context().close();
});

it.each(["#s=<img src=x onerror=alert(1)>", "#%E0%A4%A"])("a hostile address is harmless: %s", async (hash) => {
  const { page, misdeeds } = await open(browser, address + hash);
  expect(await page.locator("tbody .number").count()).toBeGreaterThan(10);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("one warning in words for each method that goes against correctness", async () => {
  const { page } = await open(browser, `${address}#s=1A1A1A1A1A1A1A0B`);
  const warnings = await page.locator(".warning").allInnerTexts();
  expect(warnings[0]).toContain("Poly-EPO, Your choice: 7 correct samples less likely (y1, y2, y3, y4, y5, y6 and y7)");
  expect(warnings[0]).toContain("and 1 wrong sample more likely (y8)");
  await page.context().close();
});

const LOOKS = [
  { width: 1440, colorScheme: "light" },
  { width: 1440, colorScheme: "dark" },
  { width: 400, colorScheme: "light" },
  { width: 400, colorScheme: "dark" },
] as const;

it.each(LOOKS)("axe finds nothing: $width pixels, $colorScheme", async ({ width, colorScheme }) => {
  const look = { viewport: { width, height: 900 }, colorScheme, bypassCSP: true };
  const { page } = await open(browser, `${address}#s=1A1A1A0A1B0C0-0B&g=1&sets=9,3&t=100`, look, "#story table");
  if (width < 700) {
    // A phone sees the story and the names of the other parts, which unfold.
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(3000);
    for (const summary of await page.locator("details.folded > summary").all()) await summary.click();
  }
  await page.getByText("The sets one by one").click();
  await page.locator("#credit").getByText("show the Python code").click();
  await page.waitForSelector(".draws");
  expect(await violations(page, "main")).toEqual([]);
  for (const scene of await page.locator("#story .segments button").all()) {
    await scene.click();
    expect(await violations(page, "#story"), await scene.innerText()).toEqual([]);
  }
  expect(await overflow(page)).toBe(0);
  await page.context().close();
});
