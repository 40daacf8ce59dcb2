// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The events of the recording, opened once for all pages.

import { useEffect, useState } from "preact/hooks";
import type { Source } from "../data/source";
import type { Selection, Trace } from "../trace/api";
import { openTrace } from "../trace/client";
import { reasonOf } from "../trace/protocol";
import { scope } from "./scope";

const opened = new WeakMap<Source, Promise<Trace>>();

function open(source: Source): Promise<Trace> {
  let trace = opened.get(source);
  if (trace === undefined) {
    const { unreadable } = source;
    trace = unreadable === undefined ? openTrace(source) : Promise.reject(new Error(unreadable));
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
        if (isShown) setNow({ state: "failed", why: reasonOf(error) });
      },
    );
    return () => {
      isShown = false;
    };
  }, [source]);
  return now;
}

/** Returns what the scope selects of the events. */
export function selectionOf({ info }: Trace): Selection {
  const { range, pid, device } = scope.value;
  const { start_ns, end_ns } = range ?? { start_ns: info.start_ns, end_ns: info.end_ns + 1 };
  const processes = [...info.processes.keys()].filter((i) => info.processes[i]?.pid === pid);
  return {
    start_ns,
    end_ns,
    ...(pid !== null && { processes }),
    ...(device !== null && { devices: [device] }),
  };
}
