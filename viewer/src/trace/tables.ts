// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tables of entries of one file: what rows refer to. Later entries complete or replace earlier
// ones, as proto/FORMAT.md says. Sizes of all tables are bounded.

import { openChunk } from "./chunk";
import type { Snapshot } from "./clock";
import type { Block } from "./container";
import { TraceFault } from "./fault";
import { entryOf } from "./layout";
import { decodeText, PbReader } from "./protobuf";

const MOST_STRINGS = 2 << 20;
const MOST_STRING_BYTES = 256 << 20;
const MOST_ENTRIES = 1 << 20;

export interface Signature {
  name: number;
  device: number;
  context: number;
  grid: number[];
  block: number[];
  cluster: number[];
  registers: number;
  staticShared: number;
  dynamicShared: number;
}

export interface Stream {
  device: number;
  context: number;
  stream: number;
}

export interface Thread {
  tid: number;
  name: string;
  isTool: boolean;
}

export interface Counter {
  name: string;
  unit: string;
  divisor: number;
  source: string;
}

export interface SampledDevice {
  index: number;
  name: string;
}

export interface CaptureMark {
  readonly isStart: boolean;
  readonly ticks: bigint;
}

export class Tables {
  readonly strings = new Map<number, Uint8Array>();
  readonly signatures = new Map<number, Signature>();
  readonly streams = new Map<number, Stream>();
  readonly threads = new Map<number, Thread>();
  readonly functions = new Map<number, number>();
  readonly devices = new Map<number, string>();
  readonly counters = new Map<number, Counter>();
  readonly sampled = new Map<number, SampledDevice>();
  readonly snapshots: Snapshot[] = [];
  readonly cuptiSnapshots: Snapshot[] = [];
  readonly marks: CaptureMark[] = [];
  pid = 0;
  ppid = 0;
  host = "";
  executable = "";
  title = "";
  argv: string[] = [];
  clockKind = 0;
  ticksPerSecond = 0;
  /** Bytes between two samples of the heap; 0: every allocation was recorded. */
  heapPeriod = 0;
  /** Every allocation was recorded. */
  isHeapExact = false;
  keptFrom = 0n;
  importedFrom = "";
  isSampler = false;
  private stringBytes = 0;

  /** Takes the entries of a decompressed table. */
  add(block: Block, message: Uint8Array): void {
    const entry = entryOf(block.kind);
    if (entry === undefined) return;
    const chunk = openChunk(message);
    while (chunk.next()) {
      if (chunk.number === 1 && chunk.value() !== block.kind)
        throw new TraceFault("table is not what its header says");
      if (chunk.number !== entry.field) continue;
      const reader = chunk.message();
      switch (entry.name) {
        case "meta":
          this.addMeta(reader);
          break;
        case "strings":
          this.addStrings(reader);
          break;
        case "clocks":
          each(reader, 1, (one) => this.addSnapshot(one));
          break;
        case "threads":
          each(reader, 2, (one) => this.addThread(one));
          break;
        case "signatures":
          each(reader, 1, (one) => this.addSignature(one));
          break;
        case "streams":
          each(reader, 1, (one) => this.addStream(one));
          break;
        case "devices":
          each(reader, 1, (one) => this.addDevice(one));
          break;
        case "functions":
          this.addFunctions(reader);
          break;
        case "counters":
          this.addCounters(reader);
          break;
        default:
          break;
      }
    }
  }

  text(id: number): string {
    const bytes = this.strings.get(id);
    if (bytes !== undefined) return decodeText(bytes);
    return id === 0 ? "" : id === 1 ? "(not kept: too many names)" : "(unknown name)";
  }

