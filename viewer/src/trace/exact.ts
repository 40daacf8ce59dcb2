// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Columns as 64-bit integers, exactly as proto/FORMAT.md says. This way is slow. It serves what one
// looks at (the fields of an event), and blocks whose numbers doubles cannot hold.

import { type Chunk, packedColumn } from "./chunk";
import { TraceFault } from "./fault";
import type { Table } from "./layout";
import { type PbReader, unzigzag } from "./protobuf";

const wrap = (value: bigint) => BigInt.asIntN(64, value);
const unsigned = (value: bigint) => BigInt.asUintN(64, value);
const OUTSIDE = "time outside the range that the block header gives";

/** Reads the values of a packed column, each a varint. */
export class Varints {
  private at: number;
  constructor(
    private readonly bytes: Uint8Array,
    begin: number,
    private readonly end: number,
  ) {
    this.at = begin;
  }
  isAtEnd(): boolean {
    return this.at >= this.end;
  }
  next(): bigint {
    let value = 0n;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) break;
      const byte = this.bytes[this.at++] as number;
      value |= BigInt(byte & 0x7f) << BigInt(shift);
      if (byte < 0x80) return unsigned(value);
    }
    throw new TraceFault("column does not hold one value a row");
  }
}

function residuals(chunk: Chunk, i: number): BigInt64Array {
  const packed = packedColumn(chunk, i);
  const out = new BigInt64Array(chunk.count);
  if (packed === undefined) return out;
  const reader = new Varints(chunk.bytes, packed.begin, packed.end);
  for (let row = 0; row < chunk.count; row++) out[row] = wrap(unzigzag(reader.next()));
  if (!reader.isAtEnd()) throw new TraceFault("column does not hold one value a row");
  return out;
}

function addUp(values: BigInt64Array, start: bigint): BigInt64Array {
  let sum = start;
  for (let i = 0; i < values.length; i++) {
    sum = wrap(sum + (values[i] as bigint));
    values[i] = sum;
  }
  return values;
}

function byKey(values: BigInt64Array, keys: BigInt64Array): BigInt64Array {
  const last = new Map<bigint, bigint>();
  for (let i = 0; i < values.length; i++) {
    const key = keys[i] as bigint;
    const value = wrap((last.get(key) ?? 0n) + (values[i] as bigint));
    last.set(key, value);
    values[i] = value;
  }
  return values;
}

/** Returns the two rounding errors of each row that has some. */
function roundingErrors(chunk: Chunk): Map<number, [bigint, bigint]> {
  const found = new Map<number, [bigint, bigint]>();
  const packed = chunk.roundingErrors;
  if (packed === undefined) return found;
  const window = BigInt(chunk.tick) + 2n;
  const half = window / 2n;
  const reader = new Varints(chunk.bytes, packed.begin, packed.end);
  for (let row = 0n; !reader.isAtEnd(); row++) {
    const value = reader.next();
    row += value / 9n;
    if (row >= BigInt(chunk.count)) throw new TraceFault("rounding errors make no sense");
    const code = value % 9n;
    if (code !== 8n) {
      const place = code < 4n ? code : code + 1n;
      found.set(Number(row), [place / 3n - 1n, (place % 3n) - 1n]);
      continue;
    }
    const joined = wrap(unzigzag(reader.next()));
    let end = (joined + half) % window;
    if (end < 0n) end += window;
    end -= half;
    found.set(Number(row), [(joined - end) / window, end]);
  }
  return found;
}

interface Guess {
  gaps: bigint[];
  durations: bigint[];
}

function median(three: readonly bigint[]): bigint {
  return [...three].sort((x, y) => (x < y ? -1 : Number(x > y)))[1] ?? 0n;
}

const MIX = 0x9e3779b97f4a7c15n;

