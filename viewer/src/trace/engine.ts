// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The trace of a source: what api.ts promises. It runs in a worker, or in the page where there are
// no workers.

import type { Source } from "../data/source";
import {
  type CallTree,
  type CounterAnswer,
  type EventDetail,
  type EventRef,
  type GapsAnswer,
  isSelected,
  type LateFaults,
  type ProcessInfo,
  type RangeAnswer,
  type RangeRow,
  type SearchAnswer,
  type Selection,
  type Spans,
  type SpansAnswer,
  type Trace,
  type TraceInfo,
  type TrackKind,
} from "./api";
import { Cache } from "./cache";
import { makeCallTree } from "./call_tree";
import { Events } from "./events";
import { TraceFault } from "./fault";
import { FOLDED, zoomOf } from "./fold";
import { findGaps } from "./gaps";
import { kindOf } from "./layout";
import { kernelNames, Names } from "./names";
import { ProcessFile } from "./process_file";
import { orderProcesses, placeAll } from "./process_order";
import { GRAIN } from "./span_track";
import { NameSums } from "./sums";
import { type BundleFacts, readBundle } from "./tables";
import { type Process, TrackBuilder, type TrackEntry } from "./tracks";

/** Decoded rows in memory. */
const CACHE_BYTES = 56 << 20;
/** Up to so many rows the depth of all tracks is found at once. */
const EAGER_ROWS = 3_000_000;
const MOST_BUNDLE = 1 << 20;

export interface Options {
  readonly cacheBytes?: number;
  readonly eagerRows?: number;
  /** Tracks with more rows are drawn roughly first, and take outlines. */
  readonly longRows?: number;
  /** Of more streams of graphs a device shows lanes. */
  readonly graphStreams?: number;
  /** Of more allocations a process has the moments of the pass `heap` as its curve. */
  readonly heapRows?: number;
}

class OpenedTrace implements Trace {
  /** Faults that were met while opening. */
  private readonly early: number;

  constructor(
    readonly info: TraceInfo,
    private readonly tracks: readonly TrackEntry[],
    private readonly names: Names,
    private readonly events: Events,
    private readonly files: readonly ProcessFile[],
  ) {
    this.early = this.faults().length;
  }

  private faults(): string[] {
    return this.files.flatMap((file) => file.faults);
  }

  /** Tells of faults that were met after opening. */
  private late(): { faults?: LateFaults } {
    let count = -this.early;
    for (const file of this.files) count += file.faults.length;
    if (count <= 0) return {};
    const known = new Set(this.info.faults);
    return { faults: { count, first: this.faults().find((each) => !known.has(each)) ?? "" } };
  }

  async spans(
    tracks: readonly number[],
    start: number,
    end: number,
    nsPerPx: number,
  ): Promise<SpansAnswer> {
    const zoom = zoomOf(nsPerPx);
    const drawn: Spans[] = [];
    for (const id of tracks) {
      const track = this.tracks[id]?.spans;
      if (track != null) drawn.push(await track.draw(zoom, start, end));
    }
    const places = new Map<number, number>();
    const names: string[] = [];
    for (const spans of drawn) {
      for (let i = 0; i < spans.name.length; i++) {
        const name = spans.name[i] as number;
        if (name === FOLDED) continue;
        let place = places.get(name);
        if (place === undefined) {
          place = names.length;
          names.push(this.names.text[name] ?? "");
          places.set(name, place);
        }
        spans.name[i] = place;
      }
    }
    return { spans: drawn, names, ...this.late() };
  }

  async counter(
    track: number,
    start: number,
    end: number,
    nsPerPx: number,
  ): Promise<CounterAnswer> {
    const curve = this.tracks[track]?.curve;
    if (curve == null) throw new RangeError("there is no such curve");
    return { ...(await curve.answer(start, end, nsPerPx)), ...this.late() };
  }

