// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a search found, in the form that drawing asks for.

import type { SearchAnswer } from "../trace/api";

/** Hits that are asked for and marked one by one. Counts are of all. */
export const MOST_HITS = 5000;

export class Match {
  private readonly names: ReadonlySet<string>;
  private readonly starts = new Map<number, Float64Array>();
  /** All hits are known one by one. */
  readonly complete: boolean;
  private readonly known = new WeakMap<readonly string[], Uint8Array>();

  constructor(
    readonly text: string,
    readonly answer: SearchAnswer,
  ) {
    this.names = new Set(answer.names.map((name) => name.name));
    this.complete = answer.hits.length >= answer.count;
    const lists = new Map<number, number[]>();
    for (const hit of answer.hits) {
      const list = lists.get(hit.track) ?? [];
      lists.set(hit.track, list);
      list.push(hit.start_ns);
    }
    for (const [track, list] of lists) {
      this.starts.set(track, Float64Array.from(list).sort());
    }
  }

  /** Returns 1 for each name of an answer's table that matches. */
  flags(names: readonly string[]): Uint8Array {
    let flags = this.known.get(names);
    if (flags === undefined) {
      flags = Uint8Array.from(names, (name) => (this.names.has(name) ? 1 : 0));
      this.known.set(names, flags);
    }
    return flags;
  }

  /** Says if a hit starts in a part of a track; null: that is not known of all hits. */
  inCell(track: number, start: number, end: number): boolean | null {
    const starts = this.starts.get(track);
    if (starts !== undefined) {
      let low = 0;
      let high = starts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((starts[middle] ?? 0) < start) low = middle + 1;
        else high = middle;
      }
      if (low < starts.length && (starts[low] ?? 0) <= end) return true;
    }
    return this.complete ? false : null;
  }
}
