// How long the playground takes from a click to the picture, and how large the page is.
//
//     make web && node benchmarks/playground.mjs [PYTHON]
//
// Headless Chromium opens the page from disk and toggles the reward of one sample after another. Two
// figures for each click:
//
// work     time of the processor in the page's thread: script, style, layout and painting
// picture  from the click until the frame with the new numbers was drawn; it includes waiting for the
//          next frame (16.7 ms at 60 Hz) and, on a busy machine, for other processes

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const python = process.argv[2] ?? ".venv/bin/python";
const CLICKS = 40;

const samples = (n) => Array.from({ length: n }, (_, i) => `${i % 3 === 0 ? 0 : 1}${"ABCDEFGH"[i % 5]}`).join("");

const GROUPS = [
  ["N = 8, K = 4, polychromic", `s=${samples(8)}`],
  ["N = 16, K = 8, polychromic", `s=${samples(16)}&k=8`],
  ["N = 16, K = 8, majority", `s=${samples(16)}&k=8&f=majority`],
  ["N = 16, K = 8, polychromic, sets listed", `s=${samples(16)}&k=8`],
];

/** In the page: some clicks, and the time from each until its frame was drawn. */
async function toggled(clicks) {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const times = [];
  for (let click = 0; click < clicks; click++) {
    const buttons = document.querySelectorAll("button.verdict");
    const start = performance.now();
    buttons[click % buttons.length].click();
    await frame();
    times.push(performance.now() - start);
  }
  return times;
}

/** Milliseconds that the page's thread has worked. */
async function worked(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
}

const at = (times, share) => times.toSorted((a, b) => a - b)[Math.floor(share * (times.length - 1))].toFixed(0);

const file = join(mkdtempSync(join(tmpdir(), "lab-")), "playground.html");
execFileSync(python, ["-m", "setrl", "playground", "--no-open", "--output", file]);
console.log(`the page has ${Math.round(statSync(file).size / 1000)} kB`);
const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const [name, state] of GROUPS) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const start = performance.now();
  await page.goto(`${pathToFileURL(file).href}#${state}`);
  await page.waitForSelector("tbody .number");
  const opened = performance.now() - start;
  if (name.endsWith("listed")) await page.getByText("The sets one by one").click();
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.evaluate(toggled, 5);
  const before = await worked(session);
  const picture = await page.evaluate(toggled, CLICKS);
  const work = ((await worked(session)) - before) / CLICKS;
  console.log(
    `${name}: work ${work.toFixed(0)} ms a click; picture after ${at(picture, 0.5)} ms (median), ` +
      `${at(picture, 0.9)} ms (nine of ten); opened in ${opened.toFixed(0)} ms`,
  );
  await page.close();
}
await browser.close();
