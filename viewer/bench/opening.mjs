// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints how fast the engine of a page opens a bundle, in a browser:
//   node bench/opening.mjs ENGINE BUNDLE SCRIPT BROWSER
// ENGINE is engine.wasm.zst of a build, SCRIPT is bench/opening.ts made by esbuild. BROWSER is a
// Chromium, or a Firefox by the name of its program. bench/opening makes the script. Processor time is
// that of the whole browser.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [engine, bundle, script, browser] = process.argv.slice(2);
const PAGE = "<!doctype html><script type=module src=/script.js></script>";
const profile = mkdtempSync(join(tmpdir(), "gpuprof-opening-"));
const isFirefox = browser.includes("firefox");
const options = (address) =>
  isFirefox
    ? ["--headless", "--no-remote", "--profile", profile, address]
    : ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, address];

/** Returns the processor time of a process and all below it, in milliseconds. */
function processorOf(root) {
  const TICK_MS = 10;
  const times = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const ms = TICK_MS * (Number(fields[11]) + Number(fields[12]));
      times.set(Number(pid), { parent: Number(fields[1]), ms });
    } catch {
      // It has ended meanwhile.
    }
  }
  let sum = 0;
  for (const [pid, { ms }] of times) {
    let at = pid;
    while (at !== root && times.has(at)) at = times.get(at).parent;
    if (at === root) sum += ms;
  }
  return sum;
}

function end(child, body) {
  const told = JSON.parse(body);
  if (typeof told === "string") console.error(told);
  else {
    console.log(`compiled in ${told.compile_ms.toFixed(0)} ms`);
    const words = ({ ms, processor_ms }) =>
      `${ms.toFixed(0)} ms, ${processor_ms.toFixed(0)} ms of processors`;
    const speed = (rows, ms) => (rows / ms / 1000).toFixed(1);
    for (const { rows, opened, table, bytes } of told.rounds) {
      const speeds = `${speed(rows, opened.ms)} (${speed(rows, opened.processor_ms)}) M rows/s`;
      console.log(
        `${rows} rows: ${words(opened)}: ${speeds}; kernels: ${words(table)}; ${bytes >> 20} MiB`,
      );
    }
  }
  child.once("exit", () => {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    process.exit(typeof told === "string" ? 1 : 0);
  });
  child.kill();
}

let child = null;
const server = createServer((request, response) => {
  const { url = "" } = request;
  if (url === "/done") {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      response.end();
      end(child, body);
    });
    return;
  }
  response.setHeader("Content-Type", url.endsWith(".js") ? "text/javascript" : "text/html");
  if (url === "/") response.end(PAGE);
  else if (url === "/script.js") response.end(readFileSync(script));
  else if (url === "/processor") response.end(String(processorOf(child.pid)));
  else if (url === "/engine") response.end(readFileSync(engine));
  else if (url === "/files") response.end(JSON.stringify(readdirSync(bundle)));
  else if (url.startsWith("/file/")) response.end(readFileSync(join(bundle, url.slice(6))));
  else {
    response.statusCode = 404;
    response.end();
  }
});
server.listen(0, "127.0.0.1", () => {
  const address = `http://127.0.0.1:${server.address().port}/`;
  child = spawn(browser, options(address), { stdio: "ignore" });
});
