// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens a report in Chromium without a network, or the page of a server, and prints what it saw as JSON.
//
//   node probe.mjs MODULES REPORT|ADDRESS FOLDER STEP...
//
// Steps: keyboard axe csv:PAGE text:PAGE shot:PAGE narrow:FROM,TO whole ink:PAGE (colours and a sum of its largest canvas)
// choose:LIST=VALUE follow:NAME (a link) press:NAME (a button) tick:NAME (a box) wait:TEXT (in the page) said (live regions) read:KEY (the page now)
// keys:CHART=KEY KEY (a chart has the focus, and takes keys)
// cut:NAME=SELECTOR (a picture of a part of the page)
// rows:PAGE (keys that go far in its first table) inspect:KEY (axe, of the page as it is now, in both themes)
// theme:dark look:NAME,FOLDER,PAGE (a small picture of it, and how much of it differs from FOLDER/NAME.png)
// size:WIDTH (of the window) fits:PAGE (how far it is wider than its place, and the least width of a column of names)
// address:TEXT (waits until the address has it) enter:PAGE (without waiting for it) mark:FILE (writes it)
// ended:FILE (waits until the process whose number is in it has ended)

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { readFile, writeFile } from "node:fs/promises";

const [modules, report, folder, ...steps] = process.argv.slice(2);
const isServed = report.startsWith("http://");
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");

// Ends what hangs. A busy machine lets a browser wait long.
const PATIENCE_MS = 600_000;
const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const browser = await chromium.launch({
  executablePath: process.env.GPUPROF_CHROMIUM || browsers.find((path) => existsSync(path)),
  args: process.getuid() === 0 ? ["--no-sandbox"] : [],
  timeout: PATIENCE_MS,
});
const context = await browser.newContext({
  viewport: { width: 1280, height: 800 },
  acceptDownloads: true,
  offline: !isServed,
});
const page = await context.newPage();
page.setDefaultTimeout(PATIENCE_MS);
const url = isServed ? report : `file://${report}`;
const seen = { requests: [], errors: [], dialogs: [], pages: [], csv: {}, axe: {}, text: {}, ink: {}, said: [], rows: {}, look: {}, fits: {}, workers: 0, addresses: [], ended: [] };
page.on("request", (request) => {
  const asked = request.url();
  // A blob is memory of the page itself: a file to save, or a worker.
  if (asked.split("#")[0] !== url && !asked.startsWith("blob:")) seen.requests.push(asked.slice(0, 200));
});
page.on("console", (message) => {
  if (message.type() === "error") seen.errors.push(message.text());
});
page.on("pageerror", (error) => seen.errors.push(String(error)));
page.on("worker", () => seen.workers++);
page.on("dialog", (dialog) => {
  seen.dialogs.push(dialog.message());
  dialog.dismiss();
});

// Waits until the page has drawn what it loads.
async function settle() {
  await page.waitForFunction(() => {
    const main = document.querySelector("main");
    return main !== null && main.querySelector("[aria-busy]") === null && main.innerText !== "";
  });
}

async function go(name) {
  await page.evaluate((hash) => {
    if (location.hash === hash) return Promise.resolve();
    return new Promise((done) => {
      addEventListener("hashchange", () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true });
      location.hash = hash;
    });
  }, `#${name}`);
  await shows(name.split("?")[0]);
  await settle();
}

// Waits until the page of a name is shown. Pages that are tabs have an entry together.
function shows(id) {
  return page.waitForFunction((wanted) => document.querySelector("main")?.dataset.page === wanted, id);
}

// Returns the names of all pages that are linked: of the rail, of the tabs of each entry, and of what was not recorded.
async function allPages() {
  const namesOf = (links) => links.evaluateAll((all) => all.map((each) => each.getAttribute("href").slice(1)));
  await page.waitForFunction(() => document.querySelectorAll(".rail nav > ul a").length > 0);
  const names = [];
  for (const entry of await namesOf(page.locator(".rail nav > ul a, .losses a"))) {
    await go(entry);
    const tabs = await namesOf(page.locator(".tabs a"));
    names.push(...(tabs.length === 0 ? [entry] : tabs));
  }
  return [...new Set([...names, ...(await namesOf(page.locator(".rail details a")))])];
}

// Reaches every entry of the rail by Tab and Enter alone, and the first nine by their keys.
async function keyboard() {
  await page.keyboard.press("Tab");
  const links = await page.locator(".rail nav > ul a").count();
  const reached = [];
  for (let i = 0; i < links; i++) {
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const wanted = await page.evaluate(() => document.activeElement?.getAttribute("href") ?? "");
    await shows(wanted.slice(1));
    await settle();
    reached.push(wanted.slice(1));
  }
  const byNumber = [];
  for (let i = 1; i <= Math.min(9, links); i++) {
    await page.keyboard.press(String(i));
    await shows(reached[i - 1]);
    byNumber.push(await page.evaluate(() => location.hash.slice(1)));
  }
  // Rows of a table: down, down, and the row has the focus.
  let row = null;
  if (reached.includes("ops")) await go("ops");
  if ((await page.locator("tr[data-row='0']").count()) > 0) {
    await page.keyboard.press("/");
    for (let i = 0; i < 60 && row === null; i++) {
      await page.keyboard.press("Tab");
      row = await page.evaluate(() => document.activeElement?.getAttribute("data-row") ?? null);
    }
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-row") === "1");
    row = 1;
  }
  seen.keyboard = { reached, byNumber, row };
}