  private addMeta(reader: PbReader): void {
    const argv: string[] = [];
    while (reader.next()) {
      switch (reader.number) {
        case 1:
          this.pid = reader.int32();
          break;
        case 2:
          this.ppid = reader.int32();
          break;
        case 4:
          this.executable = reader.text();
          break;
        case 5:
          if (argv.length < 4096) argv.push(reader.text());
          break;
        case 6:
          this.host = reader.text();
          break;
        case 9:
          this.clockKind = reader.value();
          break;
        case 10:
          this.ticksPerSecond = reader.value();
          break;
        case 12:
          this.isHeapExact = reader.value() === 2;
          break;
        case 13:
          this.heapPeriod = reader.value();
          break;
        case 15:
          this.addMark(reader.message());
          break;
        case 22:
          this.keptFrom = reader.big();
          break;
        case 24:
          this.isSampler = reader.value() !== 0;
          break;
        case 26:
          this.title = reader.text();
          break;
        case 27:
          this.importedFrom = reader.text();
          break;
        default:
          break;
      }
    }
    if (argv.length !== 0) this.argv = argv;
  }

  private addMark(reader: PbReader): void {
    let isStart = false;
    let ticks = 0n;
    while (reader.next()) {
      if (reader.number === 2) isStart = reader.value() !== 0;
      if (reader.number === 3) ticks = reader.big();
    }
    if (this.marks.length < MOST_ENTRIES) this.marks.push({ isStart, ticks });
  }

  private addStrings(reader: PbReader): void {
    const ids: number[] = [];
    const texts: Uint8Array[] = [];
    while (reader.next()) {
      if (reader.number === 1) reader.numbers(ids, MOST_STRINGS);
      if (reader.number !== 2) continue;
      if (reader.wire !== 2) throw new TraceFault("a string is no text");
      texts.push(reader.data());
    }
    const count = Math.min(ids.length, texts.length);
    for (let i = 0; i < count; i++) {
      const text = texts[i] as Uint8Array;
      this.stringBytes += text.length;
      if (this.strings.size >= MOST_STRINGS || this.stringBytes > MOST_STRING_BYTES)
        throw new TraceFault("more strings than a recorder keeps: the rest is left out");
      const id = ids[i] as number;
      if (!this.strings.has(id)) this.strings.set(id, text);
    }
    if (ids.length !== texts.length)
      throw new TraceFault("string table has different numbers of ids and texts");
  }

  private addSnapshot(reader: PbReader): void {
    let [ticks, monotonic, realtime, cupti] = [0n, 0n, 0n, 0n];
    let bracket = 0;
    while (reader.next()) {
      if (reader.number === 1) ticks = reader.big();
      if (reader.number === 2) monotonic = reader.big();
      if (reader.number === 3) realtime = reader.big();
      if (reader.number === 4) bracket = reader.value();
      if (reader.number === 6) cupti = reader.big();
    }
    const list = cupti !== 0n ? this.cuptiSnapshots : this.snapshots;
    if (list.length < MOST_ENTRIES) list.push({ ticks, monotonic, realtime, bracket, cupti });
  }

  private addThread(reader: PbReader): void {
    let track = 0;
    const thread: Thread = { tid: 0, name: "", isTool: false };
    while (reader.next()) {
      if (reader.number === 1) track = reader.value();
      if (reader.number === 2) thread.tid = reader.int32();
      if (reader.number === 3) thread.name = reader.text();
      if (reader.number === 8) thread.isTool = reader.value() !== 0;
    }
    if (track === 0 || this.threads.size >= MOST_ENTRIES) return;
    const known = this.threads.get(track);
    if (known === undefined) {
      this.threads.set(track, thread);
      return;
    }
    if (thread.tid !== 0) known.tid = thread.tid;
    if (thread.name !== "") known.name = thread.name;
    known.isTool ||= thread.isTool;
  }

