// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Columns as doubles: the hot path. Doubles hold integers up to 2^53. Whoever meets a greater one
// throws Unsafe, and the caller decodes the block by exact.ts.

import { type Chunk, packedColumn } from "./chunk";
import { TraceFault } from "./fault";

/** The block has numbers that doubles do not hold. */
export class Unsafe extends Error {}

const LENGTH = "column does not hold one value a row";
/** Sums of two such numbers are exact. */
export const MOST_SAFE = 2 ** 51;

/** Decodes a varint of more than four bytes whose first byte is at `at`. Returns its value. */
function longVarint(bytes: Uint8Array, at: number, end: number): number {
  let value = 0;
  let factor = 1;
  for (let i = at; i < at + 10; i++) {
    if (i >= end) throw new TraceFault(LENGTH);
    const byte = bytes[i] as number;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return value;
    factor *= 128;
  }
  throw new TraceFault(LENGTH);
}

/** Fills `out` with the residuals of a column. */
export function fillResiduals(chunk: Chunk, column: number, out: Float64Array): void {
  const count = chunk.count;
  const packed = packedColumn(chunk, column);
  if (packed === undefined) {
    out.fill(0, 0, count);
    return;
  }
  const bytes = chunk.bytes;
  const end = packed.end;
  let at = packed.begin;
  for (let i = 0; i < count; i++) {
    // A byte behind the end is undefined, which ends in 0: the place is checked at the end.
    let byte = bytes[at++] as number;
    if (byte < 0x80) {
      out[i] = (byte >>> 1) ^ -(byte & 1);
      continue;
    }
    let value = byte & 0x7f;
    byte = bytes[at++] as number;
    if (byte < 0x80) {
      value |= byte << 7;
      out[i] = (value >>> 1) ^ -(value & 1);
      continue;
    }
    value |= (byte & 0x7f) << 7;
    byte = bytes[at++] as number;
    if (byte < 0x80) {
      value |= byte << 14;
      out[i] = (value >>> 1) ^ -(value & 1);
      continue;
    }
    value |= (byte & 0x7f) << 14;
    byte = bytes[at++] as number;
    if (byte < 0x80) {
      value |= byte << 21;
      out[i] = (value >>> 1) ^ -(value & 1);
      continue;
    }
    const long = longVarint(bytes, at - 4, end);
    at += varintLength(bytes, at - 4) - 4;
    if (long > MOST_SAFE) throw new Unsafe();
    const half = Math.floor(long / 2);
    out[i] = long - 2 * half === 1 ? -half - 1 : half;
  }
  if (at !== end) throw new TraceFault(LENGTH);
}

function varintLength(bytes: Uint8Array, at: number): number {
  let length = 1;
  while (length < 10 && (bytes[at + length - 1] as number) >= 0x80) length++;
  return length;
}

/** Returns a plain column of numbers that 32 bits hold. */
export function plain32(chunk: Chunk, column: number, out: Uint32Array, work: Float64Array): void {
  fillResiduals(chunk, column, work);
  for (let i = 0; i < chunk.count; i++) {
    const value = work[i] as number;
    if (value < 0 || value > 0xffffffff) throw new Unsafe();
    out[i] = value;
  }
}

/** Returns a delta column of numbers that 32 bits hold. */
export function delta32(chunk: Chunk, column: number, out: Uint32Array, work: Float64Array): void {
  fillResiduals(chunk, column, work);
  let value = 0;
  for (let i = 0; i < chunk.count; i++) {
    value += work[i] as number;
    if (value < 0 || value > 0xffffffff) throw new Unsafe();
    out[i] = value;
  }
}

/** Returns values that add up, as doubles. */
export function deltaNumbers(chunk: Chunk, column: number, out: Float64Array): void {
  fillResiduals(chunk, column, out);
  let value = 0;
  for (let i = 0; i < chunk.count; i++) {
    value += out[i] as number;
    if (value > MOST_SAFE || value < -MOST_SAFE) throw new Unsafe();
    out[i] = value;
  }
}

/** The block's range relative to its base time, in units of 2^shift. */
export function rangeOf(chunk: Chunk): { first: number; last: number } {
  const first = Number(chunk.first - chunk.baseTime);
  const last = Number(chunk.last - chunk.baseTime);
  if (first < -MOST_SAFE || last > MOST_SAFE) throw new Unsafe();
  return { first, last };
}

const OUTSIDE = "time outside the range that the block header gives";

/** Fills `out` with times relative to the base time, in ticks. */
export function fillTimes(chunk: Chunk, out: Float64Array): void {
  fillResiduals(chunk, 0, out);
  const { first, last } = rangeOf(chunk);
  const unit = 2 ** chunk.shift;
  if ((last - first) * unit > MOST_SAFE * 2) throw new Unsafe();
  let value = 0;
  let isBad = false;
  for (let i = 0; i < chunk.count; i++) {
    value += out[i] as number;
    isBad = isBad || value < first || value > last;
    out[i] = value * unit;
  }
  if (isBad) throw new TraceFault(OUTSIDE);
}

/** Fills `start` and `end` of a table of spans, relative to the base time, in ticks. */
export function fillSpans(chunk: Chunk, start: Float64Array, end: Float64Array): void {
  fillTimes(chunk, end);
  fillResiduals(chunk, 1, start);
  const unit = 2 ** chunk.shift;
  const first = rangeOf(chunk).first * unit;
  let isBad = false;
  for (let i = 0; i < chunk.count; i++) {
    const duration = start[i] as number;
    const begin = (end[i] as number) - duration * unit;
    isBad = isBad || duration < 0 || begin < first;
    start[i] = begin;
  }
  if (isBad) throw new TraceFault(OUTSIDE);
}
