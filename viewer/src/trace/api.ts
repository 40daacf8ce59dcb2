// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the page asks of the trace. The answers come from the engine: in a worker of the page, or with
// the server. All times are nanoseconds of the bundle's time, as in the JSON of
// passes: 0 is the bundle's first moment.

/** What a row of the timeline is. The order is the order of the page. */
export type TrackKind =
  | "stream"
  | "graph_lane"
  | "sync"
  | "queue"
  | "memory"
  | "counter"
  | "steps"
  | "api"
  | "op"
  | "python"
  | "range"
  | "wait"
  | "overhead"
  | "file_read";

export interface TrackInfo {
  /** Number in TraceInfo.tracks. */
  readonly id: number;
  readonly kind: TrackKind;
  /** Index in TraceInfo.processes. */
  readonly process: number;
  /** For people: "stream 7", "thread 1234 (pt_main_thread)". */
  readonly name: string;
  /** The process's number of the device; null: the track is of a thread. */
  readonly device: number | null;
  /** The thread; null: the track is of a device. */
  readonly tid: number | null;
  readonly rows: number;
  /** Its events are drawn in a track of lanes, with those of other streams. Absent: they are not. */
  readonly is_packed?: boolean;
  /** Spans nest: rows of a depth below the first are drawn under it. 1: they do not. */
  readonly depth: number;
}

export interface ProcessInfo {
  readonly pid: number;
  readonly host: string;
  readonly name: string;
}

export interface TraceInfo {
  readonly start_ns: number;
  readonly end_ns: number;
  readonly processes: readonly ProcessInfo[];
  /** What devices are called: "TPU". Absent: "GPU". */
  readonly device_word?: string;
  readonly tracks: readonly TrackInfo[];
  /** Rows of all tables. */
  readonly rows: number;
  /** Sentences about files or blocks that could not be read. */
  readonly faults: readonly string[];
  /** The events are still being read: blocks of the files are drawn in their place. */
  readonly is_rough?: boolean;
}

/** Class of device work or category of a host row: an index in CLASSES. */
export const CLASSES = [
  "gemm",
  "attention",
  "elementwise",
  "copy_cast",
  "reduction",
  "collective",
  "memcpy",
  "memset",
  "other",
  "op",
  "api",
  "python",
  "range",
  "wait",
  "sync",
  "input",
  "file",
] as const;
export type ClassName = (typeof CLASSES)[number];

/** Rectangles of one track in a window, sorted by start; parallel arrays. */
export interface Spans {
  readonly track: number;
  readonly start_ns: Float64Array;
  readonly end_ns: Float64Array;
  /** 0: the outermost. */
  readonly depth: Uint8Array;
  /** Index in the name table of the answer. For a folded cell: 0xffffffff. */
  readonly name: Uint32Array;
  /** Index in CLASSES. For a folded cell the class with most time. */
  readonly cls: Uint8Array;
  /** Row in the track; with the track it names the event. For a folded cell: 0xffffffff. */
  readonly row: Uint32Array;
  /** Events in the cell; 1: a single event. */
  readonly count: Uint32Array;
  /**
   * Time in the cell in which at least one event ran; of a single event its duration. Not a number:
   * it is not known. The events are left out of the page, or are still being read (TraceInfo.is_rough).
   */
  readonly busy_ns: Float64Array;
  /** A recorded event of the track stands for up to so many. Absent: for itself. */
  readonly one_in?: number;
  /** Folded cells as bar charts of themselves. Absent: a cell is drawn as one bar of its class. */
  readonly bars?: Bars;
}

/**
 * Busy time of folded cells by column and class; parallel arrays, sorted by cell and start. A column
 * is a 64th of the width of a cell (so 1 to 2 px), aligned to time 0 like the cell.
 */
export interface Bars {
  /** Bars of rectangle i are first[i] up to first[i + 1]; a single event has none. */
  readonly first: Uint32Array;
  /** When the first event of the column begins, and the last one ends, within the column. */
  readonly start_ns: Float64Array;
  readonly end_ns: Float64Array;
  /** Index in CLASSES. */
  readonly cls: Uint8Array;
  readonly busy_ns: Float64Array;
}

export interface SpansAnswer {
  readonly spans: readonly Spans[];
  readonly names: readonly string[];
}

/** Values of a counter: each holds until the next. */
export interface CounterAnswer {
  readonly track: number;
  readonly time_ns: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
  readonly unit: string;
}

/** The tracks that a question is about. Absent: all. */
export interface SelectedTracks {
  readonly processes?: readonly number[];
  /** Numbers of devices, for tracks of devices: tracks of threads stay. */
  readonly devices?: readonly number[];
  readonly tracks?: readonly number[];
}