/** Replaces residuals by true gaps and durations ("What is predicted"). */
function restore(chunk: Chunk, keys: BigInt64Array, gaps: BigInt64Array, durations: BigInt64Array) {
  const places = new Map<bigint, Guess>();
  const known = new Map<bigint, Guess>();
  let before = 0n;
  let older = 0n;
  for (let i = 0; i < keys.length; i++) {
    const key = unsigned(keys[i] as bigint);
    const place = unsigned(unsigned(unsigned(older * MIX) ^ before) * MIX) ^ key;
    older = before;
    before = key;
    const atPlace = places.get(place);
    const from = atPlace ?? known.get(key);
    let gap = gaps[i] as bigint;
    let duration = durations[i] as bigint;
    let guess: Guess;
    if (from === undefined) {
      guess = { gaps: [gap, gap, gap], durations: [duration, duration, duration] };
    } else {
      if (chunk.areGapsPredicted) gap = wrap(gap + median(from.gaps));
      duration = wrap(duration + median(from.durations));
      guess = {
        gaps: [...from.gaps.slice(1), gap],
        durations: [...from.durations.slice(1), duration],
      };
    }
    gaps[i] = gap;
    durations[i] = duration;
    if (atPlace !== undefined || places.size < 1024) places.set(place, guess);
    if (atPlace === undefined && (known.has(key) || known.size < 4096)) known.set(key, guess);
  }
}

function chainedTimes(chunk: Chunk, keys: BigInt64Array): [BigInt64Array, BigInt64Array] {
  const ends = residuals(chunk, 0);
  const durations = residuals(chunk, 1);
  restore(chunk, keys, ends, durations);
  const errors = roundingErrors(chunk);
  const tick = BigInt(chunk.tick);
  const fraction = BigInt(chunk.tickFraction);
  const shift = BigInt(chunk.shift);
  let at = chunk.baseTime;
  let rest = 1n << 31n;
  const advance = (ticks: bigint, error: bigint) => {
    const fine = wrap(rest + ticks * fraction);
    at = unsigned(at + ticks * tick + (fine >> 32n) + error);
    rest = error > 0n ? 0n : error < 0n ? 0xffffffffn : fine & 0xffffffffn;
    if (at < chunk.first || at > chunk.last) throw new TraceFault(OUTSIDE);
    return at;
  };
  for (let i = 0; i < chunk.count; i++) {
    const [startError, endError] = errors.get(i) ?? [0n, 0n];
    const start = advance(ends[i] as bigint, startError);
    const end = advance(durations[i] as bigint, endError);
    if (end < start) throw new TraceFault(OUTSIDE);
    ends[i] = wrap(end << shift);
    durations[i] = wrap((end - start) << shift);
  }
  return [ends, durations];
}

function oneColumn(
  chunk: Chunk,
  encoding: string,
  i: number,
  columns: readonly BigInt64Array[],
): BigInt64Array {
  const values = residuals(chunk, i);
  const shift = BigInt(chunk.shift);
  switch (encoding) {
    case "delta":
      return addUp(values, 0n);
    case "address":
      addUp(values, 0n);
      for (let row = 0; row < values.length; row++) {
        const value = unsigned(values[row] as bigint);
        values[row] = wrap((value << 4n) | (value >> 60n));
      }
      return values;
    case "keyed":
      return byKey(values, columns[2] ?? new BigInt64Array(chunk.count));
    case "time":
      addUp(values, wrap(chunk.baseTime));
      for (let row = 0; row < values.length; row++) {
        const value = unsigned(values[row] as bigint);
        if (value < chunk.first || value > chunk.last) throw new TraceFault(OUTSIDE);
        values[row] = wrap(value << shift);
      }
      return values;
    case "span": {
      const ends = columns[0] as BigInt64Array;
      for (let row = 0; row < values.length; row++) {
        const value = unsigned(values[row] as bigint);
        if (value > (unsigned(ends[row] as bigint) >> shift) - chunk.first)
          throw new TraceFault(OUTSIDE);
        values[row] = wrap(value << shift);
      }
      return values;
    }
    case "plain":
      return values;
    default:
      throw new TraceFault(`an encoding that this page does not know: ${encoding}`);
  }
}

/** Decodes all columns of a table's chunk. Times are in the unit of the kind's clock. */
export function decodeExact(chunk: Chunk, table: Table): BigInt64Array[] {
  const columns: BigInt64Array[] = [];
  table.columns.forEach((column, i) => {
    if (table.isChained && i < 2) return;
    columns[i] = oneColumn(chunk, column.encoding, i, columns);
  });
  if (table.isChained) {
    const [ends, durations] = chainedTimes(chunk, columns[2] as BigInt64Array);
    columns[0] = ends;
    columns[1] = durations;
  }
  return columns;
}

/** Reads a plain number field of a chunk without its columns. */
export function scalarOf(reader: PbReader, number: number): number | undefined {
  let value: number | undefined;
  while (reader.next()) if (reader.number === number && reader.wire === 0) value = reader.value();
  return value;
}
