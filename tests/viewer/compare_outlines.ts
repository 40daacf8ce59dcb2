// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Compares what the page finds by itself with what it finds by outlines of a server:
// node compare_outlines.mjs FOLDER ADDRESS. Prints how much was compared. Fails at a difference.

import { readdirSync, readFileSync } from "node:fs";
import { argv } from "node:process";
import type { Source } from "../../viewer/src/data/source";
import type { Spans, SpansAnswer, Trace } from "../../viewer/src/trace/api";
import { openInPage } from "../../viewer/src/trace/engine";

const [folder = "", address = ""] = argv.slice(2);
const files = readdirSync(folder)
  .filter((name) => /\.(gpt|pb)$/.test(name))
  .map((name) => {
    const bytes = new Uint8Array(readFileSync(`${folder}/${name}`));
    const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
    return { name, size: bytes.length, read };
  });

let outlines = 0;
async function outline(path: string): Promise<Uint8Array> {
  const answer = await fetch(`${address}outlines/${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  outlines++;
  return new Uint8Array(await answer.arrayBuffer());
}
const result = async (pass: string) => (await fetch(`${address}results/${pass}`)).json();
const manifest = { version: 1, title: "", gpuprof: "", passes: [], failed: [] } as const;
const own: Source = { manifest, files, result };
const served: Source = { manifest, files, result, outline };

const alone = await openInPage(own);
const helped = await openInPage(served, undefined, { longRows: 0 });
// A search looks at all rows: then no picture is rough any more.
const found = await both((trace) => trace.search("e", 50));
if (JSON.stringify(found[0]) !== JSON.stringify(found[1])) throw new Error("searches differ");

function both<T>(ask: (trace: Trace) => Promise<T>): Promise<[T, T]> {
  return Promise.all([ask(alone), ask(helped)]);
}

/** Returns a picture as text, with names in place of their numbers. */
function textOf({ spans, names }: SpansAnswer): string {
  const one = (each: Spans) => ({
    ...each,
    name: Array.from(each.name, (name) => names[name] ?? name),
  });
  return JSON.stringify(spans.map(one), (_, value) =>
    ArrayBuffer.isView(value) ? Array.from(value as Float64Array) : value,
  );
}

let seed = 7;
function random(): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
}

const { tracks, start_ns, end_ns } = alone.info;
const whole = end_ns - start_ns;
const ids = tracks.map((track) => track.id);
let cells = 0;
for (let turn = 0; turn < 60; turn++) {
  const length = turn === 0 ? whole : whole * random() ** 4;
  const from = Math.floor(start_ns + (whole - length) * random());
  const to = Math.ceil(from + length);
  const scale = Math.max(length / (300 + 3000 * random()), 0.01);
  const [a, b] = (await both((trace) => trace.spans(ids, from, to, scale))).map(textOf);
  if (a !== b) throw new Error(`pictures of [${from}, ${to}) at ${scale} ns a pixel differ`);
  cells += a?.length ?? 0;
  for (const kind of new Set(tracks.map((track) => track.kind))) {
    const sums = await both((trace) => trace.range(kind, { start_ns: from, end_ns: to }));
    if (JSON.stringify(sums[0]) !== JSON.stringify(sums[1]))
      throw new Error(`sums of ${kind} in [${from}, ${to}) differ`);
  }
}
if (JSON.stringify(alone.info.tracks.map(({ rows }) => rows)) !== JSON.stringify(helped.info.tracks.map(({ rows }) => rows)))
  throw new Error("rows differ");
console.log(JSON.stringify({ outlines, cells, rows: alone.info.rows }));
