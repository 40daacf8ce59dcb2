// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// For tests: writes the bytes of a chunk, residuals as they are given.

export function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return bytes;
}

export function zigzag(value: bigint): bigint {
  const wrapped = BigInt.asIntN(64, value);
  return BigInt.asUintN(64, (wrapped << 1n) ^ (wrapped >> 63n));
}

export function field(number: number, bytes: readonly number[]): number[] {
  return [...varint(BigInt((number << 3) | 2)), ...varint(BigInt(bytes.length)), ...bytes];
}

export function scalar(number: number, value: bigint): number[] {
  return value === 0n ? [] : [...varint(BigInt(number << 3)), ...varint(value)];
}

export function fixed64(number: number, value: bigint): number[] {
  const bytes = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
  return [...varint(BigInt((number << 3) | 1)), ...bytes];
}

/** What a chunk of rows has beside its block's header. */
export interface ChunkParts {
  readonly baseTime: bigint;
  readonly shift: number;
  readonly tick: number;
  readonly tickFraction: number;
  readonly areGapsPredicted: boolean;
  /** Values of the field, as they are stored. */
  readonly roundingErrors: readonly bigint[];
  /** Residuals of each column. */
  readonly columns: readonly (readonly bigint[])[];
}

/** Returns the message Trace that holds the chunk. */
export function chunkBytes(kind: number, count: number, parts: ChunkParts): Uint8Array {
  const errors = parts.roundingErrors.flatMap(varint);
  const chunk = [
    ...scalar(1, BigInt(kind)),
    ...scalar(2, 1n),
    ...fixed64(3, parts.baseTime),
    ...scalar(4, BigInt(count)),
    ...scalar(5, BigInt(parts.shift)),
    ...scalar(7, 1n),
    ...scalar(24, BigInt(parts.tick)),
    ...scalar(32, zigzag(BigInt(parts.tickFraction))),
    ...scalar(34, parts.areGapsPredicted ? 1n : 0n),
    ...(errors.length === 0 ? [] : field(35, errors)),
    ...parts.columns.flatMap((column, i) =>
      column.every((value) => value === 0n)
        ? []
        : field(
            64 + i,
            column.flatMap((value) => varint(zigzag(value))),
          ),
    ),
  ];
  return Uint8Array.from(field(1, chunk));
}