async function axe() {
  const links = await allPages();
  seen.pages = links;
  for (const theme of ["light", "dark"]) {
    await page.getByRole("button", { name: theme, exact: false }).click();
    for (const link of links) {
      await go(link);
      seen.axe[`${link} ${theme}`] = await faults();
    }
  }
}

// Returns what axe finds that is serious.
async function faults() {
  // Colours fade for a moment when the theme changes. An element that goes away meanwhile never finishes.
  await page.waitForFunction(() => document.getAnimations().every((each) => each.playState === "finished"));
  await page.evaluate(await readFile(require.resolve("axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((each) => each.impact === "serious" || each.impact === "critical")
    .map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
}

async function inspect(key) {
  for (const theme of ["light", "dark"]) {
    await page.getByRole("button", { name: theme, exact: false }).click();
    seen.axe[`${key} ${theme}`] = await faults();
  }
}

async function csv(name) {
  // Chromium lets a page save ten files, until it is loaded again.
  if (Object.keys(seen.csv).length % 8 === 7) await page.reload();
  await go(name);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "CSV", exact: true }).first().click(),
  ]);
  const path = `${folder}/${name.replace(/\W+/g, "_")}.csv`;
  await download.saveAs(path);
  seen.csv[name] = path;
}

// Selects a range of the timeline, in nanoseconds, and narrows all pages to it.
async function narrow(range) {
  await go(`timeline?v=${range}&sel=${range}`);
  await page.getByRole("button", { name: /^Narrow every page/ }).click();
  await page.getByRole("button", { name: "Whole run", exact: true }).waitFor();
}

// Looks at the largest canvas, once it has drawn all that it loads.
async function ink(name) {
  await go(name);
  const look = () =>
    page.evaluate(() => {
      const all = [...document.querySelectorAll("canvas")];
      all.sort((a, b) => b.width * b.height - a.width * a.height);
      const canvas = all[0];
      if (canvas === undefined || canvas.width === 0) return { colours: 0, sum: 0 };
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const pixels = new Uint32Array(data.buffer);
      return { colours: new Set(pixels).size, sum: pixels.reduce((sum, pixel) => (sum * 31 + pixel) >>> 0, 0) };
    });
  await page.waitForFunction(() => document.querySelector(".tl-canvas[data-complete]") !== null);
  seen.ink[name] = await look();
}

// Uses a control by its name, with the keyboard: it has the focus, and takes a key.
async function use(role, name, key) {
  const control = page.getByRole(role, { name, exact: true }).first();
  await control.focus();
  await page.keyboard.press(key);
}

// Goes far in a table by its keys. Notes the row that has the focus, whether it is seen, and how many the page holds.
async function rows(name) {
  await go(name);
  await page.locator("tr[data-row='0']").first().focus();
  seen.rows[name] = [];
  for (const key of ["End", "PageUp", "Home", "PageDown", "j"]) {
    const before = await page.evaluate(() => document.activeElement?.getAttribute("data-row"));
    await page.keyboard.press(key);
    await page.waitForFunction((row) => document.activeElement?.getAttribute("data-row") !== row, before);
    seen.rows[name].push(
      await page.evaluate(() => {
        const row = document.activeElement;
        const view = row.closest(".table-scroll");
        const [inner, outer] = [row.getBoundingClientRect(), view.getBoundingClientRect()];
        const head = view.querySelector("thead").getBoundingClientRect().height;
        return {
          row: Number(row.getAttribute("data-row")),
          isSeen: inner.top >= outer.top + head - 1 && inner.bottom <= outer.bottom + 1,
          held: view.querySelectorAll("tr[data-row]").length,
        };
      }),
    );
  }
}

async function said() {
  const regions = page.locator("main [aria-live], main [role='status']");
  seen.said.push((await regions.allInnerTexts()).filter((text) => text !== "").join("\n"));
}

