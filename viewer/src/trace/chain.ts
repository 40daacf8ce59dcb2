// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The times of a chained table: gaps and durations are predicted from the spans before ("Predicted
// spans" of proto/FORMAT.md). The same arithmetic as exact.ts, on doubles and typed arrays. One
// object serves block after block.

import type { Chunk } from "./chunk";
import { fillResiduals, MOST_SAFE, rangeOf, Unsafe } from "./columns";
import { TraceFault } from "./fault";

const MOST_PLACES = 1024;
const MOST_KEYS = 4096;
/** Gaps and durations must be less, so that their sums with a prediction are exact. */
const MOST = 2 ** 50;
const TWO_32 = 2 ** 32;

/** Rows with rounding errors, in order, with the errors of start and end. */
interface Errors {
  readonly row: number[];
  readonly start: number[];
  readonly end: number[];
}

const NO_SENSE = "rounding errors make no sense";

/** Reads the rounding errors as exact.ts does, with doubles. */
function readErrors(chunk: Chunk): Errors {
  const errors: Errors = { row: [], start: [], end: [] };
  const packed = chunk.roundingErrors;
  if (packed === undefined) return errors;
  const { bytes } = chunk;
  const window = chunk.tick + 2;
  const half = Math.floor(window / 2);
  let at = packed.begin;
  const next = () => {
    let value = 0;
    for (let factor = 1, i = 0; i < 10; i++, factor *= 128) {
      if (at >= packed.end) throw new TraceFault(NO_SENSE);
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > MOST) throw new Unsafe();
        return value;
      }
    }
    throw new TraceFault(NO_SENSE);
  };
  for (let row = 0; at < packed.end; row++) {
    const value = next();
    row += Math.floor(value / 9);
    if (row >= chunk.count) throw new TraceFault(NO_SENSE);
    const code = value % 9;
    errors.row.push(row);
    if (code !== 8) {
      const place = code < 4 ? code : code + 1;
      errors.start.push(Math.floor(place / 3) - 1);
      errors.end.push((place % 3) - 1);
      continue;
    }
    const zigzag = next();
    const joined = zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    const rest = (joined + half) % window;
    const end = (rest < 0 ? rest + window : rest) - half;
    errors.start.push((joined - end) / window);
    errors.end.push(end);
  }
  return errors;
}

/** A table of the last three gaps and durations by up to three numbers. Forgets all at once. */
class Guesses {
  private readonly mask: number;
  private readonly stamp: Uint32Array;
  private readonly keys: Uint32Array;
  /** Three gaps, then three durations. */
  readonly values: Float64Array;
  /** The place among the three that is replaced next. */
  readonly oldest: Uint8Array;
  private round = 0;
  used = 0;

  constructor(slots: number) {
    this.mask = slots - 1;
    this.stamp = new Uint32Array(slots);
    this.keys = new Uint32Array(slots * 3);
    this.values = new Float64Array(slots * 6);
    this.oldest = new Uint8Array(slots);
  }

  clear(): void {
    this.round++;
    this.used = 0;
  }

  /** Returns the slot of the numbers. If it is free, `isFree` says so. */
  slot(a: number, b: number, c: number): number {
    let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77) ^ Math.imul(c, 0xc2b2ae3d);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    hash ^= hash >>> 13;
    let at = hash & this.mask;
    while (this.stamp[at] === this.round) {
      const key = at * 3;
      if (this.keys[key] === a && this.keys[key + 1] === b && this.keys[key + 2] === c) break;
      at = (at + 1) & this.mask;
    }
    return at;
  }
  isFree(slot: number): boolean {
    return this.stamp[slot] !== this.round;
  }
  take(slot: number, a: number, b: number, c: number): void {
    this.stamp[slot] = this.round;
    this.keys[slot * 3] = a;
    this.keys[slot * 3 + 1] = b;
    this.keys[slot * 3 + 2] = c;
    this.used++;
  }
}

