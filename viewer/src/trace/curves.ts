// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of the timeline that are curves: hardware counters, and memory over time. A curve is decoded
// as a whole when it is first asked for.

import type { CounterAnswer } from "./api";
import type { Cache } from "./cache";
import type { Chunk } from "./chunk";
import { deltaNumbers, fillResiduals, fillTimes, plain32, Unsafe } from "./columns";
import type { Block } from "./container";
import { decodeExact } from "./exact";
import { faultless } from "./fault";
import { lowerBound } from "./growing";
import { columnOf, type Table } from "./layout";
import type { ProcessFile } from "./process_file";
import { knownTable, loadChunk } from "./rows";

export interface Curve {
  readonly time: Float64Array;
  readonly value: Float64Array;
}

export class CurveTrack {
  constructor(
    readonly id: number,
    readonly rows: number,
    readonly unit: string,
    private readonly cache: Cache,
    private readonly make: () => Promise<Curve>,
  ) {}

  load(): Promise<Curve> {
    return this.cache.get(this, this.make, (curve) => curve.time.length * 16 + 200);
  }

  /** Returns the values of a window, at most about one for each pixel. The one before is there. */
  async answer(start: number, end: number, nsPerPx: number): Promise<CounterAnswer> {
    const { time, value } = await this.load();
    const from = Math.max(lowerBound(time, start, time.length) - 1, 0);
    const to = lowerBound(time, end, time.length);
    const width = 2 ** Math.ceil(Math.log2(nsPerPx > 0 && Number.isFinite(nsPerPx) ? nsPerPx : 1));
    const times: number[] = [];
    const least: number[] = [];
    const most: number[] = [];
    let cell = Number.NaN;
    for (let i = from; i < to; i++) {
      const at = time[i] as number;
      const each = value[i] as number;
      const place = Math.floor(at / width);
      const last = times.length - 1;
      if (place === cell && last >= 0) {
        least[last] = Math.min(least[last] as number, each);
        most[last] = Math.max(most[last] as number, each);
        continue;
      }
      cell = place;
      times.push(at);
      least.push(each);
      most.push(each);
    }
    return {
      track: this.id,
      time_ns: Float64Array.from(times),
      least: Float64Array.from(least),
      most: Float64Array.from(most),
      unit: this.unit,
    };
  }
}

/** Decoded columns of a block of moments; `number(name)` is a column as doubles. */
interface Moments {
  readonly count: number;
  readonly time: Float64Array;
  number(name: string): Float64Array;
}

function numbers(chunk: Chunk, table: Table, name: string): Float64Array {
  const column = columnOf(table, name);
  const out = new Float64Array(chunk.count);
  try {
    if (table.columns[column]?.encoding === "delta") deltaNumbers(chunk, column, out);
    else fillResiduals(chunk, column, out);
  } catch (error) {
    if (!(error instanceof Unsafe)) throw error;
    const exact = decodeExact(chunk, table)[column];
    for (let i = 0; i < chunk.count; i++) out[i] = Number(exact?.[i] ?? 0n);
  }
  return out;
}

async function loadMoments(file: ProcessFile, block: Block): Promise<Moments> {
  const table = knownTable(block);
  const chunk = await loadChunk(file, block);
  return faultless("block cannot be read", block.offset, () => {
    let time = new Float64Array(chunk.count);
    let origin = chunk.baseTime << BigInt(chunk.shift);
    try {
      fillTimes(chunk, time);
    } catch (error) {
      if (!(error instanceof Unsafe)) throw error;
      const exact = decodeExact(chunk, table)[0];
      origin = 0n;
      time = Float64Array.from({ length: chunk.count }, (_, i) =>
        Number(BigInt.asUintN(64, exact?.[i] ?? 0n)),
      );
    }
    file.clockOf(block.kind).from(origin).convertAll(time, chunk.count);
    return { count: chunk.count, time, number: (name) => numbers(chunk, table, name) };
  });
}

