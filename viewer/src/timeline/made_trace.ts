// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A made-up trace for tests and for the page of development. It is the same for the same seed, and
// nothing of it was measured. The page that is built never contains it.

import {
  type Bars,
  CLASSES,
  type ClassName,
  type CounterAnswer,
  type EventDetail,
  type EventRef,
  type RangeAnswer,
  type RangeRow,
  type SearchAnswer,
  type Selection,
  type Spans,
  type SpansAnswer,
  type Trace,
  type TraceInfo,
  type TrackInfo,
  type TrackKind,
} from "../trace/api";
import { fold, type MadeTrack } from "./made_fold";
import { MadeProgram } from "./made_program";

export interface MadeOptions {
  readonly events: number;
  readonly processes?: number;
  readonly seed?: number;
  /** Some names are an attack. */
  readonly hostile?: boolean;
}

/** Makes a trace of about as many events. */
export function makeTrace(options: MadeOptions): Trace {
  return new MadeTrace(options);
}

const clsOf = (index: number): ClassName => CLASSES[index] ?? "other";

class MadeTrace implements Trace {
  readonly info: TraceInfo;
  private readonly tracks: readonly MadeTrack[];
  private readonly names: readonly string[];

  constructor(options: MadeOptions) {
    const program = new MadeProgram(
      options.seed ?? 1,
      options.processes ?? 2,
      options.events,
      options.hostile ?? false,
    );
    this.tracks = program.tracks;
    this.names = program.names;
    const tracks: TrackInfo[] = program.tracks.map((track, id) => ({
      id,
      kind: track.kind,
      process: track.process,
      name: track.name,
      device: track.device,
      tid: track.tid,
      rows: track.start.length,
      depth: track.depths,
    }));
    this.info = {
      start_ns: 0,
      end_ns: program.end,
      processes: program.processes,
      tracks,
      rows: tracks.reduce((sum, track) => sum + track.rows, 0),
      faults: [],
    };
  }

  private track(id: number): MadeTrack {
    const track = this.tracks[id];
    if (track === undefined) throw new Error(`There is no track ${id}.`);
    return track;
  }

  private nameOf(track: MadeTrack, row: number): string {
    return this.names[track.name_of[row] ?? 0] ?? "";
  }

  async spans(
    tracks: readonly number[],
    start_ns: number,
    end_ns: number,
    ns_per_px: number,
  ): Promise<SpansAnswer> {
    const spans: Spans[] = tracks.map((id) => {
      const folded = fold(this.track(id), start_ns, end_ns, ns_per_px);
      const bars: Bars = folded.bars;
      return { track: id, ...folded.slices, bars };
    });
    return { spans, names: this.names };
  }

  async counter(
    id: number,
    start_ns: number,
    end_ns: number,
    ns_per_px: number,
  ): Promise<CounterAnswer> {
    const track = this.track(id);
    const time: number[] = [];
    const least: number[] = [];
    const most: number[] = [];
    for (let i = 0; i < track.start.length; i++) {
      const at = track.start[i] ?? 0;
      const next = track.start[i + 1] ?? Number.POSITIVE_INFINITY;
      if (next < start_ns) continue;
      if (at > end_ns) break;
      const value = track.value[i] ?? 0;
      const last = time.length - 1;
      const from = time[last];
      if (from !== undefined && at - from < ns_per_px) {
        least[last] = Math.min(least[last] ?? value, value);
        most[last] = Math.max(most[last] ?? value, value);
      } else {
        time.push(at);
        least.push(value);
        most.push(value);
      }
    }
    return {
      track: id,
      time_ns: Float64Array.from(time),
      least: Float64Array.from(least),
      most: Float64Array.from(most),
      unit: track.unit,
    };
  }

  async range(kind: TrackKind, selection: Selection): Promise<RangeAnswer> {
    const { start_ns, end_ns } = selection;
    const rows = new Map<string, { -readonly [K in keyof RangeRow]: RangeRow[K] }>();
    const busy: { track: number; busy_ns: number }[] = [];
    for (const [id, track] of this.tracks.entries()) {
      if (track.kind !== kind || track.unit !== "") continue;
      if (selection.tracks !== undefined && !selection.tracks.includes(id)) continue;
      let sum = 0;
      let until = start_ns;
      for (let i = 0; i < track.start.length; i++) {
        const start = track.start[i] ?? 0;
        if (start >= end_ns) break;
        const duration = track.duration[i] ?? 0;
        const cut = Math.min(start + duration, end_ns) - Math.max(start, start_ns);
        if (cut <= 0) continue;
        sum += Math.max(0, Math.min(start + duration, end_ns) - Math.max(start, until));
        until = Math.max(until, Math.min(start + duration, end_ns));
        const name = this.nameOf(track, i);
        const row = rows.get(name);
        if (row === undefined) {
          const cls = clsOf(track.cls[i] ?? 0);
          const same = { mean_ns: duration, min_ns: duration, max_ns: duration };
          rows.set(name, { name, cls, count: 1, total_ns: cut, ...same });
          continue;
        }
        row.count++;
        row.total_ns += cut;
        row.mean_ns += (duration - row.mean_ns) / row.count;
        row.min_ns = Math.min(row.min_ns, duration);
        row.max_ns = Math.max(row.max_ns, duration);
      }
      busy.push({ track: id, busy_ns: sum });
    }
    return { kind, rows: [...rows.values()], busy_ns: busy, left_out: 0 };
  }

