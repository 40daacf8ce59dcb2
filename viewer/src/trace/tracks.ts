// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which rows the timeline has: those of devices first, then those of threads. Only headers and
// tables are read for it.

import type { ProcessInfo, TrackInfo, TrackKind } from "./api";
import type { Cache } from "./cache";
import type { Block } from "./container";
import {
  type Curve,
  CurveTrack,
  counterCurve,
  counterIds,
  deviceMemoryCurve,
  heapCurve,
  tensorCurve,
  tensorDevices,
} from "./curves";
import { TraceFault } from "./fault";
import { kindOf, type TableName, tableOf } from "./layout";
import { classedKeys, isRecord, keyNamer, type Names } from "./names";
import { type OutlineTable, outlinePath, readOutline } from "./outline";
import type { ProcessFile } from "./process_file";
import { type JoinedPiece, queueCurve } from "./queue";
import { areOfGraphs, loadCorrelations, loadRows, NO_ROWS } from "./rows";
import { type AskOutline, type Grain, type Piece, SpanTrack } from "./span_track";
import type { Stream } from "./tables";

/** A row of a span's track is a row of this block. */
export interface BlockPiece extends Piece {
  readonly block: Block;
}

export interface Process {
  readonly file: ProcessFile;
  readonly info: ProcessInfo;
}

export interface TrackEntry {
  readonly info: TrackInfo;
  readonly spans: SpanTrack | null;
  readonly curve: CurveTrack | null;
  /** Number of the thread or stream in its file. */
  readonly number: number;
}

