// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// All that is known of one row, and what caused it: kernel, launch, operation, Python function.
// Correlation ids join work and calls; time joins calls and what runs around them on their thread.

import { CLASSES, type EventDetail, type EventRef, type TrackKind } from "./api";
import type { Cache } from "./cache";
import type { Block } from "./container";
import { decodeExact } from "./exact";
import { faultless } from "./fault";
import { type Column, columnOf, kindOf, type Table } from "./layout";
import { fieldText, type Names } from "./names";
import type { ProcessFile } from "./process_file";
import { knownTable, loadChunk, loadCorrelations } from "./rows";
import { type BlockPiece, isBlockPiece, type Process, type TrackEntry } from "./tracks";

const MOST_EFFECTS = 40;
/** Calls that are looked through for the work of an operation. */
const MOST_CALLS = 400;
const API = kindOf("api");
/** Tracks whose rows are caused by calls of the host. */
const ON_DEVICE: readonly TrackKind[] = ["stream", "graph_lane", "sync"];

interface Place {
  readonly entry: TrackEntry;
  readonly piece: BlockPiece;
  least: number;
  most: number;
}

export class Events {
  /** Blocks with correlation ids by process: calls, and work. */
  private readonly places = new Map<number, Promise<Place[]>>();

  constructor(
    private readonly processes: readonly Process[],
    private readonly tracks: readonly TrackEntry[],
    private readonly names: Names,
    private readonly cache: Cache,
    private readonly streamOf: (process: number, piece: BlockPiece) => string,
  ) {}

  async detail(track: number, row: number): Promise<EventDetail> {
    const entry = this.tracks[track];
    const found = await entry?.spans?.row(row);
    const piece = entry?.spans?.pieceOf(row);
    if (entry === undefined || found === undefined || piece === undefined)
      throw new RangeError("there is no such row");
    const fields: { name: string; value: string }[] = [];
    const full = this.names.full.get(found.name);
    if (full !== undefined) fields.push({ name: "full name", value: full });
    if (found.weight > 1) fields.push({ name: "stands for", value: `${found.weight} events` });
    let correlation = 0;
    if (isBlockPiece(piece)) {
      const file = (this.processes[entry.info.process] as Process).file;
      if (entry.info.kind === "graph_lane")
        fields.push({ name: "stream", value: this.streamOf(entry.info.process, piece) });
      const values = await this.valuesOf(file, piece.block, row - piece.firstRow);
      fields.push(...describe(file, knownTable(piece.block), values));
      const at = columnOf(knownTable(piece.block), "correlation");
      correlation = at < 0 ? 0 : Number(BigInt.asUintN(32, values[at] ?? 0n));
    }
    return {
      track,
      row,
      name: this.names.text[found.name] ?? "",
      cls: this.className(found.name),
      start_ns: found.start,
      duration_ns: found.end - found.start,
      fields,
      causes: await this.causes(entry, found.start, correlation),
      effects: await this.effects(entry, found, correlation),
    };
  }

  className(name: number): EventDetail["cls"] {
    return CLASSES[this.names.cls[name] ?? 0] ?? "other";
  }

  private async valuesOf(file: ProcessFile, block: Block, i: number): Promise<bigint[]> {
    const chunk = await loadChunk(file, block);
    return faultless("block cannot be read", block.offset, () =>
      decodeExact(chunk, knownTable(block)).map((column) => column[i] ?? 0n),
    );
  }

  ref(
    entry: TrackEntry,
    span: { start: number; end: number; name: number; row: number },
  ): EventRef {
    const name = this.names.text[span.name] ?? "";
    const { start, end, row } = span;
    return { track: entry.info.id, row, name, start_ns: start, end_ns: end };
  }

  private async causes(entry: TrackEntry, start: number, correlation: number): Promise<EventRef[]> {
    const { kind, process } = entry.info;
    if (!ON_DEVICE.includes(kind)) return this.around(entry, start);
    if (correlation === 0) return [];
    for (const { entry: calls, row } of await this.rowsOf(process, correlation, true)) {
      const call = await calls.spans?.row(row);
      if (call === undefined) continue;
      return [this.ref(calls, call), ...(await this.around(calls, call.start))];
    }
    return [];
  }

  /** Finds the innermost operation, range and Python function around a moment of a thread. */
  private async around(entry: TrackEntry, time: number): Promise<EventRef[]> {
    const order = ["api", "op", "range", "python"];
    const above = order.slice(order.indexOf(entry.info.kind) + 1);
    const found: EventRef[] = [];
    for (const kind of above) {
      const other = this.sibling(entry, kind);
      const spans = (await other?.spans?.around(time)) ?? [];
      const inner = spans[spans.length - 1];
      if (other !== undefined && inner !== undefined) found.push(this.ref(other, inner));
    }
    return found;
  }

  private sibling(entry: TrackEntry, kind: string): TrackEntry | undefined {
    return this.tracks.find(
      (other) =>
        other.info.kind === kind &&
        other.info.process === entry.info.process &&
        other.number === entry.number,
    );
  }

  private async effects(
    entry: TrackEntry,
    span: { start: number; end: number },
    correlation: number,
  ): Promise<EventRef[]> {
    const { kind } = entry.info;
    if (kind === "api") return this.workOf(entry, [correlation]);
    const calls = this.sibling(entry, "api");
    if (!["op", "range", "python"].includes(kind) || calls?.spans == null) return [];
    const rows: number[] = [];
    await calls.spans.each(span.start, span.end, (call) => {
      rows.push(call.row);
      return rows.length < MOST_CALLS;
    });
    const ids: number[] = [];
    for (const row of rows) ids.push(await this.correlationOf(calls, row));
    return this.workOf(entry, ids);
  }