  async range(kind: TrackKind, selection: Selection): Promise<RangeAnswer> {
    const sums = new NameSums();
    const busy: { track: number; busy_ns: number }[] = [];
    let leftOut = 0;
    let oneIn = 1;
    for (const { info, spans } of this.tracks) {
      if (info.kind !== kind || spans === null || !isSelected(info, selection)) continue;
      leftOut += spans.absentRows(selection.start_ns, selection.end_ns);
      const time = await spans.sumRange(selection.start_ns, selection.end_ns, sums);
      oneIn = Math.max(oneIn, spans.oneIn);
      busy.push({ track: info.id, busy_ns: time });
    }
    const rows: RangeRow[] = [];
    for (const [name, sum] of sums.byName) {
      const full = this.names.full.get(name);
      rows.push({
        name: this.names.text[name] ?? "",
        ...(full === undefined ? {} : { full_name: full }),
        cls: this.events.className(name),
        count: sum.count,
        total_ns: sum.total,
        mean_ns: (sum.total + sum.cut) / Math.max(sum.count, 1),
        min_ns: sum.min,
        max_ns: sum.max,
      });
    }
    rows.sort((x, y) => y.total_ns - x.total_ns || (x.name < y.name ? -1 : 1));
    const one_in = oneIn > 1 ? { one_in: oneIn } : {};
    return { kind, rows, busy_ns: busy, left_out: leftOut, ...one_in, ...this.late() };
  }

  async gaps(selection: Selection): Promise<GapsAnswer> {
    const nameOf = (name: number) => this.names.text[name] ?? "";
    return { devices: await findGaps(this.tracks, selection, nameOf), ...this.late() };
  }

  async calls(selection: Selection): Promise<CallTree> {
    const nameOf = (name: number) => this.names.text[name] ?? "";
    return { ...(await makeCallTree(this.tracks, selection, nameOf)), ...this.late() };
  }

  event(track: number, row: number): Promise<EventDetail> {
    return this.events.detail(track, row);
  }

  async search(text: string, limit: number): Promise<SearchAnswer> {
    const wanted = text.toLowerCase();
    const none: SearchAnswer = { count: 0, total_ns: 0, hits: [], names: [] };
    if (wanted === "") return none;
    const sums = new NameSums();
    for (const { info, spans } of this.tracks)
      if (spans !== null && info.kind !== "graph_lane") await spans.sumAll(sums);
    // Names are complete only now: they come with the rows.
    const named = new Set<number>();
    this.names.text.forEach((name, id) => {
      const full = this.names.full.get(id) ?? "";
      if (name.toLowerCase().includes(wanted) || full.toLowerCase().includes(wanted)) named.add(id);
    });
    const names: { name: string; count: number; total_ns: number }[] = [];
    let count = 0;
    let total = 0;
    for (const id of named) {
      const sum = sums.byName.get(id);
      if (sum === undefined) continue;
      count += sum.count;
      total += sum.total;
      names.push({ name: this.names.text[id] ?? "", count: sum.count, total_ns: sum.total });
    }
    names.sort((x, y) => y.total_ns - x.total_ns || y.count - x.count);
    const hits: EventRef[] = [];
    for (const entry of this.tracks) {
      if (entry.spans === null || entry.info.is_packed === true) continue;
      for (const span of await entry.spans.find(named, limit))
        hits.push(this.events.ref(entry, span));
    }
    hits.sort((x, y) => x.start_ns - y.start_ns);
    return { count, total_ns: total, hits: hits.slice(0, limit), names };
  }

  async at(track: number, time: number): Promise<EventRef | null> {
    const entry = this.tracks[track];
    const span = await entry?.spans?.at(time);
    return entry === undefined || span == null ? null : this.events.ref(entry, span);
  }
}