const SPAN_TABLES: readonly (readonly [TrackKind, readonly TableName[]])[] = [
  ["stream", ["kernel", "memcpy", "memset", "graph_launch"]],
  ["sync", ["sync", "host_function"]],
  ["api", ["api"]],
  ["op", ["op"]],
  ["python", ["python"]],
  ["range", ["range"]],
  ["wait", ["wait"]],
  ["overhead", ["overhead"]],
  ["file_read", ["file_read"]],
];
const KIND_ORDER: readonly TrackKind[] = [
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
/** The number that CUPTI uses for no stream. */
const NO_STREAM = 0xffffffff;

/** Blocks of a stream that tell whether graphs alone ran on it. */
const MOST_LOOKED_AT = 32;
const MOST_QUEUE_ROWS = 4_000_000;
/** Of more streams with nothing but nodes of graphs a device shows lanes. */
const MOST_GRAPH_STREAMS = 8;
const MOST_HEAP_ROWS = 2_000_000;
const MOST_DEVICES = 64;
/** Threads and streams of a process that have rows. */
const MOST_TRACKS = 16_384;

interface Draft {
  readonly kind: TrackKind;
  readonly process: number;
  readonly name: string;
  readonly device: number | null;
  readonly tid: number | null;
  readonly number: number;
  readonly unit?: string;
  readonly rows: number;
  readonly pieces?: (number: number) => Piece[];
  readonly outline?: AskOutline | null;
  isPacked?: boolean;
  readonly curve?: () => ReturnType<CurveTrack["load"]>;
}

/** What becomes of large tracks. */
export interface Large {
  /** Returns the bytes of an outline; null: nobody makes outlines. */
  readonly outline: ((path: string) => Promise<Uint8Array>) | null;
  readonly grain: Grain;
}

export class TrackBuilder {
  private readonly drafts: Draft[] = [];
  /** Contexts of each device, by file. */
  private readonly contexts = new Map<ProcessFile, Map<number, Set<number>>>();

  constructor(
    private readonly processes: readonly Process[],
    private readonly names: Names,
    private readonly cache: Cache,
    private readonly onFault: (file: ProcessFile, error: unknown) => void,
    private readonly large: Large,
    private readonly mostGraphStreams = MOST_GRAPH_STREAMS,
    private readonly mostHeapRows = MOST_HEAP_ROWS,
  ) {}

  /** `results`: of the passes `steps` and `heap`; a source may lack them. */
  async addAll(results: { readonly steps: unknown; readonly heap: unknown }): Promise<void> {
    for (let i = 0; i < this.processes.length; i++) {
      const { file } = this.processes[i] as Process;
      const byTrack = new Map<string, Block[]>();
      for (const block of file.rowBlocks) {
        const key = `${block.kind} ${block.track}`;
        const list = byTrack.get(key);
        if (list === undefined) byTrack.set(key, [block]);
        else list.push(block);
      }
      const numbers = [...new Set(file.rowBlocks.map((block) => block.track))];
      if (numbers.length > MOST_TRACKS)
        this.onFault(
          file,
          new TraceFault(`more than ${MOST_TRACKS} threads: the rest is left out`),
        );
      for (const number of numbers.sort((x, y) => x - y).slice(0, MOST_TRACKS)) {
        for (const [kind, tables] of SPAN_TABLES) {
          const blocks = tables.flatMap((name) => byTrack.get(`${kindOf(name)} ${number}`) ?? []);
          if (blocks.length !== 0) this.addSpans(kind, i, number, blocks);
        }
        const counters = byTrack.get(`${kindOf("counter")} ${number}`) ?? [];
        const present = counters.filter((block) => !file.isAbsent(block));
        await this.addCounters(i, number, present);
      }
      this.addQueues(i);
      await this.packGraphStreams(i);
      await this.addMemory(i, results.heap);
    }
    this.addSteps(results.steps);
  }

  /** Adds for each device what was launched and waits. Too many rows would take too much memory. */
  private addQueues(process: number): void {
    const { file } = this.processes[process] as Process;
    const own = this.drafts.filter((draft) => draft.process === process);
    const calls = own.filter((draft) => draft.kind === "api");
    const streams = own.filter((draft) => draft.kind === "stream");
    const rowsOf = (drafts: readonly Draft[]) => drafts.reduce((sum, { rows }) => sum + rows, 0);
    if (calls.length === 0 || rowsOf(calls) + rowsOf(streams) > MOST_QUEUE_ROWS) return;
    // A call whose work is left out would wait for ever.
    if (file.hasAbsent(...(SPAN_TABLES[0] as [TrackKind, TableName[]])[1], "api")) return;
    const joined = (drafts: readonly Draft[]) =>
      drafts
        .flatMap((draft) => draft.pieces?.(draft.number) ?? [])
        .filter(isBlockPiece)
        .map((piece): JoinedPiece => {
          return { piece, correlations: () => loadCorrelations(file, piece.block) };
        });
    const devices = [...new Set(streams.map((draft) => draft.device))];
    for (const device of devices.slice(0, MOST_DEVICES)) {
      const work = streams.filter((draft) => draft.device === device);
      const onFault = (error: unknown) => this.onFault(file, error);
      const curve = () => queueCurve(joined(calls), joined(work), onFault);
      const shared = { kind: "queue", process, tid: null, number: 0, unit: "" } as const;
      this.drafts.push({ ...shared, name: "launched, waiting", device, rows: rowsOf(work), curve });
    }
  }

  /** Draws streams that only run nodes of graphs in few lanes, if a device has many of them. */
  private async packGraphStreams(process: number): Promise<void> {
    const { file } = this.processes[process] as Process;
    const byDevice = new Map<number | null, Draft[]>();
    for (const draft of this.drafts) {
      if (draft.kind !== "stream" || draft.process !== process) continue;
      const list = byDevice.get(draft.device);
      if (list === undefined) byDevice.set(draft.device, [draft]);
      else list.push(draft);
    }
    for (const [device, streams] of byDevice) {
      if (streams.length <= this.mostGraphStreams) continue;
      const packed: Draft[] = [];
      for (const draft of streams) if (await this.isOfGraphs(file, draft)) packed.push(draft);
      if (packed.length <= this.mostGraphStreams) continue;
      for (const draft of packed) draft.isPacked = true;
      const pieces = () => joinPieces(packed);
      const rows = packed.reduce((sum, draft) => sum + draft.rows, 0);
      const name = `${packed.length} graph streams`;
      const shared = { kind: "graph_lane", process, tid: null, number: 0 } as const;
      this.drafts.push({ ...shared, name, device, rows, pieces });
    }
  }

  private async isOfGraphs(file: ProcessFile, draft: Draft): Promise<boolean> {
    const pieces = draft.pieces?.(draft.number) ?? [];
    const every = Math.ceil(pieces.length / MOST_LOOKED_AT);
    for (let i = 0; i < pieces.length; i += every) {
      const piece = pieces[i];
      if (piece === undefined || !isBlockPiece(piece)) return false;
      if (piece.isAbsent === true) continue;
      try {
        if (!(await areOfGraphs(file, piece.block))) return false;
      } catch {
        // What cannot be read is reported when it is drawn.
        return false;
      }
    }
    return true;
  }

  /** Names the stream of a row of lanes. */
  streamOf(process: number, piece: BlockPiece): string {
    return this.streamName((this.processes[process] as Process).file, piece.block.track);
  }

  private where(process: number, number: number): { name: string; tid: number | null } {
    const thread = this.processes[process]?.file.tables.threads.get(number);
    const tid = thread?.tid ?? 0;
    const name = thread?.name ?? "";
    if (tid === 0) return { name: name || `thread ${number}`, tid: null };
    return { name: `thread ${tid}${name === "" ? "" : ` (${name})`}`, tid };
  }

  private addSpans(kind: TrackKind, process: number, number: number, blocks: Block[]): void {
    const { file } = this.processes[process] as Process;
    if (file.tables.threads.get(number)?.isTool === true) return;
    const namers = new Map<number, (key: number) => number>();
    const namerOf = (table: number) => {
      let namer = namers.get(table);
      if (namer === undefined) {
        namer = keyNamer(this.names, file, table);
        namers.set(table, namer);
      }
      return namer;
    };
    const pieces = () => {
      let firstRow = 0;
      return blocks.map((block): BlockPiece => {
        const nameOf = namerOf(block.kind);
        const [first, last] = file.rangeOf(block).map(Number) as [number, number];
        const isAbsent = file.isAbsent(block);
        const piece = { block, firstRow, rows: block.count, first, last, isAbsent };
        firstRow += block.count;
        const load = async () => (isAbsent ? NO_ROWS : loadRows(file, block, nameOf));
        return { ...piece, load };
      });
    };
    const rows = blocks.reduce((sum, block) => sum + block.count, 0);
    const stream = file.tables.streams.get(number);
    // CUDA's own time is on its thread, or on a device if no thread is known.
    const isStream =
      kind === "stream" || kind === "sync" || (kind === "overhead" && stream !== undefined);
    const place = isStream
      ? { name: nameOnDevice(kind, stream, this.streamName(file, number)), tid: null }
      : this.where(process, number);
    const device = isStream ? this.deviceOf(file, stream) : null;
    const outline = this.outlineOf(file, number, blocks, namerOf);
    this.drafts.push({ kind, process, ...place, device, number, rows, pieces, outline });
  }

  /** Returns how to ask for the outline of a track; null: nobody makes outlines. */
  private outlineOf(
    file: ProcessFile,
    number: number,
    blocks: readonly Block[],
    namerOf: (table: number) => (key: number) => number,
  ): AskOutline | null {
    const { names } = this;
    const askOutline = this.large.outline;
    if (askOutline === null) return null;
    return async () => {
      const tables = [...new Set(blocks.map((block) => block.kind))].map(
        (table): OutlineTable => ({
          kind: table,
          nameOf: namerOf(table),
          keys: classedKeys(file, table),
          usual: 0,
        }),
      );
      const path = outlinePath(file.file.name, number, tables, names.cls);
      return readOutline(await askOutline(path), tables, names.cls);
    };
  }

  /** Returns the device of a stream; null: it is not known. Rows of waits name their context alone. */
  private deviceOf(file: ProcessFile, stream: Stream | undefined): number | null {
    if (stream === undefined) return 0;
    if (stream.device !== NO_STREAM) return stream.device;
    for (const { device, context } of file.tables.streams.values())
      if (device !== NO_STREAM && context === stream.context) return device;
    return null;
  }

  private streamName(file: ProcessFile, number: number): string {
    const { streams, threads } = file.tables;
    const stream = streams.get(number);
    if (stream === undefined) return `stream on track ${number}`;
    let contexts = this.contexts.get(file);
    if (contexts === undefined) {
      contexts = new Map();
      for (const { device, context } of streams.values())
        if (device !== NO_STREAM)
          contexts.set(device, (contexts.get(device) ?? new Set()).add(context));
      this.contexts.set(file, contexts);
    }
    const which = stream.stream === NO_STREAM ? "no stream" : `stream ${stream.stream}`;
    const given = threads.get(number)?.name ?? "";
    const isOne = (contexts.get(this.deviceOf(file, stream) ?? 0)?.size ?? 0) <= 1;
    const context = isOne ? "" : `, context ${stream.context}`;
    return given === "" ? which + context : `${which} (${given})${context}`;
  }

  private async addCounters(process: number, number: number, blocks: Block[]): Promise<void> {
    if (blocks.length === 0) return;
    const { file } = this.processes[process] as Process;
    const onFault = (error: unknown) => this.onFault(file, error);
    const device = file.tables.sampled.get(number)?.index ?? null;
    for (const [id, rows] of await counterIds(file, blocks, onFault)) {
      const counter = file.tables.counters.get(id);
      const divisor = counter?.divisor ?? 1;
      const name = counter?.name ?? `counter ${id}`;
      const curve = () => counterCurve(file, blocks, id, divisor, onFault);
      const unit = counter?.unit ?? "";
      const tid = null;
      this.drafts.push({ kind: "counter", process, name, device, tid, number, unit, rows, curve });
    }
  }

  private async addMemory(process: number, result: unknown): Promise<void> {
    const { file, info } = this.processes[process] as Process;
    const onFault = (error: unknown) => this.onFault(file, error);
    const of = (name: TableName) =>
      file.presentBlocks.filter((block) => block.kind === kindOf(name));
    const tensors = of("tensor");
    const shared = { kind: "memory", process, tid: null, number: 0, unit: "bytes" } as const;
    for (const [code, rows] of await tensorDevices(file, tensors, onFault)) {
      const type = code >> 8;
      const index = code & 0xff;
      const isHost = type === 0;
      const name = isHost ? "CPU allocator" : `allocator of device ${index === 0xff ? 0 : index}`;
      const device = isHost ? null : index === 0xff ? 0 : index;
      const curve = () => tensorCurve(file, tensors, code, onFault);
      this.drafts.push({ ...shared, name, device, rows, curve });
    }
    const heap = of("heap");
    const calls = heap.reduce((sum, block) => sum + block.count, 0);
    const name =
      file.tables.heapPeriod > 0 && !file.tables.isHeapExact ? "heap, estimated" : "heap";
    // Live bytes are sums over all rows before: none may be left out.
    if (calls > 0 && calls <= this.mostHeapRows && !file.hasAbsent("heap")) {
      const curve = () => heapCurve(file, heap, onFault);
      this.drafts.push({ ...shared, name, device: null, rows: calls, curve });
    } else {
      // The pass has summed all rows, and tells some moments of the curve.
      const points = pointsOf(result, info);
      const curve = async () => points;
      const rows = points.time.length;
      if (rows > 0) this.drafts.push({ ...shared, name, device: null, rows, curve });
    }
    const byDevice = new Map<number, Block[]>();
    for (const block of file.hasAbsent("device_memory") ? [] : of("device_memory")) {
      const device = file.tables.streams.get(block.track)?.device ?? 0;
      const list = byDevice.get(device);
      if (list === undefined) byDevice.set(device, [block]);
      else list.push(block);
    }
    for (const [device, blocks] of byDevice) {
      const rows = blocks.reduce((sum, block) => sum + block.count, 0);
      const curve = () => deviceMemoryCurve(file, blocks, onFault);
      this.drafts.push({ ...shared, name: "memory from CUDA", device, rows, curve });
    }
  }

  /** Adds the steps that the pass found: one track for each series. */
  private addSteps(result: unknown): void {
    const rows = isRecord(result) && Array.isArray(result.steps) ? result.steps : [];
    const series = new Map<string, { process: number; tid: number; rows: StepRow[] }>();
    for (const row of rows) {
      if (!isRecord(row)) continue;
      const [start, duration] = [row.start_ns, row.duration_ns];
      if (typeof start !== "number" || typeof duration !== "number") continue;
      const tid = typeof row.tid === "number" ? row.tid : 0;
      const process = this.processes.findIndex(
        ({ info }) => info.pid === row.pid && (row.host === undefined || info.host === row.host),
      );
      const known = this.processes.findIndex(({ info }) => info.pid === row.pid);
      const place = process >= 0 ? process : known;
      if (place < 0) continue;
      const key = `${place} ${tid}`;
      let list = series.get(key);
      if (list === undefined) {
        list = { process: place, tid, rows: [] };
        series.set(key, list);
      }
      const name = this.names.add(`step ${String(row.number ?? "")}`, "range");
      list.rows.push({ start, end: start + Math.max(duration, 0), name });
    }
    for (const { process, tid, rows: steps } of series.values()) {
      const pieces = () => [stepPiece(steps)];
      const name = series.size === 1 ? "steps" : `steps of thread ${tid}`;
      const kind = "steps";
      this.drafts.push({
        kind,
        process,
        name,
        device: null,
        tid,
        number: 0,
        rows: steps.length,
        pieces,
      });
    }
  }

  /** Returns the tracks in the order of the page. Their depth is not known yet. */
  finish(): {
    info: TrackInfo;
    spans: SpanTrack | null;
    curve: CurveTrack | null;
    number: number;
  }[] {
    const isHost = (draft: Draft) =>
      KIND_ORDER.indexOf(draft.kind) < KIND_ORDER.indexOf("steps") ? 0 : 1;
    const rank = (draft: Draft) => KIND_ORDER.indexOf(draft.kind);
    // Memory of the host comes after the devices.
    const deviceOf = (draft: Draft) => draft.device ?? NO_STREAM;
    const compare = (x: Draft, y: Draft) =>
      isHost(x) - isHost(y) ||
      x.process - y.process ||
      (isHost(x) === 0 ? deviceOf(x) - deviceOf(y) || rank(x) - rank(y) : 0) ||
      // Steps of a process come before its threads.
      Number(y.kind === "steps") - Number(x.kind === "steps") ||
      x.number - y.number ||
      rank(x) - rank(y);
    return [...this.drafts].sort(compare).map((draft, id) => this.make(draft, id));
  }

  private make(draft: Draft, id: number) {
    const { kind, process, name, device, tid, rows, number } = draft;
    const { file } = this.processes[process] as Process;
    const onFault = (error: unknown) => this.onFault(file, error);
    const pieces = draft.pieces?.(number);
    const spans =
      pieces === undefined
        ? null
        : new SpanTrack(
            id,
            pieces,
            this.names.cls,
            this.cache,
            onFault,
            draft.outline ?? null,
            this.large.grain,
          );
    const curve =
      draft.curve === undefined
        ? null
        : new CurveTrack(id, rows, draft.unit ?? "", this.cache, draft.curve);
    const packed = draft.isPacked === true ? { is_packed: true } : {};
    const info = { id, kind, process, name, device, tid, rows, depth: 1, ...packed };
    return { info, spans, curve, number };
  }
}

/** Returns the moments of a process's heap that the pass `heap` tells. */
function pointsOf(result: unknown, { pid }: ProcessInfo): Curve {
  const points = isRecord(result) && Array.isArray(result.timeline) ? result.timeline : [];
  const time: number[] = [];
  const value: number[] = [];
  for (const point of points) {
    if (!isRecord(point) || point.pid !== pid) continue;
    const { time_ns, live_bytes } = point;
    if (typeof time_ns !== "number" || typeof live_bytes !== "number") continue;
    time.push(time_ns);
    value.push(live_bytes);
  }
  return { time: Float64Array.from(time), value: Float64Array.from(value) };
}

/** Returns the pieces of several tracks, with rows that are numbered on. */
function joinPieces(drafts: readonly Draft[]): Piece[] {
  const joined: Piece[] = [];
  let firstRow = 0;
  for (const draft of drafts) {
    for (const piece of draft.pieces?.(draft.number) ?? [])
      joined.push({ ...piece, firstRow: firstRow + piece.firstRow });
    firstRow += draft.rows;
  }
  return joined;
}

/** Names a track of a stream by what it shows. */
function nameOnDevice(kind: TrackKind, stream: Stream | undefined, name: string): string {
  if (kind === "overhead") return "overhead";
  if (kind !== "sync") return name;
  return stream?.stream === NO_STREAM ? "waits for the device" : `waits for ${name}`;
}

interface StepRow {
  readonly start: number;
  readonly end: number;
  readonly name: number;
}

function stepPiece(steps: readonly StepRow[]): Piece {
  const rows = {
    count: steps.length,
    start: Float64Array.from(steps, (step) => step.start),
    end: Float64Array.from(steps, (step) => step.end),
    name: Uint32Array.from(steps, (step) => step.name),
  };
  const first = rows.start.reduce((least, each) => Math.min(least, each), Infinity);
  const last = rows.end.reduce((most, each) => Math.max(most, each), -Infinity);
  return { firstRow: 0, rows: steps.length, first, last, load: async () => rows };
}

/** Returns whether a piece is a block of a file. */
export function isBlockPiece(piece: Piece): piece is BlockPiece {
  return "block" in piece && tableOf((piece as BlockPiece).block.kind) !== undefined;
}
