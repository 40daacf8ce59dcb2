// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bytes of a file through a window, so that headers in a row cost one read.

import type { TraceFile } from "../data/source";

const WINDOW = 256 << 10;

/** Gives memory back at once: many megabytes would wait for the collector. Old browsers wait. */
export function release({ buffer }: Uint8Array): void {
  (buffer as { transfer?(bytes: number): unknown }).transfer?.(0);
}

export class FileBytes {
  private window: Uint8Array = new Uint8Array(0);
  private begin = 0;

  constructor(private readonly file: TraceFile) {}

  get size(): number {
    return this.file.size;
  }

  /** Returns a part; null: the file does not have all of it. Valid until the next call. */
  async at(offset: number, length: number): Promise<Uint8Array | null> {
    if (offset < 0 || length < 0 || offset + length > this.size) return null;
    const from = offset - this.begin;
    if (from >= 0 && from + length <= this.window.length)
      return this.window.subarray(from, from + length);
    const wanted = Math.min(Math.max(length, WINDOW), this.size - offset);
    const bytes = await this.file.read(offset, wanted);
    if (bytes.length < length) return null;
    this.window = bytes;
    this.begin = offset;
    return bytes.subarray(0, length);
  }
}
