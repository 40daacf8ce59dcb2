// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The hot path of doubles against the exact one of 64-bit integers, on chunks of any residuals.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChainDecoder } from "./chain";
import { type Chunk, readChunk } from "./chunk";
import { delta32, fillSpans, plain32, Unsafe } from "./columns";
import type { Block } from "./container";
import { decodeExact } from "./exact";
import { TraceFault } from "./fault";
import { kindOf, type Table, tableOf } from "./layout";
import { type ChunkParts, chunkBytes } from "./test_chunk";

const BASE = 1_700_000_000_000_000_000n;

function blockOf(kind: number, count: number, range: bigint): Block {
  return {
    offset: 0,
    compressed: 0,
    raw: 0,
    kind,
    capture: 1,
    track: 1,
    count,
    sequence: 0,
    first: BASE - range,
    last: BASE + range,
    dropped: 0n,
  };
}

function tableNamed(name: "kernel" | "op"): Table {
  const table = tableOf(kindOf(name));
  if (table === undefined) throw new Error("no such table");
  return table;
}

type Outcome =
  | { readonly times: [bigint, bigint][]; readonly correlations: bigint[] }
  | "fault"
  | "unsafe";

function outcome(decode: () => Outcome): Outcome {
  try {
    return decode();
  } catch (error) {
    if (error instanceof TraceFault) return "fault";
    if (error instanceof Unsafe) return "unsafe";
    throw error;
  }
}

function exactly(chunk: Chunk, table: Table): Outcome {
  const [ends, durations, , correlations] = decodeExact(chunk, table);
  const times = Array.from(ends ?? [], (end, i): [bigint, bigint] => [
    end - (durations?.[i] ?? 0n),
    end,
  ]);
  return {
    times,
    correlations: Array.from(correlations ?? []).map((id) => BigInt.asUintN(32, id)),
  };
}

const chain = new ChainDecoder();

function fast(chunk: Chunk, table: Table): Outcome {
  const { count } = chunk;
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const key = new Uint32Array(count);
  const work = new Float64Array(count);
  plain32(chunk, 2, key, work);
  if (table.isChained) chain.fill(chunk, key, start, end);
  else fillSpans(chunk, start, end);
  const origin = chunk.baseTime << BigInt(chunk.shift);
  const times = Array.from(start, (begin, i): [bigint, bigint] => [
    origin + BigInt(begin),
    origin + BigInt(end[i] ?? 0),
  ]);
  const ids = new Uint32Array(count);
  if (table.isChained) delta32(chunk, 3, ids, work);
  else plain32(chunk, 3, ids, work);
  return { times, correlations: Array.from(ids, BigInt) };
}

const small = fc.bigInt({ min: -3n, max: 600n });
const residual = fc.oneof(
  { weight: 30, arbitrary: small },
  { weight: 2, arbitrary: fc.bigInt({ min: -(2n ** 40n), max: 2n ** 40n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) },
);
const tame = fc.constantFrom(small, residual);
const rows = fc.integer({ min: 1, max: 60 });

describe("fast columns", () => {
  it("of chained tables are the exact ones, or tell that doubles do not hold them", () => {
    let same = 0;
    const made = fc.tuple(rows, tame).chain(([count, value]) => {
      const column = fc.array(value, { minLength: count, maxLength: count });
      const key = fc.array(fc.bigInt({ min: 0n, max: 3n }), { minLength: count, maxLength: count });
      const ids = fc.array(fc.bigInt({ min: 0n, max: 9n }), { minLength: count, maxLength: count });
      return fc.record({
        count: fc.constant(count),
        columns: fc.tuple(column, column, key, ids),
        tick: fc.constantFrom(1, 2, 32, 1000),
        tickFraction: fc.constantFrom(0, 0, 687_194, -5_000_000, 2 ** 26 - 1),
        areGapsPredicted: fc.boolean(),
        roundingErrors: fc.array(
          fc.oneof(fc.bigInt({ min: 0n, max: 80n }), fc.constantFrom(8n, 17n)),
          { maxLength: 9 },
        ),
      });
    });
    const table = tableNamed("kernel");
    fc.assert(
      fc.property(made, ({ count, ...parts }) => {
        const all: ChunkParts = { baseTime: BASE, shift: 0, ...parts };
        const block = blockOf(table.kind, count, 2n ** 50n);
        const chunk = readChunk(chunkBytes(table.kind, count, all), block);
        const told = outcome(() => fast(chunk, table));
        if (told === "unsafe") return;
        if (told !== "fault") same++;
        expect(told).toEqual(outcome(() => exactly(chunk, table)));
      }),
      { numRuns: 2000 },
    );
    expect(same).toBeGreaterThan(200);
  });

  it("of spans are the exact ones", () => {
    let same = 0;
    const table = tableNamed("op");
    const made = rows.chain((count) => {
      const column = (most: bigint) =>
        fc.array(fc.bigInt({ min: 0n, max: most }), { minLength: count, maxLength: count });
      return fc.record({
        count: fc.constant(count),
        columns: fc.tuple(column(2n ** 20n), column(2n ** 21n), column(50n), column(2n ** 31n)),
        shift: fc.constantFrom(0, 5, 12),
      });
    });
    fc.assert(
      fc.property(made, ({ count, columns, shift }) => {
        const all: ChunkParts = {
          baseTime: BASE >> BigInt(shift),
          shift,
          tick: 0,
          tickFraction: 0,
          areGapsPredicted: false,
          roundingErrors: [],
          columns,
        };
        const block = blockOf(table.kind, count, 2n ** 40n);
        const chunk = readChunk(chunkBytes(table.kind, count, all), block);
        const told = outcome(() => fast(chunk, table));
        if (told !== "fault") same++;
        expect(told).toEqual(outcome(() => exactly(chunk, table)));
      }),
      { numRuns: 500 },
    );
    expect(same).toBeGreaterThan(100);
  });
});
