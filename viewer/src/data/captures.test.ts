// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { askFolder, type Capture, compareAddress, order, PERIOD_MS, watchFolder } from "./captures";

const FOLDER = { captures: [], processes: [] };

/** Answers every request, and notes what was asked. */
function serve(answer: () => Response | Promise<Response>) {
  const asked: { address: string; init: RequestInit }[] = [];
  vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
    asked.push({ address, init });
    return answer();
  });
  return asked;
}

const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });

function capture(id: string, modified_ns: number): Capture {
  return {
    id,
    title: id,
    kind: "bundle",
    importer: "",
    bytes: 1,
    modified_ns,
    state: "ready",
    progress: 1,
    reason: "",
  };
}

afterEach(() => vi.unstubAllGlobals());

describe("a folder", () => {
  it("is what the server says", async () => {
    const asked = serve(() => json(FOLDER));
    expect(await askFolder()).toEqual(FOLDER);
    expect(asked[0]?.address).toBe("captures");
  });

  it("says why there is none", async () => {
    serve(() => json({}, 500));
    await expect(askFolder()).rejects.toThrow("500");
    for (const answer of [json({}), json(null), json([]), new Response("<html>")]) {
      serve(() => answer);
      await expect(askFolder()).rejects.toThrow("no list");
    }
    serve(() => Promise.reject(new TypeError("failed")));
    await expect(askFolder()).rejects.toThrow("gpuprof serve");
  });
});

describe("an order", () => {
  it("goes to the process, and gives the server's words", async () => {
    const asked = serve(() => json({ ok: true, message: "It records." }));
    expect(await order(77, "start")).toBe("It records.");
    expect(asked[0]?.address).toBe("control/77/start");
    expect(asked[0]?.init.method).toBe("POST");
    expect(asked[0]?.init.headers).toEqual({ "X-Gpuprof": "1" });
  });

  it("says what went wrong", async () => {
    serve(() => json({ ok: false, message: "No such process." }, 404));
    expect(await order(77, "stop")).toBe("No such process.");
    serve(() => new Response("no JSON", { status: 403 }));
    expect(await order(77, "stop")).toContain("403");
    serve(() => Promise.reject(new TypeError("failed")));
    expect(await order(77, "snapshot")).toContain("does not answer");
  });
});

it("compares the older capture with the newer", () => {
  const [old, young] = [capture("a/b", 1), capture("2", 2)];
  expect(compareAddress(old, young)).toBe("diff/a%2Fb/2/");
  expect(compareAddress(young, old)).toBe("diff/a%2Fb/2/");
});

describe("watching", () => {
  let listener: (() => void) | undefined;
  const page = {
    visibilityState: "visible",
    addEventListener: (_: string, call: () => void) => {
      listener = call;
    },
    removeEventListener: () => {
      listener = undefined;
    },
  };

  beforeEach(() => {
    vi.useFakeTimers();
    page.visibilityState = "visible";
    vi.stubGlobal("document", page);
  });
  afterEach(() => vi.useRealTimers());

  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  it("asks every two seconds until it is stopped", async () => {
    const asked = serve(() => json(FOLDER));
    const tell = vi.fn();
    const { stop } = watchFolder(tell, () => undefined);
    await pass(0);
    expect(tell).toHaveBeenCalledTimes(1);
    await pass(3 * PERIOD_MS);
    expect(asked).toHaveLength(4);
    stop();
    await pass(3 * PERIOD_MS);
    expect(asked).toHaveLength(4);
    expect(listener).toBeUndefined();
  });

  it("asks nothing while the page is hidden, and at once when it is seen", async () => {
    const asked = serve(() => json(FOLDER));
    const { stop } = watchFolder(
      () => undefined,
      () => undefined,
    );
    await pass(0);
    page.visibilityState = "hidden";
    await pass(5 * PERIOD_MS);
    expect(asked).toHaveLength(1);
    page.visibilityState = "visible";
    listener?.();
    await pass(0);
    expect(asked).toHaveLength(2);
    stop();
  });

  it("has one request under way at a time, and goes on after a failure", async () => {
    let answer: (response: Response) => void = () => undefined;
    const asked = serve(() => new Promise<Response>((resolve) => (answer = resolve)));
    const fail = vi.fn();
    const { again, stop } = watchFolder(() => undefined, fail);
    again();
    await pass(10 * PERIOD_MS);
    expect(asked).toHaveLength(1);
    answer(json({}, 500));
    await pass(0);
    expect(fail).toHaveBeenCalledTimes(1);
    await pass(PERIOD_MS);
    expect(asked).toHaveLength(2);
    stop();
    answer(json({}, 500));
    await pass(0);
    expect(fail).toHaveBeenCalledTimes(1);
  });
});
