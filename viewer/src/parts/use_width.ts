// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Follows the width of an element: charts are drawn for the room they have, and never scaled. */
export function useWidth<E extends HTMLElement>(): readonly [{ current: E | null }, number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const place = element.current;
    if (place === null) return undefined;
    const measure = () => setWidth(place.clientWidth);
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(place);
    return () => watcher.disconnect();
  }, []);
  return [element, width];
}