  private ref(id: number, row: number): EventRef {
    const track = this.track(id);
    const start_ns = track.start[row] ?? 0;
    const end_ns = start_ns + (track.duration[row] ?? 0);
    return { track: id, row, name: this.nameOf(track, row), start_ns, end_ns };
  }

  /** Returns the rows that contain a row, the innermost first. */
  private outer(id: number, row: number): EventRef[] {
    const track = this.track(id);
    const found: EventRef[] = [];
    let depth = track.depth[row] ?? 0;
    for (let i = row - 1; i >= 0 && depth > 0; i--) {
      if (track.depth[i] !== depth - 1) continue;
      found.push(this.ref(id, i));
      depth--;
    }
    return found;
  }

  async gaps() {
    return { devices: [] };
  }

  async calls(): Promise<never> {
    throw new Error("no calls were made up");
  }

  async event(id: number, row: number): Promise<EventDetail> {
    const track = this.track(id);
    if (row < 0 || row >= track.start.length) throw new Error(`There is no row ${row}.`);
    const self = this.ref(id, row);
    const causes: EventRef[] = [];
    const effects: EventRef[] = [];
    const join = track.join[row] ?? -1;
    if (track.kind === "stream" && join >= 0) {
      causes.push(this.ref(track.other, join));
      const op = await this.at(track.other + 1, self.start_ns);
      const launch = causes[0];
      const above = launch === undefined ? op : await this.at(track.other + 1, launch.start_ns);
      if (above !== null) causes.push(above);
    } else if (track.kind === "api" && join >= 0) {
      effects.push(this.ref(track.other, join));
      const op = await this.at(id + 1, self.start_ns);
      if (op !== null) causes.push(op);
    } else {
      causes.push(...this.outer(id, row));
      if (track.kind === "op") effects.push(...this.launched(id, self));
    }
    const fields = [{ name: "thread", value: String(track.tid ?? "—") }];
    if (track.kind === "stream") {
      fields.length = 0;
      fields.push({ name: "grid × block", value: "5·16·16 × 128·1·1" });
      fields.push({ name: "registers, shared", value: "255, 48.0 KiB" });
    }
    return {
      track: id,
      row,
      name: self.name,
      cls: clsOf(track.cls[row] ?? 0),
      start_ns: self.start_ns,
      duration_ns: self.end_ns - self.start_ns,
      fields,
      causes,
      effects,
    };
  }

  /** Returns the kernels that an operator launched. Calls stand one track before operators. */
  private launched(id: number, op: EventRef): EventRef[] {
    const api = this.track(id - 1);
    const found: EventRef[] = [];
    for (let i = 0; i < api.start.length && found.length < 100; i++) {
      const start = api.start[i] ?? 0;
      if (start > op.end_ns) break;
      const join = api.join[i] ?? -1;
      if (start >= op.start_ns && join >= 0) found.push(this.ref(api.other, join));
    }
    return found;
  }

  async search(text: string, limit: number): Promise<SearchAnswer> {
    const wanted = text.toLowerCase();
    const matches = this.names.map((name) => name.toLowerCase().includes(wanted));
    const names = new Map<number, { name: string; count: number; total_ns: number }>();
    const hits: EventRef[] = [];
    let count = 0;
    let total_ns = 0;
    for (const [id, track] of this.tracks.entries()) {
      if (track.unit !== "") continue;
      for (let i = 0; i < track.start.length; i++) {
        const name = track.name_of[i] ?? 0;
        if (matches[name] !== true) continue;
        const duration = track.duration[i] ?? 0;
        count++;
        total_ns += duration;
        const known = names.get(name) ?? { name: this.names[name] ?? "", count: 0, total_ns: 0 };
        known.count++;
        known.total_ns += duration;
        names.set(name, known);
        if (hits.length < limit * 4) hits.push(this.ref(id, i));
      }
    }
    hits.sort((a, b) => a.start_ns - b.start_ns);
    const sorted = [...names.values()].sort((a, b) => b.total_ns - a.total_ns);
    return { count, total_ns, hits: hits.slice(0, limit), names: sorted };
  }

  async at(id: number, time_ns: number): Promise<EventRef | null> {
    const track = this.track(id);
    let low = 0;
    let high = track.start.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((track.start[middle] ?? 0) <= time_ns) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1, tries = 0; i >= 0 && tries < 5000; i--, tries++) {
      if ((track.start[i] ?? 0) + (track.duration[i] ?? 0) > time_ns) return this.ref(id, i);
    }
    return null;
  }
}
