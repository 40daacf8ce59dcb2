// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much work waits for a device: it was launched, and has not begun. From the end of its call to
// its own start it counts. Work whose call was not recorded does not.

import type { Curve } from "./curves";
import type { Piece } from "./span_track";

/** A block of spans with the ids that join work and calls. */
export interface JoinedPiece {
  readonly piece: Piece;
  correlations(): Promise<Uint32Array | null>;
}

type OnFault = (error: unknown) => void;

async function eachRow(
  pieces: readonly JoinedPiece[],
  onFault: OnFault,
  take: (id: number, start: number, end: number) => void,
): Promise<void> {
  for (const { piece, correlations } of pieces) {
    try {
      const ids = await correlations();
      const rows = await piece.load();
      if (ids === null) continue;
      for (let i = 0; i < rows.count; i++) {
        const id = ids[i] ?? 0;
        if (id !== 0) take(id, rows.start[i] as number, rows.end[i] as number);
      }
    } catch (error) {
      onFault(error);
    }
  }
}

/** Counts open intervals over time. Those that begin and end at one moment leave no trace. */
export function countOpen(begins: Float64Array, ends: Float64Array): Curve {
  begins.sort();
  ends.sort();
  const time: number[] = [];
  const value: number[] = [];
  let open = 0;
  for (let i = 0, k = 0; i < begins.length || k < ends.length; ) {
    const at = Math.min(begins[i] ?? Number.POSITIVE_INFINITY, ends[k] ?? Number.POSITIVE_INFINITY);
    const before = open;
    for (; begins[i] === at; i++) open++;
    for (; ends[k] === at; k++) open--;
    if (open === before) continue;
    time.push(at);
    value.push(open);
  }
  return { time: Float64Array.from(time), value: Float64Array.from(value) };
}

export async function queueCurve(
  calls: readonly JoinedPiece[],
  work: readonly JoinedPiece[],
  onFault: OnFault,
): Promise<Curve> {
  const launched = new Map<number, number>();
  await eachRow(calls, onFault, (id, _, end) => {
    launched.set(id, Math.min(end, launched.get(id) ?? end));
  });
  const begins: number[] = [];
  const ends: number[] = [];
  await eachRow(work, onFault, (id, start) => {
    const since = launched.get(id);
    if (since === undefined || start <= since) return;
    begins.push(since);
    ends.push(start);
  });
  return countOpen(Float64Array.from(begins), Float64Array.from(ends));
}
