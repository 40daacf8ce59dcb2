// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which rows of a scrolled table are in view. All rows have the same height.

import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

const ROW = 24;
const HEAD = 26;
/** Rows before and behind the view: a quick scroll shows no gap. */
const MORE = 12;
/** Rows until the height of the view is known. */
const AT_FIRST = 60;

export interface RowsInView {
  /** First row in the page, and the row behind the last. */
  readonly first: number;
  readonly last: number;
  /** Pixels of the rows before and behind. */
  readonly above: number;
  readonly below: number;
  readonly show: (row: number) => void;
}

/** Returns the rows that a view of this height at this place needs: the first, and behind the last. */
export function rowsAt(rows: number, top: number, height: number): readonly [number, number] {
  const first = Math.floor(top / ROW) - MORE;
  const last = height === 0 ? AT_FIRST : Math.ceil((top + height) / ROW) + MORE;
  // A table that was filtered is shorter than where it was scrolled to.
  const end = Math.max(0, Math.min(rows, last));
  return [Math.max(0, Math.min(first, end - MORE)), end];
}

/** Returns where a view is to be scrolled, so that a row is in it, below the header. */
export function placeOf(row: number, top: number, height: number): number {
  const above = row * ROW;
  const below = above + ROW + HEAD;
  return above < top ? above : below > top + height ? below - height : top;
}

export function useVirtualRows(
  rows: number,
  scroller: RefObject<HTMLDivElement>,
  isVirtual: boolean,
): RowsInView {
  const [[first, last], setRange] = useState<readonly [number, number]>([0, AT_FIRST]);
  useLayoutEffect(() => {
    const view = scroller.current;
    if (view === null || !isVirtual) return undefined;
    const read = () =>
      setRange((now) => {
        const next = rowsAt(rows, view.scrollTop, view.clientHeight);
        return next[0] === now[0] && next[1] === now[1] ? now : next;
      });
    read();
    view.addEventListener("scroll", read, { passive: true });
    const observer = new ResizeObserver(read);
    observer.observe(view);
    return () => {
      view.removeEventListener("scroll", read);
      observer.disconnect();
    };
  }, [rows, isVirtual]);

  if (!isVirtual) return { first: 0, last: rows, above: 0, below: 0, show: () => undefined };
  const end = Math.min(last, rows);
  return {
    first: Math.min(first, end),
    last: end,
    above: Math.min(first, end) * ROW,
    below: (rows - end) * ROW,
    show: (row) => {
      const view = scroller.current;
      if (view !== null) view.scrollTop = placeOf(row, view.scrollTop, view.clientHeight);
    },
  };
}
