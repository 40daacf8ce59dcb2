// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One block's chunk: its fields, checked against the block's header. Columns are still encoded.

import type { Block } from "./container";
import { TraceFault } from "./fault";
import { PbReader } from "./protobuf";

const FIRST_COLUMN = 64;
const MOST_COLUMNS = 32;
const MOST_SHIFT = 32;
const MOST_TICK = 1_000_000_000;
const MOST_FRACTION = 2 ** 26;
const MOST_ONE_IN = 1 << 20;

/** Where a packed column is in the bytes. */
export interface Packed {
  readonly begin: number;
  readonly end: number;
}

export interface Chunk {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly baseTime: bigint;
  readonly shift: number;
  readonly tick: number;
  readonly tickFraction: number;
  readonly areGapsPredicted: boolean;
  readonly oneIn: number;
  readonly roundingErrors: Packed | undefined;
  readonly columns: readonly (Packed | undefined)[];
  /** The block's range in units of 2^shift. */
  readonly first: bigint;
  readonly last: bigint;
}

/** Goes to the one chunk that a block holds. */
export function openChunk(message: Uint8Array): PbReader {
  const outer = new PbReader(message);
  if (!outer.next() || outer.number !== 1 || outer.wire !== 2 || outer.end !== message.length)
    throw new TraceFault("block does not hold one chunk");
  return outer.message();
}

const SCALARS = new Set([1, 2, 4, 5, 6, 7, 24, 31, 32, 34]);

/** Reads the fields of a chunk of rows. */
export function readChunk(message: Uint8Array, block: Block): Chunk {
  const reader = openChunk(message);
  const scalar = new Map<number, bigint>();
  const columns: (Packed | undefined)[] = [];
  let baseTime = 0n;
  let roundingErrors: Packed | undefined;
  while (reader.next()) {
    const number = reader.number;
    if (number === 3) {
      if (reader.wire !== 1) throw new TraceFault("field of another type than it should be");
      baseTime = reader.big();
    } else if (SCALARS.has(number)) {
      if (reader.wire !== 0) throw new TraceFault("field of another type than it should be");
      scalar.set(number, reader.big());
    } else if (number === 35 || (number >= FIRST_COLUMN && number < FIRST_COLUMN + MOST_COLUMNS)) {
      if (reader.wire !== 2) throw new TraceFault("column is not packed");
      const packed = { begin: reader.begin, end: reader.end };
      if ((number === 35 ? roundingErrors : columns[number - FIRST_COLUMN]) !== undefined)
        throw new TraceFault("column is there twice");
      if (number === 35) roundingErrors = packed;
      else columns[number - FIRST_COLUMN] = packed;
    }
  }
  const value = (number: number) => Number(scalar.get(number) ?? 0n);
  checkHeader(scalar, block);
  const shift = value(5);
  const fraction = Number(((scalar.get(32) ?? 0n) >> 1n) ^ -((scalar.get(32) ?? 0n) & 1n));
  const tick = scalar.has(24) ? value(24) : 1;
  if (tick < 1 || tick > MOST_TICK || Math.abs(fraction) >= MOST_FRACTION)
    throw new TraceFault("tick makes no sense");
  if (value(31) > MOST_ONE_IN) throw new TraceFault("sampling factor makes no sense");
  if (shift > MOST_SHIFT) throw new TraceFault("times make no sense");
  return {
    bytes: message,
    count: block.count,
    baseTime,
    shift,
    tick,
    tickFraction: fraction,
    areGapsPredicted: value(34) !== 0,
    oneIn: Math.max(value(31), 1),
    roundingErrors,
    columns,
    first: block.first >> BigInt(shift),
    last: block.last >> BigInt(shift),
  };
}

function checkHeader(scalar: Map<number, bigint>, block: Block): void {
  const told: [number, bigint][] = [
    [1, BigInt(block.kind)],
    [2, BigInt(block.track)],
    [4, BigInt(block.count)],
    [6, block.dropped],
    [7, BigInt(block.capture)],
  ];
  for (const [number, wanted] of told) {
    if ((scalar.get(number) ?? 0n) !== wanted)
      throw new TraceFault("chunk is not what its block header says");
  }
}

/** Returns the place of a column; undefined: all its residuals are 0. */
export function packedColumn(chunk: Chunk, i: number): Packed | undefined {
  const packed = chunk.columns[i];
  // Cheap to ask, and keeps a lie about the row count from taking memory.
  if (packed !== undefined && packed.end - packed.begin < chunk.count)
    throw new TraceFault("column is shorter than the chunk");
  return packed;
}