  private async correlationOf(entry: TrackEntry, row: number): Promise<number> {
    const piece = entry.spans?.pieceOf(row);
    if (piece === undefined || !isBlockPiece(piece)) return 0;
    const ids = await this.correlations(entry, piece);
    return ids?.[row - piece.firstRow] ?? 0;
  }

  private async workOf(entry: TrackEntry, correlations: readonly number[]): Promise<EventRef[]> {
    const found: EventRef[] = [];
    for (const correlation of new Set(correlations)) {
      if (correlation === 0 || found.length >= MOST_EFFECTS) continue;
      for (const work of await this.rowsOf(entry.info.process, correlation, false)) {
        const span = await work.entry.spans?.row(work.row);
        if (span !== undefined && found.length < MOST_EFFECTS)
          found.push(this.ref(work.entry, span));
      }
    }
    return found.sort((x, y) => x.start_ns - y.start_ns);
  }

  private correlations(entry: TrackEntry, piece: BlockPiece): Promise<Uint32Array | null> {
    const { file } = this.processes[entry.info.process] as Process;
    const load = async () => {
      try {
        return await loadCorrelations(file, piece.block);
      } catch (error) {
        file.addFault(error);
        return null;
      }
    };
    return this.cache.get(piece.block, load, (ids) => (ids?.length ?? 0) * 4 + 100);
  }

  /** Finds which block has which ids. Done once for a process. */
  private placesOf(process: number): Promise<Place[]> {
    let found = this.places.get(process);
    if (found === undefined) {
      found = this.findPlaces(process);
      this.places.set(process, found);
    }
    return found;
  }

  private async findPlaces(process: number): Promise<Place[]> {
    const places: Place[] = [];
    for (const entry of this.tracks) {
      if (entry.info.process !== process || entry.spans === null) continue;
      const { kind, is_packed } = entry.info;
      if (is_packed === true || !["api", "stream", "graph_lane"].includes(kind)) continue;
      for (const piece of entry.spans.pieces) {
        if (!isBlockPiece(piece) || piece.isAbsent === true) continue;
        const place = { entry, piece, least: Number.POSITIVE_INFINITY, most: 0 };
        for (const id of (await this.correlations(entry, piece)) ?? []) {
          if (id < place.least) place.least = id;
          if (id > place.most) place.most = id;
        }
        places.push(place);
      }
    }
    return places;
  }

  /** Finds the rows of a correlation id: calls, or work. */
  private async rowsOf(
    process: number,
    correlation: number,
    areCalls: boolean,
  ): Promise<{ entry: TrackEntry; row: number }[]> {
    const found: { entry: TrackEntry; row: number }[] = [];
    for (const { entry, piece, least, most } of await this.placesOf(process)) {
      if (correlation < least || correlation > most) continue;
      const isCall = piece.block.kind === API;
      if (isCall !== areCalls) continue;
      const ids = await this.correlations(entry, piece);
      if (ids === null) continue;
      let i = ids.indexOf(correlation);
      for (; i >= 0 && found.length < MOST_EFFECTS; i = ids.indexOf(correlation, i + 1))
        found.push({ entry, row: piece.firstRow + i });
    }
    return found;
  }
}

function describe(
  file: ProcessFile,
  table: Table,
  values: readonly bigint[],
): { name: string; value: string }[] {
  const fields: { name: string; value: string }[] = [];
  const add = (name: string, value: string) => {
    if (value !== "") fields.push({ name, value });
  };
  table.columns.forEach((column, i) => {
    const value = values[i] ?? 0n;
    // The third column names the row, mostly.
    const isName = i === 2 && (column.type === "string" || column.type === "function");
    if (i === 0 || isName || column.type === "duration" || column.type === "stack") return;
    if (column.type === "signature") {
      describeSignature(file, Number(BigInt.asUintN(32, value)), add);
    } else if (column.fields !== undefined) {
      for (const field of column.fields)
        if (field.type !== "depth" && field.type !== "color")
          add(field.name.replaceAll("_", " "), fieldText(field, BigInt.asUintN(64, value)));
    } else {
      add(column.name.replaceAll("_", " "), valueText(file, column, value));
    }
  });
  return fields;
}

function describeSignature(
  file: ProcessFile,
  id: number,
  add: (name: string, value: string) => void,
): void {
  const signature = file.tables.signatures.get(id);
  if (signature === undefined) return;
  const shape = (numbers: readonly number[]) => numbers.join(" × ");
  add("grid", shape(signature.grid));
  add("block", shape(signature.block));
  if (signature.cluster.some((each) => each > 1)) add("cluster", shape(signature.cluster));
  add("registers a thread", String(signature.registers));
  add("static shared memory", `${signature.staticShared} bytes`);
  add("dynamic shared memory", `${signature.dynamicShared} bytes`);
  add("device", String(signature.device));
}

function valueText(file: ProcessFile, column: Column, value: bigint): string {
  switch (column.type) {
    case "string":
      return file.tables.text(Number(BigInt.asUintN(32, value)));
    case "address":
    case "pc":
      return value === 0n ? "" : `0x${BigInt.asUintN(64, value).toString(16)}`;
    case "bytes":
    case "signed_bytes":
      return value === -1n ? "" : `${value} bytes`;
    case "thread":
    case "graph":
    case "graph_node":
    case "correlation":
    case "result":
      return value === 0n ? "" : value.toString();
    default:
      return column.values?.[value.toString()] ?? value.toString();
  }
}
