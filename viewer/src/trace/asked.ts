// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The trace as the engine tells it: each question of api.ts becomes one of analysis/timeline/answer.h.

import type {
  CallTree,
  CounterAnswer,
  EventDetail,
  EventRef,
  GapsAnswer,
  RangeAnswer,
  SearchAnswer,
  Selection,
  SpansAnswer,
  Trace,
  TraceInfo,
  TrackKind,
} from "./api";

/** Answers a question of JSON with bytes. */
export type AskTimeline = (question: string) => Promise<Uint8Array>;

const MAGIC = "GTA1";
const HEADER = 8;
const KINDS = { f64: Float64Array, u32: Uint32Array, u8: Uint8Array } as const;

/** Reads an answer: JSON, in which arrays stand for arrays behind it. They share its bytes. */
export function readAnswer(bytes: Uint8Array): unknown {
  const text = new TextDecoder();
  if (text.decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) return JSON.parse(text.decode(bytes));
  const whole = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const length = new DataView(whole.buffer, whole.byteOffset).getUint32(4, true);
  const arrays = whole.byteOffset + HEADER + length;
  return JSON.parse(text.decode(whole.subarray(HEADER, HEADER + length)), (_, value) => {
    const kind = KINDS[value?.type as keyof typeof KINDS];
    if (kind === undefined || typeof value.at !== "number") return value;
    return new kind(whole.buffer as ArrayBuffer, arrays + value.at, value.length);
  });
}

class AskedTrace implements Trace {
  constructor(
    readonly info: TraceInfo,
    private readonly ask: <T>(question: Record<string, unknown>) => Promise<T>,
  ) {}
  spans(tracks: readonly number[], start_ns: number, end_ns: number, ns_per_px: number) {
    return this.ask<SpansAnswer>({ ask: "spans", tracks, start_ns, end_ns, ns_per_px });
  }
  counter(track: number, start_ns: number, end_ns: number, ns_per_px: number) {
    return this.ask<CounterAnswer>({ ask: "counter", track, start_ns, end_ns, ns_per_px });
  }
  range(kind: TrackKind, selection: Selection) {
    return this.ask<RangeAnswer>({ ask: "range", kind, ...selection });
  }
  gaps(selection: Selection) {
    return this.ask<GapsAnswer>({ ask: "gaps", ...selection });
  }
  calls(selection: Selection) {
    return this.ask<CallTree>({ ask: "calls", ...selection });
  }
  event(track: number, row: number) {
    return this.ask<EventDetail>({ ask: "event", track, row });
  }
  search(text: string, limit: number) {
    return this.ask<SearchAnswer>({ ask: "search", text, limit });
  }
  at(track: number, time_ns: number) {
    return this.ask<EventRef | null>({ ask: "at", track, time_ns });
  }
}

/**
 * Opens the trace that somebody answers about. `isRough`: with blocks in place of events, which are
 * there at once.
 */
export async function openAsked(asked: AskTimeline, isRough = false): Promise<Trace> {
  const ask = async <T>(question: Record<string, unknown>) =>
    readAnswer(await asked(JSON.stringify(isRough ? { ...question, rough: true } : question))) as T;
  return new AskedTrace(await ask<TraceInfo>({ ask: "info" }), ask);
}
