/** The report of a made-up run with hostile samples: values, switches, files to save, accessibility. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launch, open, overflow, PYTHON, violations } from "./open";

const ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!--\u202e\u0000";
const MAKE = `
import fcntl, json, sys
from pathlib import Path
from setrl.logs.options import LogOptions
from setrl.show.report import report_files, write_report
from setrl.show.report.judge_audit import audit_page
from tests import fake_run
from tests.lab import view_folder
folder = fake_run.make(Path(sys.argv[1]), problems=4, n=8, steps=10, text=sys.argv[2].replace("NUL", chr(0)))
write_report(folder)
view_folder.write_control(folder / "maze")
write_report(folder / "maze")
(folder / "audit.html").write_text(audit_page(view_folder.audit_record()))
running = fake_run.make(folder / "running", arms=("grpo", "maxpo"), seeds=(0,), problems=3, n=8, steps=10)
record = json.loads((running / "run.json").read_text())
(running / "run.json").write_text(json.dumps({**record, "status": "running"}))
metrics = running / "maxpo/seed_0/metrics.jsonl"
lines = [json.loads(line) for line in metrics.read_text().splitlines()][:6]
lines[3]["advantage/skipped"] = 1.0
metrics.write_text("".join(json.dumps(line) + "\\n" for line in lines))
with (running / ".lock").open("w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    write_report(running)
logs = [folder / "first.jsonl", folder / "second.jsonl"]
for log, right in zip(logs, ((3, 3, 4, 4), (0, 1, 1, 2))):
    log.write_text("".join(
        json.dumps({"qid": p, "prompt": f"What is {p}?", "correct": i < c, "response": "because " * 90}) + "\\n"
        for p, c in enumerate(right) for i in range(4)))
report_files(logs, folder / "logs", LogOptions(), command="setrl report first.jsonl second.jsonl",
             views=["setrl view first.jsonl", "setrl view second.jsonl"])
`;

let browser: Browser;
let folder: string;
let address: string;
const other = (name: string): string => pathToFileURL(join(folder, name)).href;

beforeAll(async () => {
  browser = await launch();
  folder = join(mkdtempSync(join(tmpdir(), "lab-")), "run");
  const root = join(import.meta.dirname, "../..");
  execFileSync(PYTHON, ["-c", MAKE, folder, ATTACK.replace("\u0000", "NUL")], {
    cwd: root,
    env: { ...process.env, PYTHONPATH: `${root}/src:${root}` },
  });
  address = pathToFileURL(join(folder, "report.html")).href;
});

afterAll(() => browser?.close());

it("values are those of the summary, on hover and in the files that are saved", async () => {
  const { page, misdeeds } = await open(browser, address, { acceptDownloads: true }, ".chart svg");
  const summary = JSON.parse(readFileSync(join(folder, "summary.json"), "utf8")) as {
    splits: { shifted: { arms: { grpo: { metrics: Record<string, { value: number }> } } } };
  };
  const { metrics } = summary.splits.shifted.arms.grpo;
  const saved = async (kind: string) => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("#pass .saves button", { hasText: kind }).first().click(),
    ]);
    return readFileSync((await file.path())!, "utf8");
  };
  const rows = (await saved("CSV"))
    .trim()
    .split("\r\n")
    .map((row) => row.split(","))
    .filter(([arm]) => arm === "GRPO");
  expect(rows.length).toBe(4);
  for (const [, k, value] of rows) expect(Math.abs(Number(value) - metrics[`pass@${k}`]!.value)).toBeLessThan(1e-5);
  expect(await saved("SVG")).toMatch(/^<svg[^]*<\/svg>$/);
  const chart = page.locator("#pass .chart svg").first();
  await chart.scrollIntoViewIfNeeded();
  const box = (await chart.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const tip = await chart.locator("[aria-label=tip]").textContent();
  const k = /k = (\d+)/.exec(tip!)![1]!;
  expect(tip).toContain(`GRPO ${(100 * metrics[`pass@${k}`]!.value).toFixed(1)}%`);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("an arm is switched off in every plot, with the keyboard", async () => {
  const { page, misdeeds } = await open(browser, address, {}, ".chart svg");
  const dots = () => page.locator('#pass .chart svg [aria-label="dot"]').count();
  const before = await dots();
  const key = page.locator("#pass .curves-key").first().getByRole("button", { name: "GRPO" });
  await key.focus();
  await page.keyboard.press("Space");
  expect(await key.getAttribute("aria-pressed")).toBe("false");
  await page.waitForTimeout(100);
  expect(await dots()).toBeLessThan(before);
  expect(
    await page.locator("#training .curves-key").getByRole("button", { name: "GRPO" }).getAttribute("aria-pressed"),
  ).toBe("false");
  await page.locator("header button.term").first().focus();
  expect(await page.locator("#tip").isVisible()).toBe(true);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("numbers are sorted by a column, and what differs is marked", async () => {
  const { page, misdeeds } = await open(browser, address, {}, ".chart svg");
  const table = page.locator(".numbers table").first();
  const names = () => table.locator("tbody th").allInnerTexts();
  const values = () =>
    table
      .locator("tbody td:nth-of-type(1)")
      .evaluateAll((all) => all.map((cell) => Number((cell as HTMLElement).dataset.value)));
  const [first, before] = [await names(), await values()];
  const head = table.locator("thead th", { hasText: "pass@1" });
  await head.getByRole("button").focus();
  await page.keyboard.press("Enter");
  expect(await head.getAttribute("aria-sort")).toBe("descending");
  expect(await values()).toEqual(before.toSorted((a, b) => b - a));
  expect(await names()).not.toEqual(first);
  await head.getByRole("button").click();
  expect(await values()).toEqual(before.toSorted((a, b) => a - b));
  await table.locator("thead th").first().getByRole("button").click();
  expect(await names()).toEqual(first);
  expect(await table.locator("td.is-unclear").count()).toBeGreaterThan(0);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("the command stands once and can be copied", async () => {
  const { page, misdeeds } = await open(browser, address, { permissions: ["clipboard-write"] }, ".chart svg");
  const command = "setrl train --config recipes/polynomial/config.yaml";
  expect((await page.locator("main").innerText()).split(command).length).toBe(2);
  await page.getByRole("button", { name: "copy" }).click();
  await page.getByRole("button", { name: "copied" }).waitFor();
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("a run that trains says how far it is", async () => {
  const { page, misdeeds } = await open(browser, other("running/report.html"), {}, ".chart svg");
  expect(await page.getByRole("status").innerText()).toMatch(
    /Still running: 1 of 2 training runs did all 10 steps; MaxPO seed 0 at step 6; .* setrl view /,
  );
  expect(await page.getByRole("progressbar").evaluate((bar) => (bar as HTMLProgressElement).value)).toBe(0.8);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("a report of logs shows questions, axes that fit, and no training", async () => {
  const { page, misdeeds } = await open(browser, other("logs/report.html"), {}, ".chart svg");
  const words = await page.locator("main").innerText();
  expect(words).toContain("What is 0?");
  expect(words).toContain("setrl view first.jsonl, setrl view second.jsonl show all of them");
  expect(words).toMatch(/it is open whether second \(\d+\.\d%\) solves more problems than first/);
  expect(words).not.toMatch(/training|majority|first arm/i);
  expect(await page.locator("blockquote, .samples-shown li").first().innerText()).toContain("more letters)");
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it.each(["report.html", "running/report.html", "logs/report.html", "maze/report.html", "audit.html"])(
  "printed, nothing of %s is cut or dark",
  async (name) => {
    const paper = { width: 688, height: 1000 }; // A4 without its margins
    const { page, misdeeds } = await open(browser, other(name), { viewport: paper, colorScheme: "dark" }, ".chart svg");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.waitForTimeout(300);
    const cut = await page.evaluate(() => {
      const shown = [...document.querySelectorAll<HTMLElement>("main, table, pre, figure, li, blockquote, p, svg")];
      const isCut = (one: HTMLElement) =>
        one.getBoundingClientRect().right > innerWidth + 1 ||
        (getComputedStyle(one).overflowY !== "visible" && one.scrollHeight > one.clientHeight + 1);
      return shown
        .filter((one) => one.checkVisibility() && !one.closest(".hidden, .chart, .curves-key") && isCut(one))
        .map((one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 60)}`);
    });
    expect(cut).toEqual([]);
    for (const details of await page.locator("details > :not(summary), .verdicts li").all())
      expect(await details.isVisible()).toBe(true);
    const ink = await page.evaluate(() => getComputedStyle(document.body).color);
    expect(ink).toBe("rgb(27, 30, 35)");
    expect(misdeeds).toEqual([]);
    await page.context().close();
  },
);

it("shares of strategies are told at a step", async () => {
  const { page, misdeeds } = await open(browser, address, {}, ".chart svg");
  const chart = page.locator('#training .chart[aria-label^="Shares of strategies"] svg').first();
  await chart.scrollIntoViewIfNeeded();
  const box = (await chart.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const told = (await chart.locator("[aria-label=tip]").textContent())!;
  expect(told).toMatch(/step \d+/);
  const shares = [...told.matchAll(/([\d.]+)%/g)].map(([, share]) => Number(share));
  expect(shares.length).toBeGreaterThan(0);
  expect(shares).toEqual(shares.toSorted((a, b) => b - a));
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("a control run's page has hover, choices, switches and files", async () => {
  const { page, misdeeds } = await open(browser, other("maze/report.html"), { acceptDownloads: true }, ".chart svg");
  const summary = JSON.parse(readFileSync(join(folder, "maze", "summary.json"), "utf8")) as {
    arms: Record<string, { success: { mean: number } }>;
  };
  const cells = await page
    .locator('td[data-metric="success"]')
    .evaluateAll((all) => all.map((cell) => Number((cell as HTMLElement).dataset.value)));
  expect(cells).toEqual(Object.values(summary.arms).map(({ success }) => success.mean));
  expect(await page.locator("header").innerText()).toContain(
    "ppo has the highest success: 0.99, with effective goals 1.5.",
  );
  const curve = page.locator("#training .chart svg").first();
  await curve.scrollIntoViewIfNeeded();
  const box = (await curve.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  expect(await curve.locator("[aria-label=tip]").textContent()).toMatch(/environment step .*ppo .*poly/s);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#outcomes .saves button", { hasText: "CSV" }).click(),
  ]);
  expect(readFileSync((await file.path())!, "utf8")).toContain("ppo,success,0.99,0.01");
  await page.locator("#outcomes .curves-key").getByRole("button", { name: "ppo" }).click();
  expect(await page.locator('td[data-metric="success"]').count()).toBe(1);
  expect(await page.locator("section.numbers").count()).toBe(0); // the words for browsers without scripts
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("an audit's page begins with words and shows hostile samples as text", async () => {
  const { page, misdeeds } = await open(browser, other("audit.html"), {}, ".chart svg");
  expect(await page.locator("header").innerText()).toContain(
    "When the judge “j <b>” sees the same samples in another order, 25.0%",
  );
  expect(await page.locator("#contradictions").innerText()).toContain("<img src=x onerror=");
  expect(await page.locator("img").count()).toBe(0);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("hostile samples are text", async () => {
  const { page, misdeeds } = await open(browser, address, {}, ".chart svg");
  const shown = await page.locator("#solved .samples-shown .sample-text").first().innerText();
  expect(shown).toContain("</script><script>alert(1)</script><img src=x onerror=alert(2)><!--⟨U+202E⟩␀");
  expect(await page.locator("img").count()).toBe(0);
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it.each([
  { width: 1280, colorScheme: "light" },
  { width: 1280, colorScheme: "dark" },
  { width: 400, colorScheme: "light" },
  { width: 400, colorScheme: "dark" },
] as const)("axe finds nothing: $width pixels, $colorScheme", async ({ width, colorScheme }) => {
  for (const page of ["report", "running/report", "logs/report", "maze/report", "audit"].map((of) =>
    other(`${of}.html`),
  ))
    await axeFindsNothing(page, width, colorScheme);
});

async function axeFindsNothing(of: string, width: number, colorScheme: "light" | "dark"): Promise<void> {
  const { page } = await open(
    browser,
    of,
    { viewport: { width, height: 900 }, colorScheme, bypassCSP: true },
    ".chart svg",
  );
  for (const summary of await page.locator("summary").all()) await summary.click();
  await page.waitForTimeout(200);
  expect(await violations(page)).toEqual([]);
  const small = await page.evaluate(
    () =>
      [...document.querySelectorAll("text, tspan, small, td, p, li")].filter(
        (one) => one.textContent && parseFloat(getComputedStyle(one).fontSize) < 11,
      ).length,
  );
  expect(small).toBe(0);
  expect(await overflow(page)).toBe(0);
  await page.context().close();
}
