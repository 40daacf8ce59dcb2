// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints what a frame of the timeline costs in analysis/timeline. Run it as bench/timeline does, with
// the program gpuprof_timeline_answers and the folder of a bundle. Times are medians of processor
// time.

import { spawnSync } from "node:child_process";
import { argv } from "node:process";
import type { TraceInfo } from "../src/trace/api";

const [engine = "", folder = ""] = argv.slice(2);
const FRAMES = 30;
const PIXELS = 1920;

const median = (times: number[]) => [...times].sort((x, y) => x - y)[times.length >> 1] ?? 0;

const info = spawnSync(engine, [folder], { input: '{"ask":"info"}\n', maxBuffer: 2 ** 31 - 1 });
const { tracks, start_ns, end_ns, rows }: TraceInfo = JSON.parse(
  info.stdout.subarray(9).toString(),
);
const ids = tracks
  .filter(({ kind }) => !["queue", "memory", "counter"].includes(kind))
  .map(({ id }) => id);
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
    return { ask: "spans", tracks: ids, start_ns: from, end_ns: to, ns_per_px };
  }),
);
const input = questions.map((question) => `${JSON.stringify(question)}\n`).join("");
const done = spawnSync(engine, ["--time", folder], { input, maxBuffer: 2 ** 31 - 1 });
if (done.status !== 0) throw new Error(done.stderr.toString());
const [opened = 0, ...times] = done.stderr.toString().trim().split("\n").map(Number);

console.log(`${rows} rows, ${ids.length} tracks, ${PIXELS} pixels`);
console.log(`open: ${opened.toFixed(0)} ms`);
let at = 0;
for (const { name, windows } of ROWS) {
  console.log(`${name}: ${median(times.slice(at, at + windows.length)).toFixed(2)} ms`);
  at += windows.length;
}
