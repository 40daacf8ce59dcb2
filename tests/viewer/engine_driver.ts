// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Asks the engine inside a report, outside a browser:
//
//   node engine_driver.mjs REPORT.html < NAMES
//
// Reads a name of a result a line, and prints a line of JSON for each: {"text"}, {"refused"} or
// {"broken"}. With ENGINE_TIMES set, it tells the time and the memory of each on stderr.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Engine, Refused } from "../../viewer/src/engine/engine";
import { compilePacked } from "../../viewer/src/engine/packed";
import type { EngineFile } from "../../viewer/src/engine/wasi";

const page = readFileSync(process.argv[2] ?? "", "latin1");

/** Returns the texts of the elements whose start tag has this in it, with the tag. */
function blocks(mark: string): { tag: string; bytes: Uint8Array }[] {
  const found: { tag: string; bytes: Uint8Array }[] = [];
  for (let at = page.indexOf(mark); at >= 0; at = page.indexOf(mark, at + 1)) {
    const begin = page.indexOf(">", at) + 1;
    const text = page.slice(begin, page.indexOf("<", begin));
    found.push({
      tag: page.slice(page.lastIndexOf("<", at), begin),
      bytes: new Uint8Array(Buffer.from(text, "base64")),
    });
  }
  return found;
}

function fileOf(path: string, bytes: Uint8Array): EngineFile {
  return { path, size: bytes.length, read: (from, length) => bytes.subarray(from, from + length) };
}

const [packed] = blocks('id="gpuprof-engine"');
const [names] = blocks('id="gpuprof-names"');
if (packed === undefined || names === undefined) throw new Error("the page has no engine");
const text = Buffer.from(page, "latin1").toString("utf8");
const manifest = /id="gpuprof-manifest">(.*?)<\/script>/s.exec(text)?.[1] ?? "";
const { title } = JSON.parse(manifest) as { title: string };
const files = [
  fileOf("names.pb.zst", names.bytes),
  ...blocks('class="gpuprof-file"').map(({ tag, bytes }) =>
    fileOf(/data-name="([^"]*)"/.exec(tag)?.[1] ?? "", bytes),
  ),
];
const module = await compilePacked(packed.bytes);
const start = () => Engine.start(module, files, title, console.error);
let engine = await start();
for await (const name of createInterface({ input: process.stdin })) {
  const begin = process.cpuUsage();
  try {
    console.log(JSON.stringify({ text: engine.ask(name) }));
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    if (error instanceof Refused) console.log(JSON.stringify({ refused: words }));
    else {
      console.log(JSON.stringify({ broken: words }));
      engine = await start();
    }
  }
  if (process.env.ENGINE_TIMES !== undefined) {
    const { user, system } = process.cpuUsage(begin);
    console.error(`${name} ${(user + system) / 1000} ms, ${engine.bytes} bytes`);
  }
}
