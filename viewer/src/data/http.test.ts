// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HttpFile, linkedFiles, openServed } from "./http";
import { Gone, NoResult } from "./source";

type Answer = { status: number; body?: string | Uint8Array<ArrayBuffer>; range?: string };

/** Answers every request by `answer`, and notes what was asked. */
function serve(answer: (address: string, range: string) => Answer | Promise<Answer>): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (address: string, init: { headers: Record<string, string> }) => {
    asked.push(address);
    const { status, body, range } = await answer(address, init.headers.Range ?? "");
    const headers = range === undefined ? {} : { "Content-Range": range };
    return new Response(body ?? null, { status, headers });
  });
  return asked;
}

/** Answers with parts of a file, as the server does. */
function serveFile(all: Uint8Array): string[] {
  return serve((_, range) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
    if (first === undefined || Number(first) >= all.length) return { status: 416 };
    return { status: 206, body: all.slice(Number(first), Number(last) + 1) };
  });
}

const MANIFEST = {
  version: 1,
  title: "run1",
  gpuprof: "0.1.0",
  passes: ["ops"],
  failed: [],
  http: true,
  files: [{ name: "p1-1.gpt", size: 3 }],
} as const;

afterEach(() => vi.unstubAllGlobals());

describe("HttpFile", () => {
  it("reads every part of every file", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), fc.nat(), fc.nat(), async (all, a, b) => {
        serveFile(all);
        const begin = a % (all.length + 1);
        const length = b % (all.length - begin + 1);
        const file = new HttpFile("p1-1.gpt", all.length);
        expect(await file.read(begin, length)).toEqual(all.slice(begin, begin + length));
      }),
    );
  });

  it("asks several times for what is more than a request may have", async () => {
    const all = new Uint8Array((64 << 20) + 5).fill(7);
    all[all.length - 1] = 9;
    const asked = serveFile(all);
    const bytes = await new HttpFile("a b.gpt", all.length).read(0, all.length);
    expect(bytes.length).toBe(all.length);
    expect(bytes.indexOf(9)).toBe(all.length - 1);
    expect(asked).toEqual(Array(3).fill("files/a%20b.gpt"));
  });

  it("asks once for a small file, and for the parts of a large one", async () => {
    const asked = serveFile(new Uint8Array(2 << 20));
    const small = new HttpFile("small.gpt", 1 << 20);
    await Promise.all([small.read(0, 5), small.read(9, 100), small.read(1 << 19, 1)]);
    expect(asked).toEqual(["files/small.gpt"]);
    const large = new HttpFile("large.gpt", 2 << 20);
    await Promise.all([large.read(0, 5), large.read(9, 100)]);
    expect(asked.slice(1)).toEqual(["files/large.gpt", "files/large.gpt"]);
  });

  it("asks again after a fault", async () => {
    const file = new HttpFile("p1-1.gpt", 3);
    serve(() => ({ status: 500 }));
    await expect(file.read(0, 3)).rejects.toThrow("500");
    serveFile(new Uint8Array([1, 2, 3]));
    expect(await file.read(1, 2)).toEqual(new Uint8Array([2, 3]));
  });

  it("refuses a part that is not within the file, and asks nobody", async () => {
    const asked = serveFile(new Uint8Array(9));
    await expect(new HttpFile("p1-1.gpt", 3).read(1, 3)).rejects.toThrow("3 bytes");
    expect(asked).toEqual([]);
  });

  it("says what went wrong", async () => {
    const file = new HttpFile("p1-1.gpt", 6);
    serve(() => ({ status: 404 }));
    await expect(file.read(0, 6)).rejects.toThrow(new Gone());
    serve(() => ({ status: 500 }));
    await expect(file.read(0, 6)).rejects.toThrow("The server answered with 500");
    serve(() => ({ status: 206, body: new Uint8Array(3) }));
    await expect(file.read(0, 6)).rejects.toThrow("cut");
    serve(() => Promise.reject(new TypeError("Failed to fetch")));
    await expect(file.read(0, 6)).rejects.toThrow("gpuprof serve");
  });
});

