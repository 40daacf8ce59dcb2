// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The part of the trace that is seen: arithmetic without a screen. Every function returns a window
// within the whole trace, so that no caller can show what is outside.

export interface Window {
  readonly start: number;
  readonly end: number;
}

/** Fewer nanoseconds are never shown: the clock of the trace has no finer ticks. */
export const LEAST_NS = 100;

/** Returns the window moved and cut so that it lies in the whole. */
export function clamp(window: Window, whole: Window): Window {
  const all = Math.max(whole.end - whole.start, 1);
  let { start, end } = window;
  if (!Number.isFinite(start) || !Number.isFinite(end)) return whole;
  if (end < start) [start, end] = [end, start];
  const least = Math.min(LEAST_NS, all);
  const length = Math.min(Math.max(end - start, least), all);
  // A window that is too short grows around its middle.
  if (end - start < length) start = (start + end - length) / 2;
  start = Math.min(Math.max(start, whole.start), whole.start + all - length);
  return { start, end: start + length };
}

/** Returns the window scaled by `factor` around a moment that keeps its place on the screen. */
export function zoomAt(window: Window, at: number, factor: number, whole: Window): Window {
  const length = window.end - window.start;
  const all = Math.max(whole.end - whole.start, 1);
  const wanted = Math.min(Math.max(length * factor, Math.min(LEAST_NS, all)), all);
  const share = length > 0 ? (at - window.start) / length : 0.5;
  const start = at - share * wanted;
  return clamp({ start, end: start + wanted }, whole);
}

/** Returns the window moved by a time; at the edges of the whole it stops with its length. */
export function pan(window: Window, by: number, whole: Window): Window {
  return clamp({ start: window.start + by, end: window.end + by }, whole);
}

/** Returns a window around a range, with a margin that is a share of the range. */
export function around(range: Window, margin: number, whole: Window): Window {
  const extra = (range.end - range.start) * margin;
  return clamp({ start: range.start - extra, end: range.end + extra }, whole);
}

/** Returns the window moved, and widened if need be, so that a range is seen. */
export function reveal(window: Window, range: Window, whole: Window): Window {
  if (range.start >= window.start && range.end <= window.end) return window;
  const length = Math.max(window.end - window.start, (range.end - range.start) * 1.4);
  const middle = (range.start + range.end) / 2;
  return clamp({ start: middle - length / 2, end: middle + length / 2 }, whole);
}

/** Says if two windows show the same, to the eye. */
export function same(a: Window, b: Window): boolean {
  const slack = (a.end - a.start) * 1e-6;
  return Math.abs(a.start - b.start) <= slack && Math.abs(a.end - b.end) <= slack;
}

/** Windows that were seen before. Moves that follow each other within a moment count as one. */
export class History {
  private readonly past: Window[] = [];
  private last = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly gesture_ms = 400,
    private readonly most = 200,
  ) {}

  /** Keeps the window that a move leaves. `now`: milliseconds of any clock. */
  leave(window: Window, now: number, jump = false): void {
    const continued = now - this.last < this.gesture_ms;
    this.last = now;
    if (continued && !jump) return;
    const top = this.past[this.past.length - 1];
    if (top !== undefined && same(top, window)) return;
    this.past.push(window);
    if (this.past.length > this.most) this.past.shift();
  }

  /** Returns the window before the last move; undefined: there is no earlier window. */
  back(): Window | undefined {
    this.last = Number.NEGATIVE_INFINITY;
    return this.past.pop();
  }
}
