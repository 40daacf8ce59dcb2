// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The events of the recording, opened once for all pages. Those of a large one are read for a while:
// until then the trace is rough (trace/api.ts).

import { type Signal, signal } from "@preact/signals";
import { reasonOf } from "../base/reason";
import type { Source } from "../data/source";
import type { Selection, Trace } from "../trace/api";
import { openAsked } from "../trace/asked";
import { scope } from "./scope";

export type TraceState =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly why: string }
  | { readonly state: "open"; readonly trace: Trace };

/** Fewer rows are read in a moment. */
const MANY_ROWS = 3_000_000;
/** So long the reading waits for a first rough picture, in milliseconds. */
const MOST_WAIT_MS = 1000;

const opened = new WeakMap<Source, Signal<TraceState>>();

async function open(source: Source, state: Signal<TraceState>): Promise<void> {
  const { askTimeline, unreadable = "The events are not in this page" } = source;
  try {
    if (askTimeline === undefined) throw new Error(unreadable);
    const ask = askTimeline.bind(source);
    let drawn = () => {};
    const rough = await openAsked(async (question) => {
      const answer = await ask(question);
      if (question.includes('"spans"')) drawn();
      return answer;
    }, true);
    if (rough.info.rows > MANY_ROWS) {
      // The engine answers one question after the other, and the next one takes long.
      const isDrawn = new Promise<void>((resolve) => {
        drawn = resolve;
        setTimeout(resolve, MOST_WAIT_MS);
      });
      state.value = { state: "open", trace: rough };
      await isDrawn;
    }
    state.value = { state: "open", trace: await openAsked(ask) };
  } catch (error) {
    state.value = { state: "failed", why: reasonOf(error).replace(/\.$/, "") };
  }
}

function stateOf(source: Source): Signal<TraceState> {
  let state = opened.get(source);
  if (state === undefined) {
    state = signal<TraceState>({ state: "loading" });
    opened.set(source, state);
    void open(source, state);
  }
  return state;
}

/** Opens the events when a page needs them. */
export function useTrace(source: Source): TraceState {
  return stateOf(source).value;
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