describe("openServed", () => {
  it("has the files of the manifest", () => {
    const { files } = openServed(MANIFEST);
    expect(files.map(({ name, size }) => ({ name, size }))).toEqual(MANIFEST.files);
  });

  it("asks for results by name", async () => {
    const asked = serve(() => ({ status: 200, body: '{"count":3}' }));
    expect(await openServed(MANIFEST).result("kernels:op")).toEqual({ count: 3 });
    expect(asked).toEqual(["results/kernels%3Aop"]);
  });

  it("has no result of a pass that is not there, and says why a pass failed", async () => {
    const source = openServed(MANIFEST);
    serve(() => ({ status: 404, body: "no" }));
    expect(await source.result("nothing")).toBeNull();
    await expect(source.result("ops")).rejects.toThrow(Gone);
    await expect(source.result("ops@3,9")).rejects.toThrow(Gone);
    serve(() => ({ status: 422, body: '{"reason":"There is no memory."}' }));
    await expect(source.result("ops")).rejects.toEqual(new NoResult("There is no memory."));
    serve(() => ({ status: 500 }));
    await expect(source.result("ops")).rejects.toThrow(NoResult);
    serve(() => ({ status: 200, body: '{"cou' }));
    await expect(source.result("ops")).rejects.toThrow("cut");
  });

  it("leaves connections to the timeline", async () => {
    let open = 0;
    let most = 0;
    serve(async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 1));
      open -= 1;
      return { status: 200, body: "{}" };
    });
    const source = openServed(MANIFEST);
    await Promise.all(Array.from({ length: 20 }, (_, i) => source.result(`p${i}`)));
    expect(most).toBe(3);
  });
});

describe("the files of a report that are with a web server", () => {
  const SIZE = 3 << 20;
  const ALL = new Uint8Array(SIZE).map((_, i) => i % 251);

  /** Returns the files of a page that is opened from an address. */
  function open(protocol: string, ...sizes: number[]) {
    vi.stubGlobal("location", { protocol });
    const files = sizes.map((size, i) => ({ name: `p ${i}.gpt`, size }));
    return linkedFiles({ ...MANIFEST, files, files_at: "../run%201/" });
  }
  function firstOf(...sizes: number[]) {
    return open("https:", ...sizes).files?.[0] as HttpFile;
  }

  it("are asked for in parts", async () => {
    const asked = serveFile(ALL);
    const file = firstOf(SIZE);
    expect(await file.read(5, 9)).toEqual(ALL.slice(5, 14));
    expect(await file.read(SIZE - 1, 1)).toEqual(ALL.slice(SIZE - 1));
    expect(asked).toEqual(Array(2).fill("../run%201/p%200.gpt"));
  });

  it("are read once as a whole if the server sends no parts", async () => {
    const asked = serve(() => ({ status: 200, body: ALL }));
    const file = firstOf(SIZE);
    const parts = await Promise.all([1, 2, 3].map((i) => file.read(i << 10, 8)));
    expect(parts).toEqual([1, 2, 3].map((i) => ALL.slice(i << 10, (i << 10) + 8)));
    expect((await file.read(0, SIZE)).every((each, i) => each === ALL[i])).toBe(true);
    expect(asked.length).toBe(1);
    const small = firstOf(9);
    serve(() => ({ status: 200, body: ALL.slice(0, 9) }));
    expect(await small.read(2, 3)).toEqual(ALL.slice(2, 5));
  });

  it("are not read whole if they are large together", async () => {
    serve(() => ({ status: 200, body: ALL }));
    await expect(firstOf((256 << 20) + 1).read(0, 9)).rejects.toThrow("sends no parts of files");
    const { files = [] } = open("http:", SIZE, (256 << 20) - SIZE + 1);
    await files[0]?.read(0, 9);
    await expect(files[1]?.read(0, 9)).rejects.toThrow("sends no parts of files");
  });

  it("are refused if they changed, or are not there", async () => {
    serve(() => ({ status: 206, body: ALL.slice(0, 9), range: `bytes 0-8/${SIZE + 1}` }));
    await expect(firstOf(SIZE).read(0, 9)).rejects.toThrow("has changed");
    const file = firstOf(SIZE + 1);
    serve(() => ({ status: 200, body: ALL }));
    await expect(file.read(0, 9)).rejects.toThrow("has changed");
    serve(() => ({ status: 404 }));
    await expect(file.read(0, 9)).rejects.toThrow("nothing is at ../run%201/p%200.gpt");
    serve(() => Promise.reject(new TypeError("Failed to fetch")));
    await expect(file.read(0, 9)).rejects.toThrow(/^The server does not answer\.$/);
    serveFile(new Uint8Array(SIZE + 1));
    expect((await file.read(3, 9)).length).toBe(9);
  });

  it("cannot be read by a page from disk, which says so", () => {
    expect(open("file:", SIZE).unreadable).toContain("Open this page from a web server");
    expect(open("https:", SIZE).unreadable).toBeUndefined();
  });
});
