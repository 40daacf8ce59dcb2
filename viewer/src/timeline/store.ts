// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the page has of the trace: slices and values of the tracks that are seen. Requests are
// gathered; an answer that fits the view worse than the picture that is there is dropped, and the
// last picture stays until a better one comes.

import type { CounterAnswer, Spans, SpansAnswer, Trace } from "../trace/api";
import { Latest } from "./latest";
import { isCounter } from "./layout";
import { type Rows, rowsOf } from "./rows";
import type { Window } from "./view";

/** Slices of a track in a window, at one level of detail. */
export interface Picture {
  readonly spans: Spans;
  readonly names: readonly string[];
  readonly window: Window;
  readonly ns_per_px: number;
  readonly rows: Rows;
}

export interface Values {
  readonly answer: CounterAnswer;
  readonly window: Window;
  readonly ns_per_px: number;
}

interface Question {
  readonly tracks: readonly number[];
  readonly window: Window;
  readonly ns_per_px: number;
}

/** Returns the level of detail for a scale: steps of a fourth of a doubling, never coarser. */
export function levelOf(ns_per_px: number): number {
  return 2 ** (Math.floor(Math.log2(Math.max(ns_per_px, 2 ** -10)) * 4) / 4);
}

/** Returns the width of a column of folded cells: a 64th of the least power of two from 64 px. */
export function columnOf(ns_per_px: number): number {
  return 2 ** Math.ceil(Math.log2(64 * ns_per_px)) / 64;
}

/** Returns the window to ask for: the view with half of it at each side, within the whole. */
export function askedWindow(view: Window, whole: Window): Window {
  const half = (view.end - view.start) / 2;
  return {
    start: Math.max(whole.start, Math.floor(view.start - half)),
    end: Math.min(whole.end, Math.ceil(view.end + half)),
  };
}

function covers(window: Window, view: Window): boolean {
  return window.start <= view.start && window.end >= view.end;
}

/** Returns how badly a picture fits a view; 0: perfectly. */
export function misfit(
  picture: { readonly window: Window; readonly ns_per_px: number },
  view: Window,
  level: number,
): number {
  const seen = Math.min(picture.window.end, view.end) - Math.max(picture.window.start, view.start);
  const missing = 1 - Math.max(0, seen) / Math.max(view.end - view.start, 1);
  return Math.abs(Math.log2(picture.ns_per_px / level)) + missing * 100;
}

/** Most tracks whose pictures are kept. */
const MOST_KEPT = 400;

export class Store {
  private readonly pictures = new Map<number, Picture>();
  /** Pictures of the whole trace: what is shown where nothing finer is there yet. */
  private readonly wholes = new Map<number, Picture>();
  /** Tracks whose outer frames have rows of their own. */
  private readonly unfolded = new Set<number>();
  private readonly values = new Map<number, Values>();
  private readonly tops = new Map<number, number>();
  private readonly spansOf: Latest<Question, SpansAnswer>;
  private readonly valuesOf: Latest<Question, CounterAnswer[]>;
  private wantedSpans = "";
  private wantedValues = "";
  private view: Window;
  private level = 1;
  /** Requests that were sent. For tests and figures. */
  asked = 0;
  /** Whether the last view that was wanted lacks nothing. */
  isComplete = false;

  constructor(
    private readonly trace: Trace,
    private readonly whole: Window,
    private readonly changed: () => void,
    private readonly failed: (reason: unknown) => void,
  ) {
    this.view = whole;
    this.spansOf = new Latest(
      (q) => {
        this.asked++;
        return trace.spans(q.tracks, q.window.start, q.window.end, q.ns_per_px);
      },
      (q, answer, stale) => this.takeSpans(q, answer, stale),
      (_, reason) => this.failed(reason),
    );
    this.valuesOf = new Latest(
      (q) => {
        this.asked++;
        return Promise.all(
          q.tracks.map((track) => trace.counter(track, q.window.start, q.window.end, q.ns_per_px)),
        );
      },
      (q, answers) => this.takeValues(q, answers),
      (_, reason) => this.failed(reason),
    );
  }

  close(): void {
    this.spansOf.close();
    this.valuesOf.close();
  }

