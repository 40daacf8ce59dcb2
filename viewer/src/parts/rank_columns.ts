// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the columns of ranks stand: all as wide as each other, except those that differ. Those are
// wide enough to be seen, and set apart.

import type { Look, Word } from "../base/vocabulary";

/** The parts of a step of a rank, from the ground up. */
export const POD_STACK = [
  "input",
  "forward",
  "backward",
  "compute",
  "copy",
  "wait",
  "transfer",
  "optimizer",
  "host",
  "other",
] as const;
export type PodTimeName = (typeof POD_STACK)[number];

export const POD_WORDS: Readonly<Record<PodTimeName, Word>> = {
  input: { name: "Waits for input", look: "late" },
  forward: { name: "Forward", look: "d_forward" },
  backward: { name: "Backward", look: "d_backward" },
  compute: { name: "Other kernels", look: "d_reduce" },
  copy: { name: "Copies", look: "d_copy" },
  wait: { name: "Waits for other ranks", look: "wait" },
  transfer: { name: "Transfer", look: "d_comm" },
  optimizer: { name: "Optimizer", look: "d_optim" },
  host: { name: "Host", look: "thin" },
  other: { name: "Other", look: "d_other" },
};

export type PodTimes = Readonly<Record<`${PodTimeName}_ns`, number>> & {
  readonly step_ns: number;
};

export function podTime(row: PodTimes, name: PodTimeName): number {
  return row[`${name}_ns`];
}

/** Returns the parts that some row has, with their words. */
export function occurringTimes(rows: readonly PodTimes[]): { name: string; look: Look }[] {
  return POD_STACK.filter((name) => rows.some((row) => podTime(row, name) > 0)).map(
    (name) => POD_WORDS[name],
  );
}

export interface RankColumn<Row> {
  readonly row: Row;
  /** How many ranks the column stands for: more than one if there is no room. */
  readonly count: number;
  readonly x: number;
  readonly width: number;
}

/** A column that differs is at least so wide, and has so much room on both sides. */
const OUTLIER_WIDTH = 8;
const OUTLIER_ROOM = 3;
/** Columns of this width or more have a gap between them. */
const GAP_FROM = 3;

/**
 * Places the columns in so many pixels. Without room for a pixel each, neighbours are one column: of
 * them the longest step is shown, and ranks that differ stay alone.
 */
export function placeColumns<Row extends { readonly outlier: boolean; readonly step_ns: number }>(
  rows: readonly Row[],
  width: number,
): RankColumn<Row>[] {
  const odd = rows.filter((row) => row.outlier).length;
  const oddRoom = OUTLIER_WIDTH + 2 * OUTLIER_ROOM;
  const left = Math.max(1, width - odd * oddRoom);
  const group = Math.max(1, Math.ceil((rows.length - odd) / left));
  const folded: { row: Row; count: number }[] = [];
  let open: { row: Row; count: number } | null = null;
  for (const row of rows) {
    if (row.outlier) {
      open = null;
      folded.push({ row, count: 1 });
    } else if (open === null || open.count === group) {
      open = { row, count: 1 };
      folded.push(open);
    } else {
      open.count += 1;
      if (row.step_ns > open.row.step_ns) open.row = row;
    }
  }
  const plain = folded.length - odd;
  const each = plain === 0 ? 0 : Math.min(60, left / plain);
  const oddWidth = Math.max(OUTLIER_WIDTH, Math.min(60, each));
  const columns: RankColumn<Row>[] = [];
  let x = 0;
  for (const { row, count } of folded) {
    if (row.outlier) {
      columns.push({ row, count, x: x + OUTLIER_ROOM, width: oddWidth });
      x += oddWidth + 2 * OUTLIER_ROOM;
    } else {
      columns.push({ row, count, x, width: each >= GAP_FROM ? each - 1 : each });
      x += each;
    }
  }
  // Wide columns that differ may have taken more room than there is.
  const scale = x > width ? width / x : 1;
  return scale === 1
    ? columns
    : columns.map((column) => ({ ...column, x: column.x * scale, width: column.width * scale }));
}

/** Returns places of about `most` columns whose ranks have round numbers. */
export function roundRanks(numbers: readonly (number | null)[], most: number): number[] {
  const known = numbers.filter((number): number is number => number !== null);
  const last = known[known.length - 1] ?? 0;
  const rough = Math.max(1, last / Math.max(1, most));
  const step = 2 ** Math.ceil(Math.log2(rough));
  return numbers.flatMap((number, place) =>
    number !== null && number % step === 0 ? [place] : [],
  );
}
