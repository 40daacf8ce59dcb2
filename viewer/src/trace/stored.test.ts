// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The stored traces of every version, and one imported trace, compared with fixtures/rows.json: what
// an independent reader and the command say about the same files (scripts/make-fixtures.py).

import { describe, expect, it } from "vitest";
import { readChunk } from "./chunk";
import { openInPage } from "./engine";
import { decodeExact } from "./exact";
import { tableOf } from "./layout";
import { ProcessFile } from "./process_file";
import type { SpanTrack } from "./span_track";
import { FIXTURES, readText, sourceOf, storedFiles, TRACES } from "./test_source";

interface Told {
  readonly columns: Record<
    string,
    Record<string, { rows: number; columns: Record<string, string> }>
  >;
  readonly spans: Record<string, { rows: number; digest: string }>;
  readonly names: Record<string, Record<string, [number, number]>>;
}

const TOLD: Record<string, Told> = JSON.parse(readText(`${FIXTURES}rows.json`) ?? "{}");
const MASK = 2n ** 64n - 1n;

function digest(values: Iterable<bigint>): string {
  let sum = 14695981039346656037n;
  for (const value of values) sum = ((sum * 1099511628211n) & MASK) ^ (value & MASK);
  return sum.toString();
}

function pathOf(name: string): string {
  return name === "kineto" ? `${FIXTURES}kineto` : TRACES + name;
}

/** Decodes all columns of a file. */
async function columnsOf(file: ProcessFile): Promise<Told["columns"][string]> {
  const all = new Map<number, bigint[][]>();
  for (const block of file.rowBlocks) {
    const table = tableOf(block.kind);
    if (table === undefined) continue;
    const columns = decodeExact(readChunk(await file.decompress(block), block), table);
    const to = all.get(block.kind) ?? table.columns.map(() => []);
    columns.forEach((column, i) => {
      for (const value of column) to[i]?.push(value);
    });
    all.set(block.kind, to);
  }
  const found: Told["columns"][string] = {};
  for (const [kind, columns] of all) {
    const names = tableOf(kind)?.columns.map((each) => each.name) ?? [];
    const digests = columns.map((values, i) => [i === 0 ? "time" : names[i], digest(values)]);
    found[kind] = { rows: columns[0]?.length ?? 0, columns: Object.fromEntries(digests) };
  }
  return found;
}

const STORED = Object.keys(TOLD);

describe("stored traces", () => {
  it("has fixtures", () => {
    expect(STORED.length).toBe(16);
  });

  it.each(STORED)("every column of %s", async (name) => {
    for (const each of storedFiles(pathOf(name))) {
      if (!each.name.endsWith(".gpt")) continue;
      const file = new ProcessFile(each);
      await file.open();
      expect(await columnsOf(file)).toEqual(TOLD[name]?.columns[each.name]);
    }
  });

  it.each(STORED)("spans in nanoseconds and names of %s", async (name) => {
    const opened = await openInPage(sourceOf(storedFiles(pathOf(name))));
    expect(opened.info.faults).toEqual([]);
    const rows = new Map<string, bigint[][]>();
    const names: Told["names"] = {};
    const tracks = Reflect.get(opened, "tracks") as {
      spans: SpanTrack | null;
      number: number;
      info: { process: number };
    }[];
    const table = Reflect.get(opened, "names") as { text: string[]; full: Map<number, string> };
    for (const { spans, number, info } of tracks) {
      const pid = opened.info.processes[info.process]?.pid ?? 0;
      for (const piece of spans?.pieces ?? []) {
        const kind = tableOf(Reflect.get(piece, "block").kind)?.name ?? "";
        const loaded = await piece.load();
        for (let i = 0; i < loaded.count; i++) {
          const start = loaded.start[i] ?? 0;
          const end = loaded.end[i] ?? 0;
          if (Number.isNaN(start)) continue;
          const list = rows.get(kind) ?? [];
          list.push([pid, number, start, end].map(BigInt));
          rows.set(kind, list);
          if (kind !== "op" && kind !== "kernel") continue;
          const id = loaded.name[i] ?? 0;
          const text = table.full.get(id) ?? table.text[id] ?? "";
          names[kind] ??= {};
          const sums = names[kind][text] ?? [0, 0];
          names[kind][text] = [sums[0] + 1, sums[1] + end - start];
        }
      }
    }
    const spans: Told["spans"] = {};
    for (const [kind, list] of rows) {
      list.sort((x, y) => x.reduce((order, value, i) => order || Number(value - (y[i] ?? 0n)), 0));
      spans[kind] = { rows: list.length, digest: digest(list.flat()) };
    }
    expect(spans).toEqual(TOLD[name]?.spans);
    expect(names).toEqual(TOLD[name]?.names);
  });
});
