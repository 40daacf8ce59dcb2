// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints how fast the reader is. Run it as bench/run does, with the folder of a bundle.

import { openSync, readdirSync, readSync, statSync } from "node:fs";
import { argv, cpuUsage, memoryUsage } from "node:process";
import type { TraceFile } from "../src/data/source";
import { openInPage } from "../src/trace/engine";
import { tableOf } from "../src/trace/layout";
import { keyNamer, Names } from "../src/trace/names";
import { ProcessFile } from "../src/trace/process_file";
import { loadRows } from "../src/trace/rows";
import { sourceOf } from "../src/trace/test_source";

const folder = argv[argv.length - 1] ?? "";
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

// Processor time: other programs may have the machine, too.
const now = () => cpuUsage().user / 1000;

for (let turn = 0; turn < (argv.includes("--open") ? 0 : 3); turn++) {
  for (const each of files.filter((file) => file.name.endsWith(".gpt"))) {
    const file = new ProcessFile(each);
    await file.open();
    const names = new Names(new Map());
    const times = new Map<string, { rows: number; ms: number; raw: number }>();
    for (const block of file.rowBlocks) {
      const name = tableOf(block.kind)?.name ?? "";
      if (!["kernel", "api", "op", "python"].includes(name)) continue;
      const sum = times.get(name) ?? { rows: 0, ms: 0, raw: 0 };
      const namer = keyNamer(names, file, block.kind);
      const begin = now();
      await file.decompress(block);
      const middle = now();
      sum.rows += (await loadRows(file, block, namer)).count;
      sum.ms += now() - middle;
      sum.raw += middle - begin;
      times.set(name, sum);
    }
    for (const [name, { rows, ms, raw }] of times)
      console.log(
        `${name}: ${rows} rows, ${(rows / ms / 1000).toFixed(1)} M rows/s; of it zstd ${((100 * raw) / ms).toFixed(0)} %`,
      );
  }
}
for (let turn = 0; turn < (argv.includes("--open") ? 1 : 2); turn++) {
  const begin = now();
  const trace = await openInPage(sourceOf(files), undefined, { eagerRows: 0 });
  const opened = now();
  const ids = trace.info.tracks.map((track) => track.id);
  const { start_ns, end_ns } = trace.info;
  const centre = (start_ns + end_ns) / 2;
  await trace.spans(ids, centre, centre + 5e6, 5e6 / 1600);
  console.log(`5 ms window before all else: ${(now() - opened).toFixed(0)} ms`);
  const ready = now();
  const whole = await trace.spans(ids, start_ns, end_ns, (end_ns - start_ns) / 1600);
  const drawn = now();
  const range = await trace.range("stream", { start_ns: start_ns + 1, end_ns });
  const summed = now();
  const middle = (start_ns + end_ns) / 2;
  const near = await trace.spans(ids, middle, middle + 5e6, 5e6 / 1600);
  const zoomed = now();
  const again = await trace.spans(ids, start_ns, end_ns, (end_ns - start_ns) / 1600);
  const second = now();
  const count = (answer: typeof whole) =>
    answer.spans.reduce((sum, each) => sum + each.start_ns.length, 0);
  console.log(
    `${trace.info.rows} rows: open ${(opened - begin).toFixed(0)} ms, first whole picture ${(drawn - ready).toFixed(0)} ms (${count(whole)} rectangles), whole range ${(summed - drawn).toFixed(0)} ms (${range.rows.length} names), 5 ms window ${(zoomed - summed).toFixed(0)} ms (${count(near)}), whole again ${(second - zoomed).toFixed(0)} ms (${count(again)})`,
  );
  const { rss, heapUsed, arrayBuffers } = memoryUsage();
  const mb = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  console.log(`memory: rss ${mb(rss)}, heap ${mb(heapUsed)}, arrays ${mb(arrayBuffers)}`);
}
