// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints what a frame of the timeline costs: in the page's reader, and in the engine of
// analysis/timeline. Run it as bench/timeline does, with the program gpuprof_timeline_answers and the
// folder of a bundle. Times are medians of processor time.

import { spawnSync } from "node:child_process";
import { openSync, readdirSync, readSync, statSync } from "node:fs";
import { argv, cpuUsage } from "node:process";
import type { TraceFile } from "../src/data/source";
import { openInPage } from "../src/trace/engine";
import { sourceOf } from "../src/trace/test_source";

const [engine = "", folder = ""] = argv.slice(2);
const FRAMES = 30;
const PIXELS = 1920;

const files = readdirSync(folder)
  .filter((name) => /\.(gpt|pb)$/.test(name))
  .map((name): TraceFile => {
    const size = statSync(`${folder}/${name}`).size;
    const file = openSync(`${folder}/${name}`, "r");
    const read = async (offset: number, length: number) => {
      const bytes = new Uint8Array(length);
      readSync(file, bytes, 0, length, offset);
      return bytes;
    };
    return { name, size, read };
  });

const now = () => cpuUsage().user / 1000;
const median = (times: number[]) => [...times].sort((x, y) => x - y)[times.length >> 1] ?? 0;

const begin = now();
const page = await openInPage(sourceOf(files), undefined, { eagerRows: 0, longRows: 1e9 });
const opened = now() - begin;
const { tracks, start_ns, end_ns, rows } = page.info;
const spansOf = (all: readonly { readonly kind: string; readonly id: number }[]) =>
  all.filter(({ kind }) => !["queue", "memory", "counter"].includes(kind)).map(({ id }) => id);
const ids = spansOf(tracks);
// The engine has curves of more rows, so its tracks have other numbers.
const info = spawnSync(engine, [folder], { input: '{"ask":"info"}\n', maxBuffer: 2 ** 31 - 1 });
const engineIds = spansOf(JSON.parse(info.stdout.subarray(9).toString()).tracks);
const whole = end_ns - start_ns;

interface Row {
  readonly name: string;
  readonly windows: readonly (readonly [number, number])[];
}
const zoomed = (part: number): Row["windows"] =>
  Array.from({ length: FRAMES }, (_, i) => {
    const from = start_ns + whole * (0.02 + (0.9 * i) / FRAMES);
    return [from, from + whole * part] as const;
  });
const ROWS: readonly Row[] = [
  { name: "the first frame", windows: [[start_ns, end_ns]] },
  { name: "the whole trace", windows: Array(FRAMES).fill([start_ns, end_ns]) },
  { name: "a tenth of it", windows: zoomed(0.1) },
  { name: "a thousandth", windows: zoomed(0.001) },
  { name: "a millionth", windows: zoomed(1e-6) },
];

const questions = ROWS.flatMap(({ windows }) =>
  windows.map(([from, to]) => {
    const ns_per_px = (to - from) / PIXELS;
    return { ask: "spans", tracks: engineIds, start_ns: from, end_ns: to, ns_per_px };
  }),
);
const input = questions.map((question) => `${JSON.stringify(question)}\n`).join("");
const done = spawnSync(engine, ["--time", folder], { input, maxBuffer: 2 ** 31 - 1 });
if (done.status !== 0) throw new Error(done.stderr.toString());
const [engineOpened = 0, ...engineTimes] = done.stderr.toString().trim().split("\n").map(Number);

console.log(`${rows} rows, ${ids.length} tracks, ${PIXELS} pixels`);
console.log(`open: page ${opened.toFixed(0)} ms, engine ${engineOpened.toFixed(0)} ms`);
let at = 0;
for (const { name, windows } of ROWS) {
  const times: number[] = [];
  for (const [from, to] of windows) {
    const before = now();
    await page.spans(ids, from, to, (to - from) / PIXELS);
    times.push(now() - before);
  }
  const own = engineTimes.slice(at, at + windows.length);
  at += windows.length;
  console.log(`${name}: page ${median(times).toFixed(2)} ms, engine ${median(own).toFixed(2)} ms`);
}