/** Sorts moments by time. Those of one time keep their order. */
function sorted(time: readonly number[], value: readonly number[]): Curve {
  const order = Uint32Array.from(time, (_, i) => i);
  order.sort((x, y) => (time[x] as number) - (time[y] as number) || x - y);
  return {
    time: Float64Array.from(order, (i) => time[i] as number),
    value: Float64Array.from(order, (i) => value[i] as number),
  };
}

type OnFault = (error: unknown) => void;

/** Reads blocks of moments. `take` gets each row's place in its block. */
async function collect(
  file: ProcessFile,
  blocks: readonly Block[],
  onFault: OnFault,
  readerOf: (moments: Moments) => (i: number) => number | null,
): Promise<Curve> {
  const time: number[] = [];
  const value: number[] = [];
  for (const block of blocks) {
    try {
      const moments = await loadMoments(file, block);
      const read = readerOf(moments);
      for (let i = 0; i < moments.count; i++) {
        const each = read(i);
        if (each === null) continue;
        time.push(moments.time[i] as number);
        value.push(each);
      }
    } catch (error) {
      onFault(error);
    }
  }
  return sorted(time, value);
}

/** Reads the values of a counter. */
export function counterCurve(
  file: ProcessFile,
  blocks: readonly Block[],
  counter: number,
  divisor: number,
  onFault: OnFault,
): Promise<Curve> {
  return collect(file, blocks, onFault, (moments) => {
    const id = moments.number("counter");
    const value = moments.number("value");
    return (i) => (id[i] === counter ? (value[i] as number) / divisor : null);
  });
}

/** Finds the ids of the counters in blocks. */
export async function counterIds(
  file: ProcessFile,
  blocks: readonly Block[],
  onFault: OnFault,
): Promise<Map<number, number>> {
  const rows = new Map<number, number>();
  for (const block of blocks) {
    try {
      const ids = (await loadMoments(file, block)).number("counter");
      for (const id of ids) rows.set(id, (rows.get(id) ?? 0) + 1);
    } catch (error) {
      onFault(error);
    }
  }
  return rows;
}

/** Finds the devices that an allocator's rows name, with their counts. */
export async function tensorDevices(
  file: ProcessFile,
  blocks: readonly Block[],
  onFault: OnFault,
): Promise<Map<number, number>> {
  const rows = new Map<number, number>();
  for (const block of blocks) {
    try {
      const table = knownTable(block);
      const chunk = await loadChunk(file, block);
      const device = new Uint32Array(chunk.count);
      const place = columnOf(table, "device");
      plain32(chunk, place, device, new Float64Array(chunk.count));
      for (const each of device) rows.set(each, (rows.get(each) ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof Unsafe)) onFault(error);
    }
  }
  return rows;
}

/** Reads what a framework's allocator had handed out on a device. */
export function tensorCurve(
  file: ProcessFile,
  blocks: readonly Block[],
  wanted: number,
  onFault: OnFault,
): Promise<Curve> {
  return collect(file, blocks, onFault, (moments) => {
    const device = moments.number("device");
    const total = moments.number("total_allocated");
    return (i) => (device[i] === wanted ? (total[i] as number) : null);
  });
}

interface HeapCall {
  readonly time: number;
  readonly track: number;
  readonly isFree: boolean;
  readonly address: bigint;
  readonly bytes: number;
}

const SAMPLED = 1n << 8n;
/** Coarse times of two threads may be so far from their order. */
const COARSE_NS = 4e6;

/** Returns how many bytes a sampled allocation stands for: the chance to be sampled grows with it. */
function weighed(bytes: number, period: number): number {
  return bytes / -Math.expm1(-Math.max(bytes, 1) / period);
}

