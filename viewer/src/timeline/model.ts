// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The state of the timeline and all that changes it. It knows no canvas and no element: it says
// when to draw, and the page's parts listen to its signals.

import { signal } from "@preact/signals";
import type { EventDetail, SelectedTracks, Trace } from "../trace/api";
import { follow } from "./arrows";
import { Match, MOST_HITS } from "./finding";
import { type Hit, placeOf, type Sight, stripOf } from "./hits";
import type { Command } from "./keys";
import { shown } from "./labels";
import {
  clampScroll,
  GUTTER,
  groupOf,
  groups,
  isCounter,
  type Layout,
  layout,
  pinnedRoom,
  TOP,
  visible,
} from "./layout";
import { type Link, type Owner, readLink, writeLink } from "./link";
import { askMini, type Mini } from "./minimap";
import { Store } from "./store";
import { duration, position } from "./units";
import { around, clamp, History, pan, reveal, same, type Window, zoomAt } from "./view";
import { walkRow, walkSlice, walkStep } from "./walk";

/** What is to be drawn again: all, or only what follows the pointer. */
export type Dirty = "all" | "overlay";

/** A group of more counters, and nothing else, is folded at first. */
const MOST_OPEN_COUNTERS = 4;

/** Milliseconds that the pointer rests before the arrows of a slice are asked for. */
const REST_MS = 60;

export class Model implements Sight {
  readonly whole: Window;
  readonly store: Store;
  readonly selection = signal<Window | null>(null);
  readonly picked = signal<EventDetail | null>(null);
  readonly hovered = signal<{ hit: Hit; x: number; y: number } | null>(null);
  readonly match = signal<Match | null>(null);
  readonly marks = signal<readonly number[]>([]);
  readonly help = signal(false);
  /** The view, for what need not follow each frame. */
  readonly settled = signal<Window>({ start: 0, end: 1 });
  /** A sentence for the live region. */
  readonly spoken = signal("");
  /** A sentence about what could not be read; "": nothing went wrong. */
  readonly fault = signal("");
  /** Faults that were met after opening; null: none. */
  /** Arrows of the slice under the pointer, when it is not the selected one. */
  readonly hoveredDetail = signal<EventDetail | null>(null);
  mini: Mini | null = null;
  view: Window;
  width = 0;
  height = 0;
  scroll = 0;
  pointer: number | null = null;
  readonly groupsOfTracks: readonly string[];
  private readonly groups: ReturnType<typeof groups>;
  private readonly history = new History();
  private readonly folded = new Set<string>();
  private readonly pinned = new Set<number>();
  private readonly listeners = new Set<(what: Dirty) => void>();
  private placed: Layout | null = null;
  private miniWidth = 0;
  private picking = 0;
  private finding = 0;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private settling: ReturnType<typeof setTimeout> | undefined;
  /** Event whose row is to be shown once the canvas has a size. */
  private unseen: EventDetail | null = null;
  /** True until the canvas has its size: then the scales of counters are asked for. */
  private young = true;
  /** Questions about the whole trace that are not answered yet. */
  private waiting = 0;

  constructor(
    readonly trace: Trace,
    link = "",
    /** The tracks that are shown. */
    readonly only: SelectedTracks = {},
    private readonly now: () => number = () => performance.now(),
  ) {
    const { start_ns, end_ns, tracks } = trace.info;
    this.whole = { start: start_ns, end: Math.max(end_ns, start_ns + 1) };
    this.view = this.whole;
    this.groups = groups(trace.info, only);
    // Many counters of a machine's GPU would push the program out of sight.
    for (const { key, tracks: own } of this.groups)
      if (own.length > MOST_OPEN_COUNTERS && own.every((track) => track.kind === "counter"))
        this.folded.add(key);
    this.groupsOfTracks = tracks.map(groupOf);
    this.store = new Store(
      trace,
      this.whole,
      () => this.answered(),
      (reason) => this.failed(reason),
    );
    this.settled.value = this.view;
    this.open(readLink(link, this.whole, tracks));
  }

  close(): void {
    this.store.close();
    clearTimeout(this.rest);
    clearTimeout(this.settling);
    this.listeners.clear();
  }

