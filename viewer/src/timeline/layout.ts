// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which track stands where. Device first, then processes; a group folds to its header, a pinned
// track stands above all and does not scroll. Heights are in CSS pixels.

import {
  isSelected,
  type ProcessInfo,
  type SelectedTracks,
  type TraceInfo,
  type TrackInfo,
  type TrackKind,
} from "../trace/api";
import { shown } from "./labels";
import { count } from "./units";

export const GUTTER = 172;
export const MINIMAP = 34;
export const RULER = 22;
/** Where the tracks begin, from the top of the canvas. */
export const TOP = MINIMAP + RULER;
const HEADER = 24;
/** Room above the first row of a track, and in all above and below. */
export const PAD = 3;
const PADS = 8;

const ORDER: readonly TrackKind[] = [
  "stream",
  "graph_lane",
  "sync",
  "queue",
  "memory",
  "counter",
  "steps",
  "api",
  "op",
  "python",
  "range",
  "wait",
  "overhead",
  "file_read",
];

const ROW: Record<TrackKind, number> = {
  stream: 38,
  graph_lane: 38,
  sync: 15,
  queue: 30,
  memory: 30,
  counter: 30,
  steps: 18,
  api: 18,
  op: 15,
  python: 15,
  range: 15,
  wait: 15,
  overhead: 15,
  file_read: 15,
};

const TITLE: Partial<Record<TrackKind, string>> = {
  steps: "Steps",
  api: "CUDA API",
  op: "Operators",
  python: "Python",
  range: "Ranges",
  wait: "Waits",
  overhead: "Overhead",
  file_read: "File reads",
};

/** Says if a track is a line of values and not a row of slices. */
export function isCounter(kind: TrackKind): boolean {
  return kind === "queue" || kind === "memory" || kind === "counter";
}

/** A horizontal strip of the timeline. `y` counts from the first strip; of a pinned one, from TOP. */
export interface Band {
  readonly y: number;
  readonly height: number;
  readonly group: string;
  readonly title: string;
  /** Which thread or how many events. */
  readonly caption: string;
  /** What takes no row; "": everything has one. */
  readonly note: string;
  /** null: the header of a group. */
  readonly track: TrackInfo | null;
  readonly rowHeight: number;
  readonly rows: number;
  readonly pinned: boolean;
}

export interface Layout {
  readonly pinned: readonly Band[];
  readonly scrolled: readonly Band[];
  readonly pinnedHeight: number;
  readonly height: number;
}

export interface LayoutState {
  readonly folded: ReadonlySet<string>;
  readonly pinned: ReadonlySet<number>;
  /** Rows that a track's slices take now, and what to say about it; undefined: not known yet. */
  shape(track: number): { readonly rows: number; readonly caption: string } | undefined;
}

/** Names the group of a track: a device of a process, or a process. */
export function groupOf(track: TrackInfo): string {
  return track.device === null ? `p${track.process}` : `d${track.process}.${track.device}`;
}

