// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens the timeline with a made-up trace in Chromium, makes pictures of it, and prints what a frame
// costs. Run by hand: node scripts/timeline_shots.mjs FOLDER [EVENTS]. CHROMIUM names another browser.
// With EVENTS only the figures of that trace are printed.

import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { createServer } from "vite";

const folder = path.resolve(process.argv[2] ?? "timeline-shots");
const events = Number(process.argv[3] ?? 0);
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

const SETTLE_MS = 700;

/** Returns a value below which a share of the values lies. */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function open(browser, address, query, size) {
  const page = await browser.newPage({ viewport: size });
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  await page.goto(`${address}/dev-timeline.html?${query}#timeline`);
  await page.waitForSelector(".tl-canvas canvas");
  await page.waitForTimeout(SETTLE_MS);
  return { page, faults };
}

/** Returns what axe finds that is serious. */
async function accessibility(page) {
  await page.addScriptTag({ path: path.join(root, "node_modules/axe-core/axe.min.js") });
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html).join(" | ")}`);
}

async function shots(browser, address) {
  const large = { width: 1600, height: 1000 };
  const { page, faults } = await open(browser, address, "events=20000", large);
  const shot = (name) => page.screenshot({ path: path.join(folder, `${name}.png`) });
  await shot("whole");
  await page.evaluate(() => {
    location.hash = "#timeline?v=2600000,4800000&sel=2830000,4100000";
  });
  await page.waitForTimeout(SETTLE_MS);
  await page.mouse.move(930, 150);
  await page.waitForTimeout(300);
  await page.mouse.click(930, 150);
  await page.waitForTimeout(SETTLE_MS);
  await shot("selected");
  await page.mouse.move(620, 150);
  await page.waitForTimeout(SETTLE_MS);
  await shot("hover");
  await page.keyboard.press("?");
  await page.waitForTimeout(100);
  await shot("keys");
  faults.push(...(await accessibility(page)));
  await page.keyboard.press("Escape");
  await page.fill(".tl-input", "flash");
  await page.waitForTimeout(SETTLE_MS);
  await shot("search");
  await page.evaluate(() => {
    document.documentElement.dataset.theme = "dark";
  });
  await page.waitForTimeout(SETTLE_MS);
  await shot("dark");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.waitForTimeout(SETTLE_MS);
  await shot("narrow");
  await page.close();
  return faults;
}

/** Goes through the page with keys alone. Returns what did not work. */
async function keyboard(browser, address) {
  const size = { width: 1600, height: 1000 };
  const { page, faults } = await open(browser, address, "events=20000", size);
  const said = () => page.textContent(".tl-spoken");
  const focused = () => page.evaluate(() => document.activeElement?.className ?? "");
  let stops = 0;
  while ((await focused()) !== "tl-canvas" && stops++ < 10) await page.keyboard.press("Tab");
  if (stops > 9) faults.push("The tracks cannot be reached with Tab.");
  const heard = [];
  for (const key of [".", ".", "Enter", "ArrowDown", "]"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(SETTLE_MS);
    const words = await said();
    if (words === "" || words === heard.at(-1)) faults.push(`${key} says nothing: ${words}`);
    heard.push(words);
  }
  await page.screenshot({ path: path.join(folder, "keyboard.png") });
  await page.keyboard.press("/");
  await page.keyboard.type("gemm");
  await page.waitForTimeout(SETTLE_MS);
  if (!/found/.test((await page.textContent(".tl-head")) ?? "")) faults.push("No search by keys.");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  if ((await page.locator(".tl-help").count()) !== 1) faults.push("No help by keys.");
  console.log(heard.join("\n"));
  await page.close();
  return faults;
}

/** Shows names that are an attack. Returns what they reached. */
async function hostile(browser, address) {
  const size = { width: 1600, height: 1000 };
  const { page, faults } = await open(browser, address, "events=4000&hostile", size);
  await page.evaluate(() => {
    location.hash = "#timeline?v=2600000,4800000&q=%3Cimg";
  });
  await page.waitForTimeout(SETTLE_MS);
  for (let x = 250; x < 1500; x += 90) {
    await page.mouse.click(x, 150);
    await page.waitForTimeout(40);
  }
  await page.waitForTimeout(SETTLE_MS);
  const reached = await page.evaluate(
    () => window.hostile !== undefined || document.querySelector(".tl img") !== null,
  );
  if (reached) faults.push("A name became markup.");
  const longest = await page.evaluate(() => document.querySelector(".tl").outerHTML.length);
  if (longest > 200_000) faults.push(`The page holds ${longest} characters.`);
  await page.screenshot({ path: path.join(folder, "hostile.png") });
  await page.close();
  return faults;
}

/** Turns the wheel for 120 frames in the page. Returns what the frames cost on the wall's clock. */
async function turn({ x, y, zoom }) {
  const target = document.querySelector(".tl-canvas");
  const frames = window.gpuprofFrames ?? [];
  frames.length = 0;
  const gaps = [];
  let last = performance.now();
  for (let i = 0; i < 120; i++) {
    const sign = i % 40 < 20 ? 1 : -1;
    target.dispatchEvent(
      new WheelEvent("wheel", {
        bubbles: true,
        cancelable: true,
        clientX: 900,
        clientY: 400,
        deltaX: x * sign,
        deltaY: y * sign,
        ctrlKey: zoom,
      }),
    );
    await new Promise((next) => requestAnimationFrame(next));
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }
  return { frames: [...frames], gaps };
}

/** Moves as a hand does, and prints what frames cost: by the wall's clock, and in tasks. */
async function figures(browser, address, count, ratio) {
  const context = await browser.newContext({
    viewport: { width: 1600, height: 1000 },
    deviceScaleFactor: ratio,
  });
  const { page, faults } = await open(context, address, `events=${count}&processes=4`, null);
  await page.waitForFunction(() => (window.gpuprofFrames ?? []).length > 2);
  await page.waitForTimeout(2500);
  await page.screenshot({ path: path.join(folder, `million-${ratio}x.png`) });
  const client = await context.newCDPSession(page);
  // Asks for time on a CPU. Browsers that ignore it count other programs on the machine too.
  await client.send("Performance.setTimeDomain", { timeDomain: "threadTicks" });
  await client.send("Performance.enable");
  const cpu = async () => {
    const { metrics } = await client.send("Performance.getMetrics");
    return (metrics.find((metric) => metric.name === "TaskDuration")?.value ?? 0) * 1000;
  };
  const rows = [];
  for (const [move, wheel] of [
    ["zoom", { x: 0, y: -40, zoom: true }],
    ["pan of all", { x: 40, y: 0, zoom: false }],
    ["scroll", { x: 0, y: 40, zoom: false }],
    ["pan, zoomed in", { x: 40, y: 0, zoom: false }],
  ]) {
    if (move.startsWith("pan")) {
      for (let i = 0; i < (move === "pan of all" ? 2 : 12); i++) await page.keyboard.press("w");
      await page.waitForTimeout(1500);
    }
    const before = await cpu();
    const { frames, gaps } = await page.evaluate(turn, wheel);
    const used = (await cpu()) - before;
    rows.push({
      move,
      frames: frames.length,
      "tasks of main thread, ms a frame": (used / frames.length).toFixed(2),
      "draw p50, ms": quantile(
        frames.map((f) => f.script_ms),
        0.5,
      ).toFixed(2),
      "draw p95, ms": quantile(
        frames.map((f) => f.script_ms),
        0.95,
      ).toFixed(2),
      "between frames p50, ms": quantile(gaps, 0.5).toFixed(1),
      "between frames p95, ms": quantile(gaps, 0.95).toFixed(1),
      "rectangles, most": Math.max(...frames.map((f) => f.rectangles)),
      "labels, most": Math.max(...frames.map((f) => f.labels)),
    });
  }
  const load = readFileSync("/proc/loadavg", "utf8").split(" ")[0];
  console.log(`${count} events, 1600 × 1000 at ${ratio}x, load of the machine ${load}`);
  console.table(rows);
  await context.close();
  return faults;
}

mkdirSync(folder, { recursive: true });
const server = await createServer({
  root,
  logLevel: "error",
  server: { port: 0, host: "127.0.0.1" },
});
await server.listen();
const address = server.resolvedUrls?.local[0]?.replace(/\/$/, "") ?? "";
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
let faults = [];
try {
  if (events === 0) {
    faults = await shots(browser, address);
    faults.push(...(await keyboard(browser, address)), ...(await hostile(browser, address)));
  } else
    faults = [
      ...(await figures(browser, address, events, 1)),
      ...(await figures(browser, address, events, 2)),
    ];
} finally {
  await browser.close();
  await server.close();
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