  /** Calls when something is to be drawn. Returns what ends that. */
  listen(draw: (what: Dirty) => void): () => void {
    this.listeners.add(draw);
    return () => this.listeners.delete(draw);
  }

  private dirty(what: Dirty): void {
    for (const draw of this.listeners) draw(what);
  }

  get layout(): Layout {
    this.placed ??= layout(this.groups, {
      folded: this.folded,
      pinned: this.pinned,
      shape: (track) => this.store.shape(track),
    });
    return this.placed;
  }

  /** Counts a question about the whole trace until it is answered. Then all is drawn again. */
  private count(question: Promise<void>): void {
    this.waiting++;
    void question.finally(() => {
      this.waiting--;
      this.dirty("all");
    });
  }

  /** Whether all that the view shows is there. */
  get isComplete(): boolean {
    return this.waiting === 0 && this.store.isComplete;
  }

  picture(track: number) {
    return this.store.picture(track);
  }

  /** Sets the size of the canvas in CSS pixels. */
  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.scroll = clampScroll(this.scroll, this.layout, height);
    if (this.unseen !== null) this.showRow(this.unseen);
    if (width > 0 && Math.abs(width - this.miniWidth) > 8) {
      this.miniWidth = width;
      this.count(
        askMini(this.trace, this.whole, width, this.only).then(
          (mini) => {
            this.mini = mini;
          },
          (reason: unknown) => this.failed(reason),
        ),
      );
    }
    if (this.young && width > GUTTER) {
      this.young = false;
      const counters = this.trace.info.tracks.filter((track) => isCounter(track.kind));
      const scale = (this.whole.end - this.whole.start) / (width - GUTTER);
      const ids = counters.map((track) => track.id);
      this.count(this.store.askTops(ids, scale));
    }
    this.dirty("all");
  }

  /** Asks for what the frame that is about to be drawn lacks. */
  request(): void {
    if (this.width <= GUTTER) return;
    const seen = visible(this.layout, this.scroll, this.height);
    const tracks = seen.flatMap(({ band }) => (band.track === null ? [] : [band.track.id]));
    const scale = (this.view.end - this.view.start) / (this.width - GUTTER);
    this.store.want(tracks, this.view, scale);
  }

  private answered(): void {
    // New rows move what is below them: the first strip that is seen keeps its place.
    const before = visible(this.layout, this.scroll, this.height).find(({ band }) => !band.pinned);
    this.placed = null;
    if (before !== undefined) {
      const after = this.layout.scrolled.find(
        (band) => band.group === before.band.group && band.track?.id === before.band.track?.id,
      );
      if (after !== undefined) this.scroll += after.y - before.band.y;
    }
    this.scroll = clampScroll(this.scroll, this.layout, this.height);
    this.dirty("all");
  }

  /** Says what could not be read. */
  failed(reason: unknown): void {
    const words = reason instanceof Error ? reason.message : String(reason);
    this.fault.value = `A part of the trace could not be read: ${shown(words)}`;
    this.dirty("all");
  }

  /** Shows another window. `jump`: a move by itself, not a part of a gesture. */
  show(window: Window, jump: boolean): void {
    const next = clamp(window, this.whole);
    if (same(next, this.view)) return;
    this.history.leave(this.view, this.now(), jump);
    this.setView(next);
  }

  /** Closes the card of what was under the pointer: something else is there now. */
  private unhover(): void {
    clearTimeout(this.rest);
    if (this.hovered.value === null) return;
    this.hovered.value = null;
    this.hoveredDetail.value = null;
  }

  private setView(window: Window): void {
    this.view = window;
    this.unhover();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.settled.value = this.view;
    }, 120);
    this.dirty("all");
  }

  zoom(factor: number, at = (this.view.start + this.view.end) / 2): void {
    this.show(zoomAt(this.view, at, factor, this.whole), false);
  }

  pan(by: number): void {
    this.show(pan(this.view, by, this.whole), false);
  }

  scrollBy(by: number): void {
    const scroll = clampScroll(this.scroll + by, this.layout, this.height);
    if (scroll === this.scroll) return;
    this.scroll = scroll;
    this.unhover();
    this.dirty("all");
  }

  select(range: Window | null): void {
    this.selection.value = range === null ? null : clamp(range, this.whole);
    this.dirty("all");
  }

  hover(hit: Hit | null, x: number, y: number, time: number | null): void {
    this.pointer = time;
    const old = this.hovered.value?.hit;
    this.hovered.value = hit === null ? null : { hit, x, y };
    if (old?.track !== hit?.track || old?.row !== hit?.row || old?.start !== hit?.start) {
      this.hoveredDetail.value = null;
      clearTimeout(this.rest);
      if (hit !== null && hit.row !== null) {
        const { track, row } = hit;
        this.rest = setTimeout(() => this.askHovered(track, row), REST_MS);
      }
    }
    this.dirty("overlay");
  }

  private askHovered(track: number, row: number): void {
    this.trace.event(track, row).then(
      (detail) => {
        const hit = this.hovered.value?.hit;
        if (hit?.track !== track || hit.row !== row) return;
        this.hoveredDetail.value = detail;
        this.dirty("overlay");
      },
      (reason: unknown) => this.failed(reason),
    );
  }

  /** Selects an event. `seek`: what moves if the event is not seen; "rows": only the scrolled ones. */
  async pick(track: number, row: number, seek: "all" | "rows" | "nothing"): Promise<void> {
    const turn = ++this.picking;
    try {
      const detail = await this.trace.event(track, row);
      if (turn !== this.picking) return;
      this.picked.value = detail;
      const range = { start: detail.start_ns, end: detail.start_ns + detail.duration_ns };
      if (seek !== "nothing") {
        this.showTrack(track);
        const next = reveal(this.view, range, this.whole);
        if (seek === "all" && !same(next, this.view)) this.show(next, true);
        this.showRow(detail);
      }
      const where = this.trace.info.tracks[track]?.name ?? "";
      const at = position(detail.start_ns, this.whole.end);
      const length = duration(detail.duration_ns);
      this.spoken.value = `${shown(detail.name)}, ${length}, at ${at}, ${shown(where, 80)}`;
      this.dirty("all");
    } catch (reason) {
      if (turn === this.picking) this.failed(reason);
    }
  }

  /** Selects the event of a thread or device that begins and ends with a range, if there is one. */
  private async pickFilling(on: Owner, range: Window): Promise<void> {
    const turn = ++this.picking;
    const { processes, tracks } = this.trace.info;
    const ids = tracks
      .filter((track) => {
        const isOf = on.kind === "thread" ? track.tid === on.id : track.device === on.id;
        return isOf && !isCounter(track.kind) && processes[track.process]?.pid === on.pid;
      })
      .map((track) => track.id);
    if (ids.length === 0) return;
    try {
      // What is much shorter may stay folded.
      const scale = (range.end - range.start) / 64;
      const { spans } = await this.trace.spans(ids, range.start, range.end, scale);
      if (turn !== this.picking) return;
      for (const each of spans) {
        const at = each.row.findIndex(
          (_row, i) =>
            each.count[i] === 1 && each.start_ns[i] === range.start && each.end_ns[i] === range.end,
        );
        if (at < 0) continue;
        await this.pick(each.track, each.row[at] ?? 0, "rows");
        return;
      }
      const first = ids[0];
      if (first !== undefined) this.showTrack(first);
      this.dirty("all");
    } catch (reason) {
      if (turn === this.picking) this.failed(reason);
    }
  }

  unpick(): void {
    this.picking++;
    this.picked.value = null;
    this.dirty("all");
  }

  /** Unfolds the group of a track. */
  private showTrack(track: number): void {
    const group = this.groupsOfTracks[track] ?? "";
    if (!this.pinned.has(track) && this.folded.delete(group)) this.placed = null;
  }

  /** Scrolls until the row of an event is seen; before the canvas has a size, as soon as it has one. */
  private showRow(detail: EventDetail): void {
    this.unseen = this.height <= 0 ? detail : null;
    if (this.unseen !== null) return;
    const end_ns = detail.start_ns + detail.duration_ns;
    const group = this.groupsOfTracks[detail.track] ?? "";
    const place = placeOf(this, { ...detail, end_ns }, group);
    if (place === null || stripOf(this, detail.track, group)?.band.pinned === true) return;
    // The header of the group stays above the rows.
    const top = TOP + pinnedRoom(this.layout, this.height) + 24;
    const low = place.y + place.height + 8;
    if (place.y < top) this.scrollBy(place.y - top - 8);
    else if (low > this.height) this.scrollBy(low - this.height);
  }

  async find(text: string): Promise<void> {
    const turn = ++this.finding;
    if (text.trim() === "") {
      this.match.value = null;
      this.dirty("all");
      return;
    }
    try {
      const answer = await this.trace.search(text, MOST_HITS);
      if (turn !== this.finding) return;
      this.match.value = new Match(text, answer);
      this.dirty("all");
    } catch (reason) {
      if (turn === this.finding) this.failed(reason);
    }
  }

  /** Returns the place of the selected event among the hits; -1: it is none of them. */
  hitIndex(): number {
    const hits = this.match.value?.answer.hits ?? [];
    const picked = this.picked.value;
    if (picked === null) return -1;
    return hits.findIndex((hit) => hit.track === picked.track && hit.row === picked.row);
  }

  /** Selects the next or the previous hit of the search, from the selected event or the view. */
  nextHit(step: 1 | -1): void {
    const hits = this.match.value?.answer.hits ?? [];
    const picked = this.picked.value;
    const from = picked?.start_ns ?? this.view.start;
    const at = this.hitIndex();
    const after = hits.findIndex((hit) => hit.start_ns >= from);
    const count = hits.length;
    const next = at >= 0 ? at + step : step > 0 ? after : (after < 0 ? count : after) - 1;
    const hit = hits[(next + count) % Math.max(count, 1)];
    if (hit !== undefined) void this.pick(hit.track, hit.row, "all");
  }

  togglePin(track: number): void {
    if (!this.pinned.delete(track)) this.pinned.add(track);
    this.relayout();
  }

  toggleFold(group: string): void {
    if (!this.folded.delete(group)) this.folded.add(group);
    this.relayout();
  }

  /** Folds or unfolds the outer frames of a track. */
  toggleOuter(track: number): void {
    this.unhover();
    this.store.toggleOuter(track);
  }

  /** Folds or unfolds the outer frames of the first track in view that has some. */
  private toggleOuterInView(): void {
    for (const { band } of visible(this.layout, this.scroll, this.height)) {
      if (band.track === null || this.picture(band.track.id)?.rows.outer.length === 0) continue;
      if (band.track.kind !== "python") continue;
      this.toggleOuter(band.track.id);
      return;
    }
  }

  private relayout(): void {
    this.placed = null;
    this.scroll = clampScroll(this.scroll, this.layout, this.height);
    this.dirty("all");
  }

  fit(): void {
    const picked = this.picked.value;
    const range =
      this.selection.value ??
      (picked === null
        ? null
        : { start: picked.start_ns, end: picked.start_ns + picked.duration_ns });
    const near = range === null ? this.whole : around(range, 0.08, this.whole);
    this.show(same(near, this.view) ? this.whole : near, true);
  }

  undo(): void {
    const before = this.history.back();
    if (before !== undefined) this.setView(before);
  }

  private mark(): void {
    const picked = this.picked.value;
    const time = this.pointer ?? picked?.start_ns ?? (this.view.start + this.view.end) / 2;
    const marks = this.marks.value;
    this.marks.value = marks.length === 1 ? [...marks, time] : [time];
    const [first, second] = this.marks.value;
    if (first !== undefined && second !== undefined) {
      this.spoken.value = `Measured ${duration(Math.abs(second - first))}`;
    }
    this.dirty("overlay");
  }

  /** Selects the time between two marks, or that of the selected event. */
  private selectMarked(): void {
    const [first, second] = this.marks.value;
    const picked = this.picked.value;
    if (first !== undefined && second !== undefined) {
      this.select({ start: Math.min(first, second), end: Math.max(first, second) });
    } else if (picked !== null) {
      this.select({ start: picked.start_ns, end: picked.start_ns + picked.duration_ns });
    }
    const range = this.selection.value;
    if (range !== null) {
      const from = position(range.start, this.whole.end);
      this.spoken.value = `Selected ${duration(range.end - range.start)} from ${from}`;
    }
  }

  /** The track that a key is about: under the pointer, else of the selected event. */
  private subject(): number | undefined {
    return this.hovered.value?.hit.track ?? this.picked.value?.track;
  }

  /** Closes the innermost thing. */
  private escape(): void {
    if (this.help.value) this.help.value = false;
    else if (this.picked.value !== null) this.unpick();
    else if (this.marks.value.length > 0) this.marks.value = [];
    else if (this.selection.value !== null) this.selection.value = null;
    else void this.find("");
    this.dirty("all");
  }

  /** Does what a key says. "find" belongs to the page, which has the field. */
  run(command: Command): void {
    const span = this.view.end - this.view.start;
    const at = this.pointer ?? undefined;
    const subject = this.subject();
    const actions: Record<Command, () => void> = {
      zoom_in: () => this.zoom(0.7, at),
      zoom_out: () => this.zoom(1 / 0.7, at),
      left: () => this.pan(-span * 0.15),
      right: () => this.pan(span * 0.15),
      fit: () => this.fit(),
      find: () => {},
      help: () => {
        this.help.value = !this.help.value;
      },
      mark: () => this.mark(),
      range: () => this.selectMarked(),
      pin: () => {
        if (subject !== undefined) this.togglePin(subject);
      },
      fold: () => {
        const group = subject === undefined ? this.groups[0]?.key : this.groupsOfTracks[subject];
        if (group !== undefined) this.toggleFold(group);
      },
      outer: () => this.toggleOuterInView(),
      undo: () => this.undo(),
      step_back: () => void walkStep(this, -1),
      step_on: () => void walkStep(this, 1),
      slice_back: () => void walkSlice(this, -1),
      slice_on: () => void walkSlice(this, 1),
      row_up: () => void walkRow(this, -1),
      row_down: () => void walkRow(this, 1),
      follow: () => {
        const picked = this.picked.value;
        const next = picked === null ? undefined : follow(picked);
        if (next !== undefined) void this.pick(next.track, next.row, "all");
      },
      page_up: () => this.scrollBy(-(this.height - TOP) * 0.9),
      page_down: () => this.scrollBy((this.height - TOP) * 0.9),
      escape: () => this.escape(),
    };
    actions[command]();
  }

  /** Shows what a link names. */
  open(link: Link): void {
    if (link.view !== undefined) {
      this.show(link.view, true);
      this.settled.value = this.view;
    }
    if (link.selection !== undefined) {
      this.selection.value = link.selection;
      // A range without a view of its own is seen with its surroundings.
      if (link.view === undefined) this.show(around(link.selection, 0.5, this.whole), true);
    }
    if (link.find !== undefined) void this.find(link.find);
    if (link.on !== undefined && link.selection !== undefined && link.event === undefined)
      void this.pickFilling(link.on, link.selection);
    if (link.event !== undefined) {
      // A link that says what to see is followed to the letter.
      const seek = link.view === undefined ? "all" : "rows";
      void this.pick(link.event.track, link.event.row, seek);
    }
    this.dirty("all");
  }

  /** Follows a link. What was selected before goes, unless the address names nothing at all. */
  openHash(hash: string): void {
    const link = readLink(hash, this.whole, this.trace.info.tracks);
    if (Object.keys(link).length > 0) {
      this.unpick();
      this.selection.value = null;
      this.hovered.value = null;
      this.hoveredDetail.value = null;
    }
    this.open(link);
  }

  /** Returns the address of what is seen now. What else an old address says stays in it. */
  link(old = ""): string {
    const match = this.match.value;
    const picked = this.picked.value;
    const selection = this.selection.value;
    return writeLink(
      {
        view: this.view,
        ...(selection === null ? {} : { selection }),
        ...(picked === null ? {} : { event: { track: picked.track, row: picked.row } }),
        ...(match === null ? {} : { find: match.text }),
      },
      this.whole,
      old,
    );
  }
}
