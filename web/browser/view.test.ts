/** The run explorer in a real browser: keyboard, values, hostile samples, requests, accessibility. */

import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launch, overflow, PYTHON, violations, type Watched } from "./open";
import { openServed, serve, type Served } from "./served";

const ROOT = join(import.meta.dirname, "../..");

let browser: Browser;
let server: Served;
let address: string;
let first: string;
let answers: string;

beforeAll(async () => {
  const folder = join(mkdtempSync(join(tmpdir(), "view-")), "runs");
  execFileSync(PYTHON, ["-m", "tests.lab.view_folder", folder], { cwd: ROOT });
  server = await serve(folder);
  address = server.address;
  first = server.runs.find(({ name }) => name === "first")!.id;
  answers = server.runs.find(({ name }) => name === "answers")!.id;
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  server?.stop();
});

const open = (hash: string, options?: BrowserContextOptions): Promise<Watched> =>
  openServed(browser, address, hash, options);

it("a wrong sample's credit is found and explained with the keyboard alone", async () => {
  const { page, misdeeds } = await open("");
  await page.keyboard.press("Tab");
  while ((await page.evaluate(() => document.activeElement?.textContent)) !== "Samples")
    await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("table.rows tbody a");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#why");
  expect(await page.locator("#why h2").innerText()).toMatch(/^Why y\d got its credit$/);
  expect(await page.locator("#why").innerText()).toContain("against its correctness");
  await page.keyboard.press("j");
  expect(await page.evaluate(() => document.activeElement?.id)).toMatch(/^sample-\d$/);
  await page.keyboard.press("x");
  await page.keyboard.press("k");
  await page.keyboard.press("x");
  await page.waitForSelector("#compared");
  await page.keyboard.press("?");
  expect(await page.locator(".keys").isVisible()).toBe(true);
  await page.keyboard.press("/");
  await page.keyboard.type("then");
  await page.keyboard.press("Escape");
  expect(await page.evaluate(() => document.activeElement?.id)).toMatch(/^sample-\d$/);
  const before = page.url();
  await page.keyboard.press((await page.getByText("next problem (n)").isEnabled()) ? "n" : "p");
  await page.waitForFunction((url) => location.href !== url, before);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

const groupOf = async (text: string): Promise<{ step: number; place: number }> => {
  const rows = await (await fetch(`${address}api/groups?run=${first}&arm=poly_epo&seed=0&text=${text}`)).json();
  return (rows as { rows: { step: number; place: number }[] }).rows[0]!;
};

it("the page shows the numbers that Python computed", async () => {
  const { step, place } = await groupOf("Solve");
  const { page, misdeeds } = await open(`view=group&run=${first}&arm=poly_epo&seed=0&step=${step}&place=${place}`);
  const code = `
import json
from setrl import methods
from tests.lab.view_folder import LABELS, REWARDS
used = {"poly_epo": methods.poly_epo(4), "maxpo": methods.maxpo(4), "grpo": methods.grpo()}
print(json.dumps({name: one.advantages([REWARDS], strategies=[LABELS]).values_BN[0].tolist() for name, one in used.items()}))`;
  const wanted = JSON.parse(execFileSync(PYTHON, ["-c", code], { cwd: ROOT, encoding: "utf8" })) as Record<
    string,
    number[]
  >;
  wanted.used = wanted.poly_epo!;
  for (const [name, values] of Object.entries(wanted)) {
    const shown = await page
      .locator(`td[data-method="${name}"]`)
      .evaluateAll((all) =>
        all.map(
          (cell) =>
            [
              cell.closest("tr")!.querySelector("button")!.textContent!,
              Number((cell as HTMLElement).dataset.value),
            ] as const,
        ),
      );
    expect(shown.length).toBe(values.length);
    for (const [who, value] of shown) expect(value).toBeCloseTo(values[Number(/y(\d+)/.exec(who)![1]) - 1]!, 12);
  }
  expect(await page.locator("#why").innerText()).toContain(
    "y4 is wrong, and training made it more likely, against its correctness.",
  );
  expect(await page.locator("#why").innerText()).toContain(
    "What entered the loss is what Poly-EPO gives with sets of 4.",
  );
  await page.getByLabel("Set size K").focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector("#why")?.textContent?.includes("sets of 5"));
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("hostile samples are shown as text", async () => {
  const { step, place } = await groupOf("script");
  const { page, misdeeds } = await open(`view=group&run=${first}&arm=poly_epo&seed=0&step=${step}&place=${place}`);
  const text = await page.locator("#samples").innerText();
  for (const wanted of ["<script>document.title", "<img src=x onerror=", "⟨U+202E⟩", "␛[31mred", "nul ␀", "⟨U+D800⟩"])
    expect(text).toContain(wanted);
  expect(await page.locator("#page script, #page img").count()).toBe(0);
  expect(await page.title()).not.toContain("caught");
  await page.getByRole("button", { name: /show 20,000 letters/ }).click();
  await page.getByRole("button", { name: /load more of 300,000 letters/ }).click();
  await page.waitForFunction(() => (document.querySelector("#sample-5 pre")?.textContent?.length ?? 0) > 200_000);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("a log of another program is read: problems, formulas, answers, and the same problem elsewhere", async () => {
  const { page, misdeeds } = await open(`view=groups&run=${answers}&split=given&arm=cold`);
  expect(await page.locator("#groups thead th").allInnerTexts()).toEqual([
    "problem",
    "pass@1",
    "strategies",
    "disagreement",
  ]);
  await page.getByLabel("Compare with").selectOption({ label: "warm" });
  await page.waitForSelector("td.lost");
  await page.getByRole("button", { name: "lost" }).click();
  await page.waitForFunction(() =>
    /75% \(3 of 4\)\s+0\s+3\s+1\s+50%/.test(document.querySelector<HTMLElement>("#groups tbody tr")!.innerText),
  );
  await page.getByLabel("search the samples, too").check();
  await page.getByLabel("Search", { exact: true }).fill("costs $5");
  await page.waitForFunction(() => document.querySelectorAll("#groups tbody tr").length === 1);
  await page.keyboard.press("Escape");
  await page.locator("#groups tbody a").click();
  await page.waitForSelector("#samples .card");
  expect(await page.locator("#samples math").count()).toBeGreaterThan(3);
  expect(await page.locator("#samples mfrac").count()).toBe(2);
  expect(await page.locator("#samples").innerText()).toContain("It costs $5 or $6.");
  expect(await page.locator("#samples").innerText()).toContain("Wrong, because the number 5 is not 3.");
  await page.getByLabel("Group by").selectOption("answer");
  expect(await page.locator("#samples h3").allInnerTexts()).toEqual(["A 3 2 of 2 correct", "B 5 0 of 2 correct"]);
  await page.locator("#sample-2 summary", { hasText: "All fields" }).click();
  await page.waitForFunction(() => document.querySelector("#sample-2")!.textContent!.includes("note_of_the_tool"));
  await page.getByRole("button", { name: /^side by side with answers, warm/ }).click();
  await page.waitForSelector(".beside .card, .beside summary");
  expect(await page.locator(".beside h3").allInnerTexts()).toEqual(["These samples", "answers, warm, seed 0"]);
  await page.reload(); // the address holds it all
  await page.waitForSelector(".beside summary");
  expect(await page.getByLabel("Group by").inputValue()).toBe("answer");
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("K moves as fast as keys are pressed, and a list without groups says so", async () => {
  const { step, place } = await groupOf("Solve");
  const { page, misdeeds } = await open(`view=group&run=${first}&arm=poly_epo&seed=0&step=${step}&place=${place}`);
  await page.getByLabel("Set size K").focus();
  for (let presses = 0; presses < 3; presses++) await page.keyboard.press("ArrowLeft"); // no answer is waited for
  await page.waitForFunction(() => document.querySelector("#why")?.textContent?.includes("sets of 1"));
  expect(await page.getByLabel("Set size K").inputValue()).toBe("1");
  await page.goto(`${address}#view=groups&run=${first}&arm=poly_epo&seed=0&text=nowhere`);
  await page.getByRole("button", { name: "show all problems" }).click();
  await page.waitForSelector("#groups tbody a");
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("a click on a curve leads to the groups of that step", async () => {
  const { page, misdeeds } = await open(`view=metrics&run=${first}`);
  const chart = page.locator("#metrics .chart svg").first();
  await chart.waitFor();
  const box = (await chart.boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.55, box.y + box.height / 2);
  expect(await chart.locator("[aria-label=tip]").textContent()).toMatch(/step 1\d/);
  await page.mouse.down();
  await page.mouse.up();
  await page.waitForSelector("#groups table.rows tbody a");
  expect(page.url()).toContain("step=10"); // the logged step that is nearest
  const steps = await page.locator("#groups td.step").allInnerTexts();
  expect(new Set(steps)).toEqual(new Set(["10"]));
  await page.goBack();
  await page.getByRole("button", { name: "groups of step 1" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.includes("step=1&") || location.hash.endsWith("step=1"));
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it.each([
  "view=group&run=../../etc&arm=<b>",
  "view=nonsense&run=1",
  "%E0%A4%A&view=metrics",
  "view=group&run=RUN&arm=poly_epo&step=999&place=3",
])("a wrong address is a sentence: %s", async (hash) => {
  const { page } = await open(hash.replace("RUN", first));
  expect(await page.locator("main").innerText()).toMatch(/There is no such run|there is no such run|Runs in/i);
  await page.context().close();
});

it("credit that setrl credit wrote trained nothing, and its method is explained", async () => {
  const { page, misdeeds } = await open(`view=group&run=${answers}&split=credited&arm=credited_warm&step=0&place=0`);
  await page.waitForSelector(".credits");
  const why = await page.locator("#why").innerText();
  expect(why).toContain("training with this credit would make it");
  expect(why).toContain("The credit that setrl credit wrote is what MaxPO gives with sets of 2.");
  expect(why).toContain("MaxPO compares sets of 2: the sets with y1 score");
  expect(why).not.toMatch(/Poly-EPO|training made|the loss/);
  expect(await page.locator("#credit thead").innerText()).toContain("setrl credit (MaxPO)");
  expect(await page.getByLabel("Set size K").inputValue()).toBe("2"); // as in the log
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("the same problem at another step stands side by side, and the link holds it", async () => {
  const { step, place } = await groupOf("Nothing to learn");
  const { page, misdeeds } = await open(`view=group&run=${first}&arm=poly_epo&seed=0&step=${step}&place=${place}`);
  const other = step === 20 ? 10 : 20;
  await page.getByRole("button", { name: `side by side with first, Poly-EPO, seed 0, step ${other}` }).click();
  const heads = () => page.locator(".beside h3").allInnerTexts();
  await page.waitForSelector(".beside summary");
  expect(await heads()).toEqual(["These samples", `first, Poly-EPO, seed 0, step ${other}`]);
  await page.reload();
  await page.waitForSelector(".beside summary");
  expect(await heads()).toEqual(["These samples", `first, Poly-EPO, seed 0, step ${other}`]);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("a problem prints as a page: white, whole, without controls", async () => {
  const hash = `view=group&run=${first}&arm=poly_epo&seed=0`;
  const { page } = await open(hash, { viewport: { width: 718, height: 1000 }, colorScheme: "dark" });
  await page.waitForSelector(".credits");
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const found = await page.evaluate(() => ({
    ground: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    controls: [
      ...document.querySelectorAll<HTMLElement>("main button:not(.term, .name, .sort), main select, main input"),
    ]
      .filter((one) => one.checkVisibility())
      .map((one) => one.outerHTML.slice(0, 80)),
    cut: [...document.querySelectorAll<HTMLElement>("main *:not(.hidden)")]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && one.checkVisibility())
      .map((one) => one.outerHTML.slice(0, 80)),
  }));
  expect(found).toEqual({ ground: "rgb(255, 255, 255)", ink: "rgb(27, 30, 35)", controls: [], cut: [] });
  expect((await page.pdf({ format: "A4" })).length).toBeGreaterThan(10_000);
  await page.context().close();
});

const VIEWS = (): Record<string, string> => ({
  runs: "",
  groups: `view=groups&run=${first}`,
  group: `view=group&run=${first}&arm=poly_epo&seed=0`,
  problems: `view=groups&run=${answers}&split=given&arm=cold`,
  problem: `view=group&run=${answers}&split=given&arm=cold&step=0&place=1&other=${[answers, 0, 0, 1, "warm"].join("|")}`,
  compared: `view=group&run=${answers}&split=given&arm=cold&step=0&place=1&pair=1,3&find=answer&by=answer`,
  credited: `view=group&run=${answers}&split=credited&arm=credited_warm&step=0&place=0&raw=1`,
  nothing: `view=groups&run=${first}&text=nowhere`,
  wrong: "view=nonsense&run=1",
  metrics: `view=metrics&run=${first}`,
});

const LOOKS = [
  { width: 1280, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
  { width: 400, colorScheme: "light" },
  { width: 400, colorScheme: "dark" },
] as const;

it.each(LOOKS)("axe finds nothing: $width pixels, $colorScheme", async ({ width, colorScheme }) => {
  for (const [name, hash] of Object.entries(VIEWS())) {
    const { page, misdeeds } = await open(hash, { viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
    if (name === "group") await page.waitForSelector(".credits");
    if (name === "problem") {
      await page.keyboard.press("?");
      for (const summary of await page.locator("#sample-0 summary").all()) await summary.click();
    }
    if (name === "metrics") await page.waitForSelector(".chart svg");
    expect(await violations(page), name).toEqual([]);
    expect(await overflow(page), name).toBe(0);
    expect(misdeeds, name).toEqual([]);
    await page.context().close();
  }
});
