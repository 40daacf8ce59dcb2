// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Spans of one thread as boxes in the order of time: what called what, from left to right.

import type { SpansAnswer } from "../trace/api";

export interface View {
  readonly start_ns: number;
  readonly end_ns: number;
}

export interface TimeBox {
  readonly x: number;
  readonly width: number;
  /** 0: the outermost. */
  readonly depth: number;
  /** Null: several spans that are too short to be drawn. */
  readonly name: string | null;
  readonly count: number;
  readonly start_ns: number;
  readonly end_ns: number;
  /** Time in which any of them ran. */
  readonly busy_ns: number;
}

/** Returns the boxes of an answer, cut at the edges of the view. */
export function timeBoxes(answer: SpansAnswer, view: View, width: number): TimeBox[] {
  const scale = width / Math.max(1, view.end_ns - view.start_ns);
  const boxes: TimeBox[] = [];
  for (const spans of answer.spans) {
    for (let i = 0; i < spans.start_ns.length; i++) {
      const start_ns = spans.start_ns[i] as number;
      const end_ns = spans.end_ns[i] as number;
      const from = Math.max(start_ns, view.start_ns);
      const to = Math.min(end_ns, view.end_ns);
      if (to < from) continue;
      const count = spans.count[i] as number;
      boxes.push({
        x: (from - view.start_ns) * scale,
        width: Math.max(1, (to - from) * scale),
        depth: spans.depth[i] as number,
        name: count === 1 ? (answer.names[spans.name[i] as number] ?? "") : null,
        count,
        start_ns,
        end_ns,
        busy_ns: spans.busy_ns[i] as number,
      });
    }
  }
  return boxes.sort((a, b) => a.depth - b.depth || a.x - b.x);
}

/** Returns from the first begin to the last end; null: there is nothing. */
export function extent(answer: SpansAnswer): View | null {
  let start_ns = Number.POSITIVE_INFINITY;
  let end_ns = Number.NEGATIVE_INFINITY;
  for (const spans of answer.spans) {
    for (const time of spans.start_ns) start_ns = Math.min(start_ns, time);
    for (const time of spans.end_ns) end_ns = Math.max(end_ns, time);
  }
  return start_ns < end_ns ? { start_ns, end_ns } : null;
}

/** Returns the number of the box that an arrow key leads to; undefined: there is none. */
export function boxBeside(
  boxes: readonly TimeBox[],
  index: number,
  key: string,
): number | undefined {
  const now = boxes[index];
  if (now === undefined) return undefined;
  const isOfDepth = (place: number, depth: number) => boxes[place]?.depth === depth;
  if (key === "ArrowLeft") return isOfDepth(index - 1, now.depth) ? index - 1 : undefined;
  if (key === "ArrowRight") return isOfDepth(index + 1, now.depth) ? index + 1 : undefined;
  const middle = now.x + now.width / 2;
  const covers = (box: TimeBox) => box.x <= middle && middle <= box.x + box.width;
  const found = boxes.findIndex((box) =>
    key === "ArrowUp"
      ? box.depth === now.depth - 1 && covers(box)
      : box.depth === now.depth + 1 && box.x + 0.01 >= now.x && box.x < now.x + now.width,
  );
  return found < 0 ? undefined : found;
}