function titleOf(track: TrackInfo): string {
  const name = shown(track.name, 80);
  const title = TITLE[track.kind];
  if (title !== undefined) return title;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function captionOf(track: TrackInfo): string {
  if (track.kind === "stream") return `${count(track.rows)} events`;
  const title = TITLE[track.kind];
  const name = shown(track.name, 80);
  return title === undefined || title.toLowerCase() === name.toLowerCase() ? "" : name;
}

interface Group {
  readonly key: string;
  readonly title: string;
  readonly caption: string;
  readonly tracks: TrackInfo[];
}

/** Names the thread of a track. A thread whose number is not known has its name only. */
function threadOf(track: TrackInfo): string {
  return track.tid === null ? `name ${track.name}` : `tid ${track.tid}`;
}

/** Returns the order of a track within its group: steps first, then thread by thread. */
function compare(firstOfThread: ReadonlyMap<string, number>) {
  const rank = (kind: TrackKind): number => ORDER.indexOf(kind);
  return (a: TrackInfo, b: TrackInfo): number => {
    if (a.device !== null || b.device !== null) return rank(a.kind) - rank(b.kind) || a.id - b.id;
    if ((a.kind === "steps") !== (b.kind === "steps")) return a.kind === "steps" ? -1 : 1;
    const thread = (track: TrackInfo): number =>
      isCounter(track.kind) ? -1 : (firstOfThread.get(threadOf(track)) ?? 0);
    return thread(a) - thread(b) || rank(a.kind) - rank(b.kind) || a.id - b.id;
  };
}

function processTitle(process: ProcessInfo | undefined, index: number): string {
  const name = process === undefined ? "" : shown(process.name, 80);
  return name === "" || process?.name === "" ? `process ${index}` : name;
}

/** Returns groups in the order of the page: all devices, then all processes. `only`: their tracks. */
export function groups(info: TraceInfo, only: SelectedTracks = {}): Group[] {
  const found = new Map<string, Group>();
  const threads = new Map<number, Map<string, number>>();
  const hosts = new Set(info.processes.map((process) => process.host));
  const several = new Set(info.tracks.filter((t) => t.device !== null).map((t) => t.process));
  for (const track of info.tracks) {
    if (track.is_packed === true || !isSelected(track, only)) continue;
    const key = groupOf(track);
    const process = info.processes[track.process];
    const pid = process === undefined ? "" : `pid ${process.pid}`;
    // A process without a name is named by its number already.
    const unnamed = process?.name.endsWith(` ${process.pid}`) === true;
    const where = hosts.size > 1 && process !== undefined ? ` · ${shown(process.host, 60)}` : "";
    const title = processTitle(process, track.process);
    const group = found.get(key) ?? {
      key,
      title: track.device === null ? title : `${info.device_word ?? "GPU"} ${track.device}`,
      caption:
        track.device === null
          ? (unnamed ? "" : pid) + where
          : several.size > 1
            ? `${title} · ${pid}${where}`
            : "",
      tracks: [],
    };
    found.set(key, group);
    group.tracks.push(track);
    const order = threads.get(track.process) ?? new Map<string, number>();
    threads.set(track.process, order);
    const thread = threadOf(track);
    order.set(thread, Math.min(order.get(thread) ?? track.id, track.id));
  }
  const all = [...found.values()];
  for (const group of all) {
    const process = group.tracks[0]?.process ?? 0;
    group.tracks.sort(compare(threads.get(process) ?? new Map()));
  }
  const isDevice = (group: Group): boolean => group.key.startsWith("d");
  return [...all.filter(isDevice), ...all.filter((group) => !isDevice(group))];
}

function bandOf(track: TrackInfo, y: number, state: LayoutState, pinned: boolean): Band {
  const shape = state.shape(track.id);
  const rowHeight = ROW[track.kind];
  // Before the first answer a few rows keep the place: most nested tracks need as many.
  const rows = isCounter(track.kind) ? 1 : Math.max(1, shape?.rows ?? Math.min(track.depth, 4));
  return {
    y,
    height: rows * rowHeight + PADS,
    group: groupOf(track),
    title: titleOf(track),
    caption: track.kind === "graph_lane" ? `lanes 1 to ${rows}` : captionOf(track),
    note: shape?.caption ?? "",
    track,
    rowHeight,
    rows,
    pinned,
  };
}

/** Returns where everything stands. */
export function layout(all: readonly Group[], state: LayoutState): Layout {
  const pinned: Band[] = [];
  let top = 0;
  const tracks = all.flatMap((group) => group.tracks);
  for (const track of tracks) {
    if (!state.pinned.has(track.id)) continue;
    const band = bandOf(track, top, state, true);
    pinned.push(band);
    top += band.height;
  }
  const scrolled: Band[] = [];
  let y = 0;
  for (const group of all) {
    const folded = state.folded.has(group.key);
    const events = group.tracks.reduce((sum, track) => sum + track.rows, 0);
    const hidden = `${count(group.tracks.length)} tracks, ${count(events)} events folded`;
    const caption = [group.caption, folded ? hidden : ""].filter((text) => text !== "");
    scrolled.push({
      y,
      height: HEADER,
      group: group.key,
      title: group.title,
      caption: caption.join(" · "),
      note: "",
      track: null,
      rowHeight: HEADER,
      rows: 0,
      pinned: false,
    });
    y += HEADER;
    if (folded) continue;
    for (const track of group.tracks) {
      if (state.pinned.has(track.id)) continue;
      const band = bandOf(track, y, state, false);
      scrolled.push(band);
      y += band.height;
    }
  }
  return { pinned, scrolled, pinnedHeight: top, height: y };
}

/** Returns the first of the strips, sorted by y, that ends below a height. */
export function firstBelow(bands: readonly Band[], y: number): number {
  let low = 0;
  let high = bands.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const band = bands[middle];
    if (band !== undefined && band.y + band.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns a scroll position within the bounds of a layout on a canvas of a height. */
export function clampScroll(scroll: number, all: Layout, height: number): number {
  const room = height - TOP - pinnedRoom(all, height);
  return Math.min(Math.max(scroll, 0), Math.max(0, all.height - room));
}

/** Returns the height that pinned tracks take: at most half of what there is. */
export function pinnedRoom(all: Layout, height: number): number {
  return Math.min(all.pinnedHeight, Math.max(0, (height - TOP) / 2));
}

/** A strip and the place of its top on the canvas. */
export interface Placed {
  readonly band: Band;
  readonly y: number;
}

/** Returns the strips that are seen, pinned ones first. */
export function visible(all: Layout, scroll: number, height: number): Placed[] {
  const room = pinnedRoom(all, height);
  const found: Placed[] = [];
  for (const band of all.pinned) if (band.y < room) found.push({ band, y: TOP + band.y });
  const shift = TOP + room - scroll;
  for (let i = firstBelow(all.scrolled, scroll); i < all.scrolled.length; i++) {
    const band = all.scrolled[i];
    if (band === undefined || band.y + shift >= height) break;
    found.push({ band, y: band.y + shift });
  }
  return found;
}

/** Returns the header that stays in sight above the first strip; null: the strip is a header. */
export function stickyHeader(all: Layout, scroll: number, height: number): Placed | null {
  const top = TOP + pinnedRoom(all, height);
  const scrolled = visible(all, scroll, height).filter(({ band }) => !band.pinned);
  const first = scrolled[0];
  if (first === undefined || (first.band.track === null && first.y >= top)) return null;
  const band = all.scrolled.find(
    (header) => header.track === null && header.group === first.band.group,
  );
  if (band === undefined) return null;
  // The next header pushes it out.
  const next = scrolled.find((placed) => placed.band.track === null && placed.y > top);
  return { band, y: next === undefined ? top : Math.min(top, next.y - band.height) };
}

/** Returns the strip at a place of the canvas; null: there is none. */
export function bandAt(all: Layout, scroll: number, height: number, y: number): Placed | null {
  if (y < TOP) return null;
  const room = pinnedRoom(all, height);
  const inPinned = y < TOP + room;
  const sticky = stickyHeader(all, scroll, height);
  if (sticky !== null && !inPinned && y < sticky.y + sticky.band.height) return sticky;
  for (const placed of visible(all, scroll, height)) {
    if (placed.band.pinned !== inPinned) continue;
    if (y >= placed.y && y < placed.y + placed.band.height) return placed;
  }
  return null;
}