async function loadHeap(file: ProcessFile, block: Block, to: HeapCall[]): Promise<void> {
  const table = knownTable(block);
  const chunk = await loadChunk(file, block);
  faultless("block cannot be read", block.offset, () => {
    const columns = decodeExact(chunk, table);
    const column = (name: string) => columns[columnOf(table, name)] ?? new BigInt64Array(0);
    const [operation, address, size] = [column("operation"), column("address"), column("size")];
    const clock = file.clockOf(block.kind);
    const period = file.tables.heapPeriod;
    column("time").forEach((ticks, i) => {
      const packed = operation[i] ?? 0n;
      const bytes = Number(size[i] ?? 0n);
      const isSampled = (packed & SAMPLED) !== 0n && period > 0;
      to.push({
        time: Number(clock.convert(BigInt.asUintN(64, ticks))),
        track: block.track,
        isFree: (packed & 1n) !== 0n,
        address: address[i] ?? 0n,
        bytes: isSampled ? weighed(bytes, period) : bytes,
      });
    });
  });
}

/** Reads how much of the heap was live that was allocated since the recording began. */
export async function heapCurve(
  file: ProcessFile,
  blocks: readonly Block[],
  onFault: OnFault,
): Promise<Curve> {
  const calls: HeapCall[] = [];
  for (const block of blocks) await loadHeap(file, block, calls).catch(onFault);
  calls.sort((x, y) => x.time - y.time);
  const live = new Map<bigint, number>();
  /** Frees of other threads that seem to come before the allocation that they end. */
  const early = new Map<bigint, HeapCall>();
  const time: number[] = [];
  const value: number[] = [];
  let total = 0;
  for (const call of calls) {
    const { address, isFree } = call;
    const known = live.get(address);
    const before = early.get(address);
    early.delete(address);
    if (isFree && known === undefined) early.set(address, call);
    total -= known ?? 0;
    live.delete(address);
    const isOver =
      before !== undefined && before.track !== call.track && call.time - before.time < COARSE_NS;
    if (!isFree && !isOver) {
      live.set(address, call.bytes);
      total += call.bytes;
    }
    time.push(call.time);
    value.push(total);
  }
  return { time: Float64Array.from(time), value: Float64Array.from(value) };
}

const ALLOCATION = 1n;
const DEVICE_KIND = 3n;

interface Change {
  readonly time: number;
  readonly isAllocation: boolean;
  readonly address: bigint;
  readonly bytes: number;
}

async function loadChanges(file: ProcessFile, block: Block, to: Change[]): Promise<void> {
  const table = knownTable(block);
  const chunk = await loadChunk(file, block);
  faultless("block cannot be read", block.offset, () => {
    const columns = decodeExact(chunk, table);
    const column = (name: string) => columns[columnOf(table, name)] ?? new BigInt64Array(0);
    const [operation, address, bytes] = [column("operation"), column("address"), column("bytes")];
    const clock = file.clockOf(block.kind);
    (columns[0] ?? new BigInt64Array(0)).forEach((ticks, i) => {
      const packed = operation[i] ?? 0n;
      if (((packed >> 8n) & 0xffn) !== DEVICE_KIND) return;
      to.push({
        time: Number(clock.convert(BigInt.asUintN(64, ticks))),
        isAllocation: (packed & 0xffn) === ALLOCATION,
        address: address[i] ?? 0n,
        bytes: Number(bytes[i] ?? 0n),
      });
    });
  });
}

/** Reads how much of the device's memory the process had from CUDA since the recording began. */
export async function deviceMemoryCurve(
  file: ProcessFile,
  blocks: readonly Block[],
  onFault: OnFault,
): Promise<Curve> {
  const changes: Change[] = [];
  for (const block of blocks) await loadChanges(file, block, changes).catch(onFault);
  changes.sort((x, y) => x.time - y.time);
  const live = new Map<bigint, number>();
  const time: number[] = [];
  const value: number[] = [];
  let total = 0;
  for (const { time: at, isAllocation, address, bytes } of changes) {
    // What was allocated before the recording is not known: its release does not count.
    total -= live.get(address) ?? 0;
    live.delete(address);
    if (isAllocation) {
      live.set(address, bytes);
      total += bytes;
    }
    time.push(at);
    value.push(total);
  }
  return { time: Float64Array.from(time), value: Float64Array.from(value) };
}
