/** `setrl view` beside a run that goes on: new steps appear in curves and lists, without a click. */

import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launch } from "./open";
import { openServed, serve, type Served } from "./served";

const ABOUT = { schema_version: 1, kind: "comparison", name: "growing", created: "2026-01-01T00:00:00" };

let browser: Browser;
let server: Served;
let folder: string;
let seed: string;

const say = (status: string): void => writeFileSync(join(folder, "run.json"), JSON.stringify({ ...ABOUT, status }));

/** Log a step, as training does: its metrics, and one group. */
function log(step: number, hasCredit: boolean): void {
  const advantage = hasCredit ? 0.5 : 0;
  const sample = (text: string, correct: boolean) => ({
    text,
    reward: Number(correct),
    correct,
    strategy: null,
    label: null,
    advantage: correct ? advantage : -advantage,
    tokens: 1234 + step,
  });
  const group = {
    schema_version: 1,
    step,
    group: 0,
    prompt: `Ask ${step}`,
    samples: [sample("a", true), sample("b", false)],
  };
  writeFileSync(join(seed, "rollouts", `step_${String(step).padStart(6, "0")}.jsonl`), `${JSON.stringify(group)}\n`);
  const metrics = { step, "reward/mean": 1 / step, "advantage/dead_groups": hasCredit ? 0 : 1, "policy/entropy": step };
  appendFileSync(join(seed, "metrics.jsonl"), `${JSON.stringify(metrics)}\n`);
}

beforeAll(async () => {
  folder = join(mkdtempSync(join(tmpdir(), "live-")), "growing");
  seed = join(folder, "dr_grpo", "seed_0");
  mkdirSync(join(seed, "rollouts"), { recursive: true });
  writeFileSync(join(folder, "config.yaml"), "name: growing\nsteps: 9\narms: {dr_grpo: {method: dr_grpo}}\n");
  say("running");
  for (const step of [1, 2, 3]) log(step, true);
  server = await serve(folder);
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  server?.stop();
});

it("curves go on with the run, are smoothed, and show steps without credit in red and in words", async () => {
  const run = server.runs[0]!.id;
  const { page, misdeeds } = await openServed(browser, server.address, `run=${run}&view=metrics`);
  await page.waitForFunction(() => document.querySelector("#metrics")?.textContent?.includes("3 steps"));
  expect(await page.locator("#metrics").innerText()).toContain("Live: 1 of 1 training run.");
  expect(await page.locator("#metrics .warning").count()).toBe(0);
  const red = () => page.locator('#metrics .chart svg [aria-label="rule"] line').count();
  expect(await red()).toBe(0);
  for (const step of [4, 5, 6]) log(step, step !== 5);
  await page.waitForFunction(() => document.querySelector("#metrics")?.textContent?.includes("6 steps"));
  expect(await page.locator("#metrics .warning").innerText()).toContain(
    "at the marked steps: Dr. GRPO, seed 0, at step 5",
  );
  expect(await red()).toBeGreaterThan(0);
  const last = () => page.locator("#metrics .chart").first().getAttribute("aria-label");
  expect(await last()).toMatch(/reward\/mean by step; last values: Dr. GRPO: 0.167; Dr. GRPO had no credit at step 5/);
  await page.getByLabel("Smoothing").selectOption("5");
  await page.waitForFunction(() => location.hash.includes("smooth=5"));
  expect(await last()).toContain("Dr. GRPO: 0.290"); // the mean of 1/2 to 1/6
  expect(misdeeds).toEqual([]);
  await page.context().close();
});

it("new groups appear in the list, and the page says whose credit it is", async () => {
  const run = server.runs[0]!.id;
  const { page, misdeeds } = await openServed(browser, server.address, `run=${run}&view=groups&sort=step`);
  await page.waitForSelector("#groups tbody a");
  log(7, true);
  await page.waitForFunction(() => document.querySelector("#groups tbody")?.textContent?.includes("Ask 7"));
  await page.getByRole("link", { name: "Ask 7" }).click();
  await page.waitForSelector("#why");
  const why = await page.locator("#why").innerText();
  expect(why).toContain("What entered the loss is what Dr. GRPO gives.");
  expect(why).toContain(
    "Dr. GRPO compares single samples: the reward of y1 is 1.000. The mean of all samples is 0.500.",
  );
  expect(why).not.toContain("Poly-EPO");
  expect(await page.locator("#sample-0").innerText()).toContain("1,241 tokens");
  say("finished");
  await page.waitForFunction(async () => {
    const known = (await (await fetch("/api/runs")).json()) as { runs: { status: string }[] };
    return known.runs[0]!.status === "finished";
  });
  expect(misdeeds).toEqual([]);
  await page.context().close();
});
