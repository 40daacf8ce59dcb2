// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { Ended, makeSystem } from "./wasi";

type Call = (...args: (number | bigint)[]) => number;

/** A folder "run" with two files, and the engine's memory. */
function made() {
  const memory = new ArrayBuffer(4096);
  const bytes = new TextEncoder().encode("0123456789");
  const file = (path: string) => ({
    path,
    size: bytes.length,
    read: (from: number, length: number) => bytes.subarray(from, from + length),
  });
  const system = makeSystem([file("bundle.pb"), file("rank1/p1-1.gpt")], "run", () => memory);
  const view = new DataView(memory);
  const call = (name: string, ...args: (number | bigint)[]) => (system[name] as Call)(...args);
  const put = (text: string): [number, number] => {
    const encoded = new TextEncoder().encode(text);
    new Uint8Array(memory, 1024).set(encoded);
    return [1024, encoded.length];
  };
  const open = (path: string, flags = 0) => {
    const status = call("path_open", 3, 0, ...put(path), flags, 0n, 0n, 0, 512);
    return { status, fd: view.getUint32(512, true) };
  };
  return { memory, view, call, put, open };
}

describe("the engine's system", () => {
  it("reads a part of a file into several buffers, up to its end", () => {
    const { memory, view, call, open } = made();
    const { status, fd } = open("run/rank1/p1-1.gpt");
    expect(status).toBe(0);
    for (const [at, value] of [600, 3, 700, 100].entries())
      view.setUint32(64 + 4 * at, value, true);
    expect(call("fd_pread", fd, 64, 2, 4n, 32)).toBe(0);
    expect(view.getUint32(32, true)).toBe(6);
    expect(new TextDecoder().decode(new Uint8Array(memory, 600, 3))).toBe("456");
    expect(new TextDecoder().decode(new Uint8Array(memory, 700, 3))).toBe("789");
    expect(call("fd_close", fd)).toBe(0);
    expect(call("fd_close", fd)).not.toBe(0);
  });

  it("lists a folder by pieces", () => {
    const { memory, view, call, open } = made();
    const { fd } = open("run", 2);
    const names: string[] = [];
    for (let cookie = 0n; ; ) {
      expect(call("fd_readdir", fd, 2048, 40, cookie, 32)).toBe(0);
      const used = view.getUint32(32, true);
      if (used === 0) break;
      const length = view.getUint32(2048 + 16, true);
      names.push(new TextDecoder().decode(new Uint8Array(memory, 2048 + 24, length)));
      cookie = view.getBigUint64(2048, true);
    }
    expect(names).toEqual(["bundle.pb", "rank1"]);
  });

  it("refuses what is not there, and every write", () => {
    const { call, open } = made();
    expect(open("run/nothing").status).toBe(44);
    expect(open("run/bundle.pb", 2).status).toBe(54);
    expect(open("run/new", 1).status).toBe(69);
    expect(call("fd_pread", 99, 0, 0, 0n, 0)).toBe(8);
    expect(call("path_unlink_file", 3, 0, 0)).toBe(52);
    expect(() => call("proc_exit", 3)).toThrow(Ended);
  });
});
