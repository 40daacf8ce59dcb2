// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The events of the recording, opened once for all pages, and the range that narrows the pages.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Source } from "../data/source";
import type { Trace } from "../trace/api";
import { openTrace } from "../trace/client";

/** Nanoseconds of the bundle's time; null: the whole run. */
export const scope = signal<{ readonly start_ns: number; readonly end_ns: number } | null>(null);

const opened = new WeakMap<Source, Promise<Trace>>();

function open(source: Source): Promise<Trace> {
  let trace = opened.get(source);
  if (trace === undefined) {
    trace = openTrace(source);
    opened.set(source, trace);
  }
  return trace;
}

export type TraceState =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly why: string }
  | { readonly state: "open"; readonly trace: Trace };

/** Opens the events when a page needs them. */
export function useTrace(source: Source): TraceState {
  const [now, setNow] = useState<TraceState>({ state: "loading" });
  useEffect(() => {
    let isShown = true;
    open(source).then(
      (trace) => isShown && setNow({ state: "open", trace }),
      (error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        if (isShown) setNow({ state: "failed", why });
      },
    );
    return () => {
      isShown = false;
    };
  }, [source]);
  return now;
}