/** Returns whether a track is in a selection. */
export function isSelected(info: TrackInfo, selection: SelectedTracks): boolean {
  const { processes, devices, tracks } = selection;
  if (tracks?.includes(info.id) === false || processes?.includes(info.process) === false)
    return false;
  return info.device === null || devices?.includes(info.device) !== false;
}

/** A selection that narrows a question. */
export interface Selection extends SelectedTracks {
  readonly start_ns: number;
  readonly end_ns: number;
}

/** A row of a range table: what ran in the range, cut at its edges, exact. */
export interface RangeRow {
  readonly name: string;
  /** The whole name, where `name` is a short one. */
  readonly full_name?: string;
  readonly cls: ClassName;
  /** Rows that overlap the range. */
  readonly count: number;
  readonly total_ns: number;
  /** Mean, shortest and longest of the whole rows, not cut. */
  readonly mean_ns: number;
  readonly min_ns: number;
  readonly max_ns: number;
}

export interface RangeAnswer {
  readonly kind: TrackKind;
  /** At least one event in so many was recorded: counts and times are estimates. Absent: all were. */
  readonly one_in?: number;
  readonly rows: readonly RangeRow[];
  /** Time in which at least one of them ran, by track. */
  readonly busy_ns: readonly { readonly track: number; readonly busy_ns: number }[];
  /** Events that are left out of the page, and may have run in the range. */
  readonly left_out: number;
}

/** A time in which a device had no work, cut at the edges of the range. */
export interface Gap {
  readonly start_ns: number;
  readonly end_ns: number;
  /** The work that ends it; "": it began behind the range. */
  readonly next: string;
}

/** The gaps of one device as one process used it. */
export interface DeviceGaps {
  /** Index in TraceInfo.processes. */
  readonly process: number;
  readonly device: number;
  /** The part of the range from the device's first work to its last. */
  readonly window_ns: number;
  readonly idle_ns: number;
  readonly gap_count: number;
  /** Work that is left out of the page, and may have run in the range. */
  readonly left_out: number;
  /** The longest, by length. */
  readonly gaps: readonly Gap[];
}

export interface GapsAnswer {
  /** Devices with work in the range or around it. */
  readonly devices: readonly DeviceGaps[];
}

/** Calls by what called them. Node 0 is the root. */
export interface CallTree {
  readonly names: readonly string[];
  /** The number of a caller is smaller. */
  readonly caller: Uint32Array;
  readonly self_ns: Float64Array;
  /** Calls that are left out of the page, and may have run in the range. */
  readonly left_out: number;
}

/** All that is known of one event. */
export interface EventDetail {
  readonly track: number;
  readonly row: number;
  readonly name: string;
  readonly cls: ClassName;
  readonly start_ns: number;
  readonly duration_ns: number;
  /** Name and value for people, in the order to show: grid, block, bytes, stream, correlation... */
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** Events that caused it, nearest first (kernel: its launch; launch: its operation, Python). */
  readonly causes: readonly EventRef[];
  /** Events that it caused. */
  readonly effects: readonly EventRef[];
}

export interface EventRef {
  readonly track: number;
  readonly row: number;
  readonly name: string;
  readonly start_ns: number;
  readonly end_ns: number;
}

export interface SearchAnswer {
  readonly count: number;
  readonly total_ns: number;
  /** The first hits by time, at most the limit that was asked for. */
  readonly hits: readonly EventRef[];
  /** Names that match, with their counts, the most time first. */
  readonly names: readonly {
    readonly name: string;
    readonly count: number;
    readonly total_ns: number;
  }[];
}

export interface Trace {
  readonly info: TraceInfo;
  /**
   * Rectangles of tracks in a window. Events shorter than `ns_per_px * 4` are gathered into cells
   * whose width is a power of two in nanoseconds, 64 to 128 px, aligned to time 0. Sums are exact.
   */
  spans(
    tracks: readonly number[],
    start_ns: number,
    end_ns: number,
    ns_per_px: number,
  ): Promise<SpansAnswer>;
  counter(
    track: number,
    start_ns: number,
    end_ns: number,
    ns_per_px: number,
  ): Promise<CounterAnswer>;
  range(kind: TrackKind, selection: Selection): Promise<RangeAnswer>;
  /** When devices had no work. */
  gaps(selection: Selection): Promise<GapsAnswer>;
  /** The calls of Python functions. */
  calls(selection: Selection): Promise<CallTree>;
  event(track: number, row: number): Promise<EventDetail>;
  search(text: string, limit: number): Promise<SearchAnswer>;
  /** The event of a track at a moment, the innermost; null: none. */
  at(track: number, time_ns: number): Promise<EventRef | null>;
}
