// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The outline of a large track: what the pass of span_track.ts would find, made by a server in a
// tenth of the time. The bytes are those of analysis/export/outlines.cc. The server knows no names
// and no classes, so the request says which class a key has.

import { release } from "./file_bytes";
import { Floats, Words } from "./growing";
import type { Open } from "./lanes";
import { Columns, Pyramid } from "./pyramid";
import { NameSums } from "./sums";

const VERSION = 1;

/** A table of the track: its kind, and what the third column of its rows means. */
export interface OutlineTable {
  readonly kind: number;
  nameOf(key: number): number;
  /** Keys whose class may differ from that of the others. */
  readonly keys: readonly number[];
  /** A key for the class of the others. */
  readonly usual: number;
}

export interface OutlineStretch {
  readonly from: number;
  readonly to: number;
  readonly busy: number;
  readonly sums: NameSums;
  readonly open: readonly Open[];
}

export interface Outline {
  readonly rows: number;
  readonly depth: number;
  /** Most events that a span stands for. */
  readonly oneIn: number;
  readonly stretches: readonly OutlineStretch[];
  readonly pyramid: Pyramid;
}

/** Longer addresses are refused by servers. What does not fit has the usual class. */
const MOST_LETTERS = 6000;

/** Writes classes as letters. */
function letter(cls: number): string {
  return String.fromCharCode("a".charCodeAt(0) + cls);
}

/** Returns the part of an address that asks for an outline. */
export function outlinePath(
  file: string,
  track: number,
  tables: readonly OutlineTable[],
  classOf: readonly number[],
): string {
  let left = MOST_LETTERS;
  const words = tables.map(({ kind, nameOf, keys, usual }) => {
    const cls = (key: number) => classOf[nameOf(key)] ?? 0;
    let text = `${kind}${letter(cls(usual))}`;
    for (const key of keys) {
      if (cls(key) === cls(usual) || text.length > left) continue;
      text += `.${key}${letter(cls(key))}`;
    }
    left -= text.length;
    return text;
  });
  return `${encodeURIComponent(file)}/${track}/${words.join(",")}`;
}

/** Reads arrays one after the other. Throws a RangeError if the bytes are cut. */
class Arrays {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  private next(size: number): { from: number; count: number } {
    const { bytes } = this;
    const head = new DataView(bytes.buffer, bytes.byteOffset + this.at, 8);
    const count = head.getUint32(4, true);
    if (head.getUint32(0, true) !== size) throw new RangeError("not the array that was meant");
    const from = bytes.byteOffset + this.at + 8;
    this.at += 8 + Math.ceil((size * count) / 8) * 8;
    if (this.at > bytes.length) throw new RangeError("the outline is cut");
    return { from, count };
  }
  words(): Uint32Array {
    const { from, count } = this.next(4);
    return new Uint32Array(this.bytes.buffer, from, count);
  }
  doubles(): Float64Array {
    const { from, count } = this.next(8);
    return new Float64Array(this.bytes.buffer, from, count);
  }
}

function readOpen(arrays: Arrays, names: Uint32Array): Open[] {
  const [start, end] = [arrays.doubles(), arrays.doubles()];
  const [name, row, lane] = [arrays.words(), arrays.words(), arrays.words()];
  const weight = arrays.words();
  return Array.from(start, (first, i) => ({
    start: first,
    end: end[i] as number,
    name: names[name[i] as number] as number,
    row: row[i] as number,
    lane: lane[i] as number,
    weight: weight[i] as number,
  }));
}

function readStretches(arrays: Arrays, names: Uint32Array): OutlineStretch[] {
  const [from, to, busy] = [arrays.doubles(), arrays.doubles(), arrays.doubles()];
  const [sums, opens] = [arrays.words(), arrays.words()];
  const name = arrays.words();
  const [count, total] = [arrays.doubles(), arrays.doubles()];
  const [min, max] = [arrays.doubles(), arrays.doubles()];
  const open = readOpen(arrays, names);
  let sum = 0;
  let opened = 0;
  return Array.from(from, (begin, i) => {
    const byName = new NameSums();
    for (const until = sum + (sums[i] as number); sum < until; sum++) {
      byName.addSum(names[name[sum] as number] as number, {
        count: count[sum] as number,
        total: total[sum] as number,
        cut: 0,
        min: min[sum] as number,
        max: max[sum] as number,
      });
    }
    const first = opened;
    opened += opens[i] as number;
    return {
      from: begin,
      to: to[i] as number,
      busy: busy[i] as number,
      sums: byName,
      open: open.slice(first, opened),
    };
  });
}

function readColumns(arrays: Arrays, names: Uint32Array): Columns {
  const [, first, last] = [arrays.doubles(), arrays.doubles(), arrays.doubles()];
  // The time of all classes is the sum of the times that follow.
  arrays.doubles();
  const [count, name, row] = [arrays.words(), arrays.words(), arrays.words()];
  const lastCls = arrays.words();
  const [classes, cls, time] = [arrays.words(), arrays.words(), arrays.doubles()];
  // Copies: the answer has much that is not needed, and goes as a whole.
  const columns = new Columns(
    Floats.of(first.slice()),
    Floats.of(last.slice()),
    Words.of(count.slice()),
    Words.of(name.map((each) => names[each] as number)),
    Words.of(row.slice()),
    Words.of(lastCls.slice()),
  );
  let at = 0;
  for (let i = 0; i < first.length; i++)
    for (const until = at + (classes[i] as number); at < until; at++)
      columns.addClass(i, cls[at] as number, time[at] as number, first.length);
  return columns;
}

/**
 * Reads an outline, and gives its bytes back. Throws a RangeError if it is not one of this page's
 * version.
 */
export function readOutline(
  bytes: Uint8Array,
  tables: readonly OutlineTable[],
  classOf: readonly number[],
): Outline {
  // Arrays of doubles begin at multiples of 8.
  const arrays = new Arrays(bytes.byteOffset % 8 === 0 ? bytes : bytes.slice());
  const [version, bits, depth, lanes, rows, oneIn] = arrays.words();
  if (version !== VERSION) throw new RangeError("an outline of another version");
  const kinds = arrays.words();
  const names = arrays.words().map((key, i) => {
    const table = tables.find(({ kind }) => kind === kinds[i]);
    if (table === undefined) throw new RangeError("a table that was not asked for");
    return table.nameOf(key);
  });
  const stretches = readStretches(arrays, names);
  const columns: Columns[] = [];
  for (let lane = 0; lane < (lanes ?? 0); lane++) columns.push(readColumns(arrays, names));
  const pyramid = new Pyramid(bits ?? 0, classOf, columns);
  for (const span of readOpen(arrays, names)) pyramid.addLong(span);
  release(bytes);
  return { rows: rows ?? 0, depth: depth ?? 1, oneIn: oneIn ?? 1, stretches, pyramid };
}