  /** Asks for what the view of the tracks lacks. Called at each frame; mostly it asks nothing. */
  want(tracks: readonly number[], view: Window, ns_per_px: number): void {
    const level = levelOf(ns_per_px);
    this.view = view;
    this.level = level;
    const window = askedWindow(view, this.whole);
    const lacks = (track: number, have: ReadonlyMap<number, Picture | Values>): boolean => {
      const picture = have.get(track);
      return picture === undefined || misfit(picture, view, level) > 0;
    };
    const isValues = (track: number): boolean => {
      const info = this.trace.info.tracks[track];
      return info !== undefined && isCounter(info.kind);
    };
    const spans = tracks.filter((track) => !isValues(track) && lacks(track, this.pictures));
    const values = tracks.filter((track) => isValues(track) && lacks(track, this.values));
    this.isComplete =
      spans.length === 0 && values.length === 0 && this.trace.info.is_rough !== true;
    // The same question is not asked again while its answer is on the way, or after it failed.
    const key = (some: readonly number[]): string =>
      `${some.join()} ${window.start} ${window.end} ${level}`;
    if (spans.length > 0 && key(spans) !== this.wantedSpans) {
      this.wantedSpans = key(spans);
      this.spansOf.want({ tracks: spans, window, ns_per_px: level });
    } else if (spans.length === 0) {
      this.spansOf.forget();
      this.wantedSpans = "";
    }
    if (values.length > 0 && key(values) !== this.wantedValues) {
      this.wantedValues = key(values);
      this.valuesOf.want({ tracks: values, window, ns_per_px: level });
    } else if (values.length === 0) {
      this.valuesOf.forget();
      this.wantedValues = "";
    }
  }

  /** Returns the best picture of a track for the view; undefined: there is none yet. */
  picture(track: number): Picture | undefined {
    const fine = this.pictures.get(track);
    const coarse = this.wholes.get(track);
    if (fine === undefined || coarse === undefined || covers(fine.window, this.view)) {
      return fine ?? coarse;
    }
    return coarse;
  }

  /** Returns the rows that a track needs. They change with answers only, so that no move shakes. */
  shape(track: number): { readonly rows: number; readonly caption: string } | undefined {
    const rows = this.pictures.get(track)?.rows;
    return rows === undefined ? undefined : { rows: rows.count, caption: rows.caption };
  }

  /** Gives the outer frames of a track rows of their own, or takes them away again. */
  toggleOuter(track: number): void {
    if (!this.unfolded.delete(track)) this.unfolded.add(track);
    const kind = this.trace.info.tracks[track]?.kind ?? "python";
    for (const kept of [this.pictures, this.wholes]) {
      const picture = kept.get(track);
      if (picture === undefined) continue;
      const { spans, names, window } = picture;
      const isUnfolded = this.unfolded.has(track);
      const rows = rowsOf(spans, names, kind, window.start, window.end, isUnfolded);
      kept.set(track, { ...picture, rows });
    }
    this.changed();
  }

  counter(track: number): Values | undefined {
    return this.values.get(track);
  }

  /** Returns the greatest value of a counter in the whole trace, as far as it is known. */
  top(track: number): number {
    return this.tops.get(track) ?? 0;
  }

  private takeSpans(question: Question, answer: SpansAnswer, stale: boolean): void {
    const asked = new Set(question.tracks);
    for (const spans of answer.spans) {
      const info = this.trace.info.tracks[spans.track];
      if (info === undefined || !asked.has(spans.track)) continue;
      const { window, ns_per_px } = question;
      const old = this.pictures.get(spans.track);
      if (stale && old !== undefined) {
        const better = misfit(question, this.view, this.level) < misfit(old, this.view, this.level);
        if (!better) continue;
      }
      const isUnfolded = this.unfolded.has(spans.track);
      const rows = rowsOf(spans, answer.names, info.kind, window.start, window.end, isUnfolded);
      const picture: Picture = { spans, names: answer.names, window, ns_per_px, rows };
      this.pictures.delete(spans.track);
      this.pictures.set(spans.track, picture);
      if (covers(window, this.whole)) this.wholes.set(spans.track, picture);
    }
    // A Map keeps its order: the first keys are the pictures that are the longest unused.
    for (const track of this.pictures.keys()) {
      if (this.pictures.size <= MOST_KEPT) break;
      if (!asked.has(track)) this.pictures.delete(track);
    }
    this.changed();
  }

  private takeValues(question: Question, answers: readonly CounterAnswer[]): void {
    for (const answer of answers) {
      const { window, ns_per_px } = question;
      this.values.set(answer.track, { answer, window, ns_per_px });
      let top = this.tops.get(answer.track) ?? 0;
      for (const value of answer.most) if (value > top) top = value;
      this.tops.set(answer.track, top);
    }
    this.changed();
  }

  /** Asks for the scales of all counters: one scale for the whole trace. */
  async askTops(tracks: readonly number[], ns_per_px: number): Promise<void> {
    const { start, end } = this.whole;
    for (const track of tracks) {
      try {
        const answer = await this.trace.counter(track, start, end, ns_per_px);
        let top = this.tops.get(track) ?? 0;
        for (const value of answer.most) if (value > top) top = value;
        this.tops.set(track, top);
      } catch (reason) {
        this.failed(reason);
      }
    }
    this.changed();
  }
}