function median(values: Float64Array, at: number): number {
  const a = values[at] as number;
  const b = values[at + 1] as number;
  const c = values[at + 2] as number;
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

export class ChainDecoder {
  private readonly places = new Guesses(4096);
  private readonly known = new Guesses(16384);

  /** Fills `start` and `end` relative to the base time. `key`: the table's third column. */
  fill(chunk: Chunk, key: Uint32Array, start: Float64Array, end: Float64Array): void {
    fillResiduals(chunk, 0, start);
    fillResiduals(chunk, 1, end);
    this.restore(chunk, key, start, end);
    const isWhole = chunk.tickFraction === 0 && chunk.roundingErrors === undefined;
    if (isWhole) this.wholeTicks(chunk, start, end);
    else this.fineTicks(chunk, start, end);
  }

  /** Replaces residuals by gaps and durations. */
  private restore(chunk: Chunk, key: Uint32Array, gaps: Float64Array, durations: Float64Array) {
    const { places, known } = this;
    places.clear();
    known.clear();
    const values = places.values;
    const factor = chunk.areGapsPredicted ? 1 : 0;
    let before = 0;
    let older = 0;
    for (let i = 0; i < chunk.count; i++) {
      const k = key[i] as number;
      const slot = places.slot(k, before, older);
      if (places.isFree(slot)) {
        this.enterNew(i, slot, k, before, older, factor, gaps, durations);
      } else {
        const at = slot * 6;
        const gap = (gaps[i] as number) + factor * median(values, at);
        const duration = (durations[i] as number) + median(values, at + 3);
        gaps[i] = gap;
        durations[i] = duration;
        const oldest = places.oldest[slot] as number;
        values[at + oldest] = gap;
        values[at + 3 + oldest] = duration;
        places.oldest[slot] = oldest === 2 ? 0 : oldest + 1;
        if (gap > MOST || gap < -MOST || duration > MOST || duration < -MOST) throw new Unsafe();
      }
      older = before;
      before = k;
    }
  }

  private enterNew(
    i: number,
    place: number,
    key: number,
    before: number,
    older: number,
    factor: number,
    gaps: Float64Array,
    durations: Float64Array,
  ): void {
    const { places, known } = this;
    const slot = known.slot(key, 0, 0);
    const isKnown = !known.isFree(slot);
    const at = slot * 6;
    const values = known.values;
    let gap = gaps[i] as number;
    let duration = durations[i] as number;
    const three = new Float64Array(6);
    let oldest = 0;
    if (isKnown) {
      gap += factor * median(values, at);
      duration += median(values, at + 3);
      three.set(values.subarray(at, at + 6));
      oldest = known.oldest[slot] as number;
      three[oldest] = gap;
      three[3 + oldest] = duration;
      oldest = oldest === 2 ? 0 : oldest + 1;
    } else {
      three.fill(gap, 0, 3);
      three.fill(duration, 3, 6);
    }
    if (gap > MOST || gap < -MOST || duration > MOST || duration < -MOST) throw new Unsafe();
    gaps[i] = gap;
    durations[i] = duration;
    if (isKnown || known.used < MOST_KEYS) {
      if (!isKnown) known.take(slot, key, 0, 0);
      values.set(three, at);
      known.oldest[slot] = oldest;
    }
    if (places.used < MOST_PLACES) {
      places.take(place, key, before, older);
      places.values.set(three, place * 6);
      places.oldest[place] = oldest;
    }
  }

  /** Turns gaps and durations into times where ticks have no fraction and nothing was rounded. */
  private wholeTicks(chunk: Chunk, start: Float64Array, end: Float64Array): void {
    const { first, last } = rangeOf(chunk);
    const unit = 2 ** chunk.shift;
    if (Math.max(-first, last) * unit > MOST_SAFE) throw new Unsafe();
    const tick = chunk.tick;
    let at = 0;
    let isBad = false;
    for (let i = 0; i < chunk.count; i++) {
      const begin = at + (start[i] as number) * tick;
      at = begin + (end[i] as number) * tick;
      isBad = isBad || begin < first || at > last || at < begin;
      start[i] = begin * unit;
      end[i] = at * unit;
    }
    if (isBad) throw new TraceFault("time outside the range that the block header gives");
  }

  private fineTicks(chunk: Chunk, start: Float64Array, end: Float64Array): void {
    const { first, last } = rangeOf(chunk);
    const unit = 2 ** chunk.shift;
    if (Math.max(-first, last) * unit > MOST_SAFE) throw new Unsafe();
    const errors = readErrors(chunk);
    const mostTicks = MOST_SAFE / Math.max(Math.abs(chunk.tickFraction), 1);
    const { tick, tickFraction: fraction } = chunk;
    let next = 0;
    let at = 0;
    let rest = 2 ** 31;
    let isBad = false;
    for (let i = 0; i < chunk.count; i++) {
      const gap = start[i] as number;
      const duration = end[i] as number;
      if (gap > mostTicks || gap < -mostTicks || duration > mostTicks || duration < -mostTicks)
        throw new Unsafe();
      let startError = 0;
      let endError = 0;
      if (errors.row[next] === i) {
        startError = errors.start[next] as number;
        endError = errors.end[next] as number;
        next++;
      }
      let fine = rest + gap * fraction;
      let whole = Math.floor(fine / TWO_32);
      at += gap * tick + whole + startError;
      rest = startError > 0 ? 0 : startError < 0 ? 0xffffffff : fine - whole * TWO_32;
      const begin = at;
      fine = rest + duration * fraction;
      whole = Math.floor(fine / TWO_32);
      at += duration * tick + whole + endError;
      rest = endError > 0 ? 0 : endError < 0 ? 0xffffffff : fine - whole * TWO_32;
      isBad = isBad || begin < first || at > last || at < begin;
      start[i] = begin * unit;
      end[i] = at * unit;
    }
    if (isBad) throw new TraceFault("time outside the range that the block header gives");
  }
}
