// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A small reader of protobuf's wire format. It copies nothing. Every length is checked.

import { TraceFault } from "./fault";

const TWO_32 = 2 ** 32;

/** Walks over the fields of one message. */
export class PbReader {
  /** Number of the current field. */
  number = 0;
  wire = 0;
  /** Bits of a varint or of a fixed field. */
  low = 0;
  high = 0;
  /** Place in the bytes of a field with a length. */
  begin = 0;
  end = 0;

  constructor(
    readonly bytes: Uint8Array,
    private at = 0,
    private readonly limit = bytes.length,
  ) {}

  /** Goes to the next field. False: there is none. */
  next(): boolean {
    if (this.at >= this.limit) return false;
    this.varint();
    this.wire = this.low & 7;
    this.number = this.low >>> 3;
    if (this.number === 0 || this.high !== 0) throw new TraceFault("no valid message");
    if (this.wire === 0) {
      this.varint();
    } else if (this.wire === 1) {
      this.fixed(8);
    } else if (this.wire === 5) {
      this.fixed(4);
    } else if (this.wire === 2) {
      this.varint();
      if (this.high !== 0 || this.low > this.limit - this.at)
        throw new TraceFault("a field reaches beyond its message");
      this.begin = this.at;
      this.end = this.at + this.low;
      this.at = this.end;
    } else {
      throw new TraceFault("no valid message");
    }
    return true;
  }

  /** Returns an unsigned value. It is exact up to 2^53. */
  value(): number {
    return this.high * TWO_32 + this.low;
  }
  big(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }
  /** Returns the value of a sint field. */
  signed(): number {
    return Number(unzigzag(this.big()));
  }
  /** Returns an int32. */
  int32(): number {
    return this.low | 0;
  }
  data(): Uint8Array {
    return this.bytes.subarray(this.begin, this.end);
  }
  text(): string {
    return decodeText(this.data());
  }
  message(): PbReader {
    if (this.wire !== 2) throw new TraceFault("a field is no message");
    return new PbReader(this.bytes, this.begin, this.end);
  }
  /** Adds the numbers of a repeated field, packed or not. */
  numbers(to: number[], most: number): void {
    if (this.wire !== 2) {
      to.push(this.value());
      return;
    }
    const reader = new PbReader(this.bytes, this.begin, this.end);
    while (reader.at < reader.limit) {
      if (to.length >= most) throw new TraceFault("more values than there may be");
      reader.varint();
      to.push(reader.value());
    }
  }
  /** Adds the values of a repeated packed field. */
  bigs(to: bigint[], most: number): void {
    if (this.wire !== 2) throw new TraceFault("a column is not packed");
    const reader = new PbReader(this.bytes, this.begin, this.end);
    while (reader.at < reader.limit) {
      if (to.length >= most) throw new TraceFault("more values than there may be");
      reader.varint();
      to.push(reader.big());
    }
  }

  private fixed(size: number): void {
    if (this.limit - this.at < size) throw new TraceFault("a message is cut");
    this.low = this.word(this.at);
    this.high = size === 8 ? this.word(this.at + 4) : 0;
    this.at += size;
  }
  private word(at: number): number {
    const b = this.bytes;
    return (
      ((b[at] as number) |
        ((b[at + 1] as number) << 8) |
        ((b[at + 2] as number) << 16) |
        ((b[at + 3] as number) << 24)) >>>
      0
    );
  }
  private varint(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (this.at >= this.limit || shift > 63) throw new TraceFault("a message is cut");
      const byte = this.bytes[this.at++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) {
        low |= bits << shift;
      } else if (shift === 28) {
        low |= bits << 28;
        high |= bits >> 4;
      } else {
        high |= bits << (shift - 32);
      }
      if (byte < 0x80) break;
    }
    this.low = low >>> 0;
    this.high = high >>> 0;
  }
}

export function unzigzag(value: bigint): bigint {
  return (value >> 1n) ^ -(value & 1n);
}

const decoder = new TextDecoder();

/** Longer texts are cut: a name of a megabyte helps nobody. Kernels have names of kilobytes. */
const MOST_BYTES = 64 << 10;

/** Decodes text from outside. What is no UTF-8 becomes U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  if (bytes.length <= MOST_BYTES) return decoder.decode(bytes);
  return `${decoder.decode(bytes.subarray(0, MOST_BYTES))}…`;
}