  private addSignature(reader: PbReader): void {
    const value = new Map<number, number>();
    const three: Record<number, number[]> = { 5: [], 6: [], 7: [] };
    while (reader.next()) {
      const list = three[reader.number];
      if (list !== undefined) reader.numbers(list, 3);
      else if (reader.wire === 0) value.set(reader.number, reader.value());
    }
    const of = (number: number) => value.get(number) ?? 0;
    if (this.signatures.has(of(1)) || this.signatures.size >= MOST_ENTRIES) return;
    this.signatures.set(of(1), {
      name: of(2),
      device: of(3),
      context: of(4),
      grid: three[5] ?? [],
      block: three[6] ?? [],
      cluster: three[7] ?? [],
      registers: of(8),
      staticShared: of(9),
      dynamicShared: of(10),
    });
  }

  private addStream(reader: PbReader): void {
    let track = 0;
    const stream: Stream = { device: 0, context: 0, stream: 0 };
    while (reader.next()) {
      if (reader.number === 1) track = reader.value();
      if (reader.number === 2) stream.device = reader.value();
      if (reader.number === 3) stream.context = reader.value();
      if (reader.number === 4) stream.stream = reader.value();
    }
    if (track !== 0 && this.streams.size < MOST_ENTRIES) this.streams.set(track, stream);
  }

  private addDevice(reader: PbReader): void {
    let id = 0;
    let name = "";
    while (reader.next()) {
      if (reader.number === 1) id = reader.value();
      if (reader.number === 2) name = reader.text();
    }
    if (this.devices.size < 1024 && !this.devices.has(id)) this.devices.set(id, name);
  }

  private addFunctions(reader: PbReader): void {
    const codes: number[] = [];
    const names: number[] = [];
    while (reader.next()) {
      if (reader.number === 1) reader.numbers(codes, MOST_ENTRIES);
      if (reader.number === 2) reader.numbers(names, MOST_ENTRIES);
    }
    codes.forEach((code, i) => {
      const name = names[i];
      if (name !== undefined && !this.functions.has(code)) this.functions.set(code, name);
    });
  }

  private addCounters(reader: PbReader): void {
    while (reader.next()) {
      if (reader.number === 1) this.addCounter(reader.message());
      if (reader.number === 2) this.addSampled(reader.message());
    }
  }

  private addCounter(reader: PbReader): void {
    let id = 0;
    const counter: Counter = { name: "", unit: "", divisor: 1, source: "" };
    while (reader.next()) {
      if (reader.number === 1) id = reader.value();
      if (reader.number === 2) counter.name = reader.text();
      if (reader.number === 3) counter.unit = reader.text();
      if (reader.number === 4) counter.divisor = reader.value() || 1;
      if (reader.number === 5) counter.source = reader.text();
    }
    if (this.counters.size < MOST_ENTRIES) this.counters.set(id, counter);
  }

  private addSampled(reader: PbReader): void {
    let track = 0;
    const device: SampledDevice = { index: 0, name: "" };
    while (reader.next()) {
      if (reader.number === 1) track = reader.value();
      if (reader.number === 2) device.index = reader.value();
      if (reader.number === 3) device.name = reader.text();
    }
    if (this.sampled.size < 1024) this.sampled.set(track, device);
  }
}

/** Reads each message of a repeated field. */
function each(reader: PbReader, number: number, read: (one: PbReader) => void): void {
  while (reader.next()) if (reader.number === number) read(reader.message());
}

/** What bundle.pb tells that times and names need. */
export interface BundleFacts {
  readonly host: string;
  /** The bundle was made of another tool's file; the time that is 0. */
  readonly importOrigin: bigint | null;
}

export function readBundle(bytes: Uint8Array): BundleFacts {
  let host = "";
  let importOrigin: bigint | null = null;
  const reader = new PbReader(bytes);
  while (reader.next()) {
    if (reader.number === 6) host = reader.text();
    if (reader.number !== 15) continue;
    importOrigin = 0n;
    const told = reader.message();
    while (told.next()) if (told.number === 2) importOrigin = BigInt.asIntN(64, told.big());
  }
  return { host, importOrigin };
}
