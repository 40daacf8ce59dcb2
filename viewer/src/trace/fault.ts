// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is wrong with a trace. Readers of its bytes throw nothing else.

export class TraceFault extends Error {
  override readonly name = "TraceFault";
  constructor(
    readonly what: string,
    /** Byte in the file. */
    readonly offset = 0,
  ) {
    super(what);
  }
}

/** Runs a reader of bytes. Turns whatever it throws into a TraceFault. */
export function faultless<T>(what: string, offset: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TraceFault) throw new TraceFault(error.what, offset);
    throw new TraceFault(`${what}: ${error instanceof Error ? error.message : "failed"}`, offset);
  }
}
