// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which rows of a scrolled table are in view. All rows have the same height.

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useReducer } from "preact/hooks";

const ROW = 24;
const HEAD = 26;

export interface RowsInView {
  /** First row in the page, and the row behind the last. */
  readonly first: number;
  readonly last: number;
  /** Pixels of the rows before and behind. */
  readonly above: number;
  readonly below: number;
  readonly show: (row: number) => void;
}

export function useVirtualRows(
  rows: number,
  scroller: RefObject<HTMLDivElement>,
  isVirtual: boolean,
): RowsInView {
  const [, redraw] = useReducer((version: number) => version + 1, 0);
  const options = {
    count: isVirtual ? rows : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
    scrollPaddingStart: HEAD,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(0),
  };
  const virtualizer = useMemo(() => new Virtualizer<HTMLDivElement, Element>(options), []);
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());

  if (!isVirtual) return { first: 0, last: rows, above: 0, below: 0, show: () => undefined };
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = (items[items.length - 1]?.index ?? Math.min(rows, 60) - 1) + 1;
  return {
    first,
    last,
    above: first * ROW,
    below: (rows - last) * ROW,
    show: (row) => virtualizer.scrollToIndex(row),
  };
}
