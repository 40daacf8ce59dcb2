// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints how fluid the timeline of a page is, with its worker and its events: milliseconds between
// frames while it is moved. Run it by hand: node bench/frames.mjs REPORT|ADDRESS. An address is what
// `gpuprof serve` prints. CHROMIUM names another browser.

import { chromium } from "playwright-core";

const FRAMES = 120;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
page.setDefaultTimeout(120_000);
const place = process.argv[2] ?? "";
await page.goto(`${place.startsWith("http:") ? place : `file://${place}`}#timeline`);
const opened = performance.now();
await page.waitForSelector(".tl-canvas canvas");
const shown = performance.now() - opened;

const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");

/** Returns the seconds that the main thread had work so far. */
async function worked() {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find((metric) => metric.name === "TaskDuration").value;
}

/** Moves with one key, frame by frame, and returns the times between frames. */
async function move(keys) {
  const before = await worked();
  await page.evaluate(
    ([keys, frames]) =>
      new Promise((done) => {
        const gaps = [];
        let last = performance.now();
        const step = (now) => {
          gaps.push(now - last);
          last = now;
          const key = keys[Math.floor((gaps.length * keys.length) / frames)] ?? keys[0];
          window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          if (gaps.length < frames) requestAnimationFrame(step);
          else {
            window.gaps = gaps;
            done();
          }
        };
        requestAnimationFrame(step);
      }),
    [keys, FRAMES],
  );
  const work = (((await worked()) - before) * 1000) / FRAMES;
  const gaps = (await page.evaluate(() => window.gaps)).slice(1).sort((a, b) => a - b);
  const at = (share) => gaps[Math.floor(gaps.length * share)].toFixed(1);
  return {
    "p50, ms": at(0.5),
    "p95, ms": at(0.95),
    "longest, ms": at(0.999),
    "work, ms a frame": work.toFixed(1),
  };
}

await page.locator(".tl-canvas").focus();
console.log(`the canvas was there after ${shown.toFixed(0)} ms`);
const figures = {};
figures["at once: zoom in, out"] = await move(["w", "s"]);
await page.waitForTimeout(8000);
figures["zoom in, out"] = await move(["w", "s", "w", "s"]);
for (let i = 0; i < 8; i++) await page.keyboard.press("w");
await page.waitForTimeout(1500);
figures["pan, zoomed in"] = await move(["d", "a"]);
for (let i = 0; i < 30; i++) await page.keyboard.press("w");
await page.waitForTimeout(1500);
figures["pan, far in"] = await move(["d", "a"]);
console.table(figures);
await browser.close();
