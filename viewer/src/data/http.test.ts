// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { afterEach, describe, expect, it, vi } from "vitest";
import { openServed } from "./http";
import { Gone, NoResult } from "./source";

type Answer = { status: number; body?: string | Uint8Array<ArrayBuffer> };

/** Answers every request by `answer`, and notes what was asked. */
function serve(answer: (address: string) => Answer | Promise<Answer>): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    asked.push(address);
    const { status, body } = await answer(address);
    return new Response(body ?? null, { status });
  });
  return asked;
}

const MANIFEST = {
  version: 1,
  title: "run1",
  gpuprof: "0.1.0",
  passes: ["ops", "overview"],
  failed: [],
  http: true,
  files: [{ name: "p1-1.gpt", size: 3 }],
} as const;

afterEach(() => vi.unstubAllGlobals());

describe("openServed", () => {
  it("asks the server about the timeline", async () => {
    const asked = serve(() => ({ status: 200, body: new Uint8Array([1, 2]) }));
    const source = openServed(MANIFEST);
    expect(await source.askTimeline?.('{"ask":"info"}')).toEqual(new Uint8Array([1, 2]));
    expect(asked).toEqual(["timeline/%7B%22ask%22%3A%22info%22%7D"]);
    serve(() => ({ status: 404 }));
    await expect(source.askTimeline?.("{}")).rejects.toThrow(Gone);
    serve(() => ({ status: 422, body: '{"reason":"There is no track 7."}' }));
    await expect(source.askTimeline?.("{}")).rejects.toEqual(new NoResult("There is no track 7."));
    serve(() => ({ status: 500 }));
    await expect(source.askTimeline?.("{}")).rejects.toThrow("The server answered with 500.");
    serve(() => Promise.reject(new TypeError("Failed to fetch")));
    await expect(source.askTimeline?.("{}")).rejects.toThrow("gpuprof serve");
  });

  it("has no timeline of a page without files", () => {
    expect(openServed({ ...MANIFEST, files: [] }).askTimeline).toBeUndefined();
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

  it("hangs up when nobody waits for a result any more", async () => {
    const abort = new AbortController();
    const asked: string[] = [];
    vi.stubGlobal("fetch", (address: string, options: RequestInit) => {
      asked.push(address);
      return new Promise((_, reject) => options.signal?.addEventListener("abort", reject));
    });
    const source = openServed(MANIFEST);
    const held = [1, 2, 3].map((i) => source.result(`p${i}`, abort.signal));
    const waiting = source.result("p4", abort.signal);
    abort.abort();
    for (const each of [...held, waiting]) await expect(each).rejects.toThrow(NoResult);
    // What had no connection yet gets none.
    expect(asked).toEqual(["results/p1", "results/p2", "results/p3"]);
  });

  it("asks what a result waits for, and whether it is large", async () => {
    const of = (name: string) =>
      JSON.stringify({ words: `Reading ${name}.`, is_large: name === "ops", has_large: true });
    const asked = serve((address) => ({ status: 200, body: of(address.slice("waits/".length)) }));
    const source = openServed(MANIFEST);
    expect(await source.waitOf?.("ops")).toBe("Reading ops.");
    expect(await source.isLarge?.("ops")).toBe(true);
    expect(await source.isLarge?.("files")).toBe(false);
    expect(asked).toEqual(["waits/ops", "waits/overview", "waits/ops", "waits/files"]);
    serve(() => ({ status: 404, body: "no" }));
    expect(await source.waitOf?.("ops")).toBe("");
  });

  it("asks once if no result of the recording is large", async () => {
    const body = '{"words":"","is_large":false,"has_large":false}';
    const asked = serve(() => ({ status: 200, body }));
    const source = openServed(MANIFEST);
    for (const name of ["ops", "files", "heap"]) expect(await source.isLarge?.(name)).toBe(false);
    expect(asked).toEqual(["waits/overview"]);
  });

  it("asks nothing of waits for a comparison and for a folder", async () => {
    const asked = serve(() => ({ status: 404, body: "no" }));
    for (const passes of [["diff"], ["captures"]]) {
      const source = openServed({ ...MANIFEST, passes });
      expect(await source.waitOf?.(passes[0] ?? "")).toBe("");
      expect(await source.isLarge?.(passes[0] ?? "")).toBe(false);
    }
    expect(asked).toEqual([]);
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
