// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decodes blocks of spans to rows of the timeline: start, end and name of each. Decoding is by
// doubles, and by 64-bit integers where these do not hold the numbers.

import { ChainDecoder } from "./chain";
import { type Chunk, readChunk } from "./chunk";
import { delta32, fillSpans, plain32, Unsafe } from "./columns";
import type { Block } from "./container";
import { decodeExact } from "./exact";
import { faultless, TraceFault } from "./fault";
import { release } from "./file_bytes";
import { columnOf, kindOf, type Table, tableOf } from "./layout";
import type { ProcessFile } from "./process_file";

/** Rows of one block, in the order of the file. A row that is no span has no number as its start. */
export interface Rows {
  readonly count: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly name: Uint32Array;
  /** How many events each row stands for, where only a part of them was recorded. Absent: one. */
  readonly oneIn?: number;
}

export const NO_ROWS: Rows = {
  count: 0,
  start: new Float64Array(0),
  end: new Float64Array(0),
  name: new Uint32Array(0),
};

const RANGE = kindOf("range");
const chain = new ChainDecoder();
let work = new Float64Array(0);

function workFor(count: number): Float64Array {
  if (work.length < count) work = new Float64Array(Math.max(count, 65_536));
  return work;
}

export function knownTable(block: Block): Table {
  const table = tableOf(block.kind);
  if (table === undefined) throw new TraceFault("not a kind of rows that this page knows");
  return table;
}

interface Ticks {
  readonly origin: bigint;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly key: Uint32Array;
}

function fastTicks(chunk: Chunk, table: Table): Ticks {
  const count = chunk.count;
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const key = new Uint32Array(count);
  plain32(chunk, 2, key, workFor(count));
  if (table.isChained) chain.fill(chunk, key, start, end);
  else fillSpans(chunk, start, end);
  return { origin: chunk.baseTime << BigInt(chunk.shift), start, end, key };
}

function exactTicks(columns: readonly BigInt64Array[], count: number): Ticks {
  const [ends, durations, keys] = columns;
  const origin = BigInt.asUintN(64, ends?.[0] ?? 0n);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const key = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const until = BigInt.asUintN(64, ends?.[i] ?? 0n);
    end[i] = Number(until - origin);
    start[i] = Number(until - BigInt.asUintN(64, durations?.[i] ?? 0n) - origin);
    key[i] = Number(BigInt.asUintN(32, keys?.[i] ?? 0n));
  }
  return { origin, start, end, key };
}

/** Reads and checks the chunk of a block of rows. */
export async function loadChunk(file: ProcessFile, block: Block): Promise<Chunk> {
  const message = await file.decompress(block);
  return faultless("block cannot be read", block.offset, () => readChunk(message, block));
}

/** Tells which rows of a table of ranges are spans or marks, not names that the program gave. */
function dropNames(chunk: Chunk, table: Table, start: Float64Array): void {
  const operation = new Uint32Array(chunk.count);
  plain32(chunk, columnOf(table, "operation"), operation, workFor(chunk.count));
  for (let i = 0; i < chunk.count; i++)
    if (((operation[i] as number) & 15) > 3) start[i] = Number.NaN;
}

/** Decodes a block of spans. Throws a TraceFault. */
export async function loadRows(
  file: ProcessFile,
  block: Block,
  nameOf: (key: number) => number,
): Promise<Rows> {
  const table = knownTable(block);
  const chunk = await loadChunk(file, block);
  return faultless("block cannot be read", block.offset, () => {
    let ticks: Ticks;
    try {
      ticks = fastTicks(chunk, table);
    } catch (error) {
      if (!(error instanceof Unsafe)) throw error;
      ticks = exactTicks(decodeExact(chunk, table), chunk.count);
    }
    const { start, end, key } = ticks;
    const clock = file.clockOf(block.kind);
    clock.from(ticks.origin).convertAll(start, chunk.count);
    clock.from(ticks.origin).convertAll(end, chunk.count);
    for (let i = 0; i < chunk.count; i++) {
      // Where a clock was set amid a span nobody knows how long it took.
      if ((start[i] as number) > (end[i] as number)) start[i] = end[i] as number;
      key[i] = nameOf(key[i] as number);
    }
    if (block.kind === RANGE) dropNames(chunk, table, start);
    release(chunk.bytes);
    return { count: chunk.count, start, end, name: key, oneIn: chunk.oneIn };
  });
}

/** Decodes a column of correlation ids; null: the table has none. */
export function loadCorrelations(file: ProcessFile, block: Block): Promise<Uint32Array | null> {
  return loadNumbers(file, block, "correlation");
}

/** Returns whether all rows of a block were begun by graphs. */
export async function areOfGraphs(file: ProcessFile, block: Block): Promise<boolean> {
  const graphs = await loadNumbers(file, block, "graph");
  return graphs?.every((graph) => graph !== 0) === true;
}

async function loadNumbers(
  file: ProcessFile,
  block: Block,
  name: string,
): Promise<Uint32Array | null> {
  const table = knownTable(block);
  const column = columnOf(table, name);
  if (column < 0) return null;
  const chunk = await loadChunk(file, block);
  return faultless("block cannot be read", block.offset, () => {
    const out = new Uint32Array(chunk.count);
    try {
      const isDelta = table.columns[column]?.encoding === "delta";
      (isDelta ? delta32 : plain32)(chunk, column, out, workFor(chunk.count));
    } catch (error) {
      if (!(error instanceof Unsafe)) throw error;
      const exact = decodeExact(chunk, table)[column];
      for (let i = 0; i < chunk.count; i++) out[i] = Number(BigInt.asUintN(32, exact?.[i] ?? 0n));
    }
    return out;
  });
}
