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
  passes: ["ops"],
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
