// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { openAsked, readAnswer } from "./asked";

/** Writes an answer with arrays, as analysis/timeline/answer.h describes it. */
function packed(header: string, arrays: Uint8Array, before = 0): Uint8Array {
  const text = new TextEncoder().encode(header.padEnd(Math.ceil(header.length / 8) * 8));
  const bytes = new Uint8Array(before + 8 + text.length + arrays.length);
  bytes.set(new TextEncoder().encode("GTA1"), before);
  new DataView(bytes.buffer).setUint32(before + 4, text.length, true);
  bytes.set(text, before + 8);
  bytes.set(arrays, before + 8 + text.length);
  return bytes.subarray(before);
}

const DOUBLES = new Uint8Array(new Float64Array([1.5, -2]).buffer);
const HEADER = '{"spans":[{"track":3,"start_ns":{"type":"f64","at":0,"length":2}}],"names":["a"]}';

describe("readAnswer", () => {
  it("puts arrays where the header names them, wherever the bytes begin", () => {
    for (const before of [0, 8, 3]) {
      const answer = readAnswer(packed(HEADER, DOUBLES, before));
      expect(answer).toEqual({
        spans: [{ track: 3, start_ns: new Float64Array([1.5, -2]) }],
        names: ["a"],
      });
    }
  });

  it("reads plain JSON, and refuses an array that is not there", () => {
    expect(readAnswer(new TextEncoder().encode('{"at":null}'))).toEqual({ at: null });
    expect(() => readAnswer(packed(HEADER, new Uint8Array(8)))).toThrow(RangeError);
  });
});

describe("openAsked", () => {
  it("asks what a page asks, in the engine's words", async () => {
    const asked: unknown[] = [];
    const trace = await openAsked(async (question) => {
      asked.push(JSON.parse(question));
      return new TextEncoder().encode('{"tracks":[]}');
    });
    await trace.range("stream", { start_ns: 1, end_ns: 2, devices: [0] });
    await trace.at(3, 4.5);
    expect(asked).toEqual([
      { ask: "info" },
      { ask: "range", kind: "stream", start_ns: 1, end_ns: 2, devices: [0] },
      { ask: "at", track: 3, time_ns: 4.5 },
    ]);
    expect(trace.info.tracks).toEqual([]);
  });
});