async function bundleFacts(source: Source): Promise<BundleFacts | null> {
  const file = source.files.find((each) => each.name === "bundle.pb");
  if (file === undefined || file.size > MOST_BUNDLE) return null;
  try {
    return readBundle(await file.read(0, file.size));
  } catch {
    return null;
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns what people call the process: its title, its script, its program. */
function processName(file: ProcessFile): string {
  const { title, argv, executable } = file.tables;
  if (file.isSampler) return "hardware counters";
  if (title !== "") return title;
  const script = argv.slice(1).find((each) => !each.startsWith("-") && /\.(py|sh)$/.test(each));
  if (script !== undefined) return baseName(script);
  const at = argv.indexOf("-m");
  const module = at > 0 ? argv[at + 1] : undefined;
  if (module !== undefined) return module;
  return baseName(argv[0] ?? "") || baseName(executable) || `process ${file.pid}`;
}

function hasTpu({ tables }: ProcessFile): boolean {
  return [...tables.devices.values()].some((name) => /\bTPU\b/.test(name));
}

/** Returns the JSON of a pass; null: it is not there. */
async function resultOf(source: Source, pass: string): Promise<unknown> {
  try {
    return await source.result(pass);
  } catch {
    return null;
  }
}

/** Opens files. Files that cannot be read are told of and left out. */
async function openFiles(
  source: Source,
  faults: string[],
  progress: (done: number, all: number) => void,
): Promise<ProcessFile[]> {
  const named = source.files.filter((file) => file.name.endsWith(".gpt"));
  const opened: ProcessFile[] = [];
  for (const [i, each] of named.entries()) {
    const file = new ProcessFile(each);
    try {
      await file.open();
      opened.push(file);
    } catch (error) {
      const why = error instanceof Error ? `: ${error.message}` : "";
      const what = error instanceof TraceFault ? error.what : `it cannot be read${why}`;
      faults.push(`${each.name}: ${what}`);
    }
    progress(i + 1, named.length);
  }
  return opened;
}

function bounds(processes: readonly Process[]): { start: number; end: number } {
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  const programs = processes.filter(({ file }) => !file.isSampler);
  for (const { file } of programs.length === 0 ? processes : programs) {
    for (const block of file.rowBlocks) {
      const [first, last] = file.rangeOf(block);
      start = Math.min(start, Number(first));
      end = Math.max(end, Number(last));
    }
  }
  return start <= end ? { start, end } : { start: 0, end: 0 };
}

/** Returns the result of the pass `heap`, if there are files whose curves it tells. */
async function heapResult(source: Source, files: readonly ProcessFile[]): Promise<unknown> {
  const hasHeap = files.some((file) => file.tables.heapPeriod > 0 || file.tables.isHeapExact);
  return hasHeap ? resultOf(source, "heap") : null;
}

/** Counts the rows of a file. Rows of an import that only belong to others do not count. */
function rowsOf(file: ProcessFile): number {
  const others = file.isImported ? [kindOf("row_detail"), kindOf("launch")] : [];
  return file.rowBlocks.reduce(
    (sum, block) => sum + (others.includes(block.kind) ? 0 : block.count),
    0,
  );
}

export async function openInPage(
  source: Source,
  progress: (done: number, all: number) => void = () => {},
  options: Options = {},
): Promise<Trace> {
  const faults: string[] = [];
  const bundle = await bundleFacts(source);
  const files = await openFiles(source, faults, progress);
  for (const file of files) file.tables.host ||= bundle?.host ?? "";
  const samplers = files.filter((file) => file.isSampler);
  const ordered = orderProcesses(files.filter((file) => !file.isSampler));
  placeAll(ordered, samplers, bundle);
  const processes = [...ordered, ...samplers].map((file): Process => {
    const info: ProcessInfo = { pid: file.pid, host: file.tables.host, name: processName(file) };
    return { file, info };
  });
  const names = new Names(kernelNames(await resultOf(source, "kernels")));
  const cache = new Cache(options.cacheBytes ?? CACHE_BYTES);
  const onFault = (file: ProcessFile, error: unknown) => file.addFault(error);
  const outline = source.outline?.bind(source) ?? null;
  const grain = options.longRows === undefined ? GRAIN : { ...GRAIN, longRows: options.longRows };
  const builder = new TrackBuilder(
    processes,
    names,
    cache,
    onFault,
    { outline, grain },
    options.graphStreams,
    options.heapRows,
  );
  const [steps, heap] = [await resultOf(source, "steps"), await heapResult(source, files)];
  await builder.addAll({ steps, heap });
  const drafts = builder.finish();
  const rows = files.reduce((sum, file) => sum + rowsOf(file), 0);
  const isEager = rows <= (options.eagerRows ?? EAGER_ROWS);
  const tracks: TrackEntry[] = [];
  for (const draft of drafts) {
    if (isEager) await draft.spans?.summarize();
    else await draft.spans?.estimateDepth();
    tracks.push({ ...draft, info: { ...draft.info, depth: draft.spans?.depth ?? 1 } });
  }
  for (const file of files) faults.push(...file.faults);
  const { start, end } = bounds(processes);
  const info: TraceInfo = {
    start_ns: start,
    end_ns: end,
    processes: processes.map((process) => process.info),
    ...(files.some(hasTpu) && { device_word: "TPU" }),
    tracks: tracks.map((track) => track.info),
    rows,
    faults,
  };
  return new OpenedTrace(
    info,
    tracks,
    names,
    new Events(processes, tracks, names, cache, (process, piece) =>
      builder.streamOf(process, piece),
    ),
    files,
  );
}