// Returns a picture at half its size, and the share of its pixels that differ from a stored one. For that both are made
// smaller once more: shapes of letters and thin lines do not count, places and colours do.
async function reduce(picture, stored) {
  const other = await context.newPage();
  const done = await other.evaluate(
    async ([now, before]) => {
      const load = async (base64) => createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
      const draw = (image, width, height) => {
        const canvas = document.createElement("canvas");
        canvas.width = width;
        canvas.height = height;
        const to = canvas.getContext("2d");
        to.imageSmoothingQuality = "high";
        to.drawImage(image, 0, 0, width, height);
        return canvas;
      };
      const pixelsOf = (image) => draw(image, 160, 100).getContext("2d").getImageData(0, 0, 160, 100).data;
      const small = draw(await load(now), 640, 400);
      const png = small.toDataURL("image/png").split(",")[1];
      if (before === null) return { png, differs: 1 };
      const [a, b] = [pixelsOf(small), pixelsOf(await load(before))];
      let differs = 0;
      for (let i = 0; i < a.length; i += 4)
        if ([0, 1, 2].some((k) => Math.abs(a[i + k] - b[i + k]) > 20)) differs++;
      return { png, differs: differs / (160 * 100) };
    },
    [picture.toString("base64"), stored?.toString("base64") ?? null],
  );
  await other.close();
  return done;
}

async function look(name, stored, link) {
  await go(link);
  if (link.startsWith("timeline")) await ink(link);
  const file = `${stored}/${name}.png`;
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  const { png, differs } = await reduce(picture, existsSync(file) ? await readFile(file) : null);
  await writeFile(`${folder}/${name}.png`, Buffer.from(png, "base64"));
  seen.look[name] = differs;
}

// Measures whether a page fits its window. A table may scroll in itself.
async function fits(name) {
  await go(name);
  seen.fits[`${name} ${page.viewportSize().width}`] = await page.evaluate(() => {
    const main = document.querySelector("main");
    const names = [...main.querySelectorAll("tbody tr:first-child td.name")];
    return {
      over: Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth),
      names: names.map((each) => Math.round(each.getBoundingClientRect().width)),
      findings: Math.round(main.querySelector(".findings li:nth-child(3)")?.getBoundingClientRect().bottom ?? 0),
      figures: new Set([...main.querySelectorAll(".figures > div")].map((each) => each.offsetTop)).size,
    };
  });
}

const begin = performance.now();
await page.goto(url);
await page.waitForSelector(".figures, .edge");
seen.opened_ms = Math.round(performance.now() - begin);
for (const step of steps) {
  const [kind, name] = step.split(/:(.*)/s);
  if (kind === "keyboard") await keyboard();
  else if (kind === "axe") await axe();
  else if (kind === "csv") await csv(name);
  else if (kind === "narrow") await narrow(name);
  else if (kind === "whole") await page.getByRole("button", { name: "Whole run", exact: true }).click();
  else if (kind === "rows") await rows(name);
  else if (kind === "inspect") await inspect(name);
  else if (kind === "ink") await ink(name);
  else if (kind === "press") await use("button", name, "Enter");
  else if (kind === "choose") {
    const [label, value] = name.split(/=(.*)/s);
    await page.getByLabel(label, { exact: true }).selectOption(value);
  }
  else if (kind === "keys") {
    const [label, keys] = name.split(/=(.*)/s);
    await page.getByRole("application", { name: label }).first().focus();
    for (const key of keys.split(" ")) await page.keyboard.press(key);
  }
  else if (kind === "cut") {
    const [file, selector] = name.split(/=(.*)/s);
    await page.locator(selector).first().screenshot({ path: `${folder}/${file}.png`, animations: "disabled" });
  }
  else if (kind === "tick") await use("checkbox", name, "Space");
  else if (kind === "wait") await page.getByText(name).first().waitFor();
  else if (kind === "said") await said();
  else if (kind === "size") await page.setViewportSize({ width: Number(name), height: 844 });
  else if (kind === "fits") await fits(name);
  else if (kind === "address") {
    await page.waitForFunction((text) => location.hash.includes(text), name);
    seen.addresses.push(await page.evaluate(() => location.hash));
  }
  else if (kind === "read") seen.text[name] = await page.locator("body").innerText();
  else if (kind === "follow") {
    const before = page.url();
    await use("link", name, "Enter");
    await page.waitForURL((address) => String(address) !== before);
    await settle();
  }
  else if (kind === "enter") await page.evaluate((hash) => { location.hash = hash; }, name);
  else if (kind === "mark") await writeFile(name, "");
  else if (kind === "ended") {
    const process = `/proc/${(await readFile(name, "utf8")).trim()}`;
    const end = performance.now() + PATIENCE_MS;
    while (existsSync(process) && performance.now() < end) await page.waitForTimeout(20);
    seen.ended.push(!existsSync(process));
  }
  else if (kind === "theme") await page.getByRole("button", { name, exact: false }).click();
  else if (kind === "look") await look(...name.split(/,(?:(.*?),)(.*)/s).slice(0, 3));
  else {
    await go(name);
    if (kind === "shot") await page.screenshot({ path: `${folder}/${name.replace(/\W+/g, "_")}.png` });
    else seen.text[name] = await page.locator("main").innerText();
  }
}
seen.foreign = await page.evaluate(
  () => document.querySelectorAll("img, iframe, object, embed, link[href], [onerror], [onload]").length,
);
seen.wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
await browser.close();
process.stdout.write(JSON.stringify(seen));
