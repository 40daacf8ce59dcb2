// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { NoResult } from "../data/source";
import { EngineClient, type EngineWorker } from "./client";
import type { FromEngine, ToEngine } from "./protocol";

/** A worker whose answers the test gives. */
class Double implements EngineWorker {
  readonly heard: ToEngine[] = [];
  isOver = false;
  readonly #listeners = new Map<string, (event: MessageEvent & ErrorEvent) => void>();
  postMessage(message: ToEngine): void {
    this.heard.push(message);
  }
  addEventListener(type: string, listener: (event: MessageEvent & ErrorEvent) => void): void {
    this.#listeners.set(type, listener);
  }
  terminate(): void {
    this.isOver = true;
  }
  say(data: FromEngine): void {
    this.#listeners.get("message")?.({ data } as MessageEvent & ErrorEvent);
  }
  fail(message: string): void {
    this.#listeners.get("error")?.({ message } as MessageEvent & ErrorEvent);
  }
}

function made() {
  const workers: Double[] = [];
  const client = new EngineClient(
    {
      folder: "run1",
      packed: () => new Uint8Array([1]),
      files: () => [
        { path: "p1-1.gpt", size: 1, at: [{ offset: 0, bytes: new Uint8Array([2]) }] },
        { path: "p2-1.gpt", size: 9, at: "https://host/p2-1.gpt" },
      ],
    },
    () => {
      workers.push(new Double());
      return workers[workers.length - 1] as Double;
    },
  );
  return { client, workers };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

describe("EngineClient", () => {
  it("starts one worker at the first question", async () => {
    const { client, workers } = made();
    expect(workers).toHaveLength(0);
    const answers = [client.ask("kernels@step=1"), client.ask("ops")];
    await settled();
    expect(workers).toHaveLength(1);
    const heard = workers[0]?.heard ?? [];
    expect(heard.map(({ type }) => type)).toEqual(["engine", "ask", "ask"]);
    expect(heard[0]).toMatchObject({
      folder: "run1",
      files: [{ path: "p1-1.gpt" }, { path: "p2-1.gpt" }],
    });
    workers[0]?.say({ type: "answer", id: 1, text: "{}" });
    workers[0]?.say({ type: "refused", id: 0, why: "There is no step 1." });
    await expect(answers[1]).resolves.toBe("{}");
    await expect(answers[0]).rejects.toThrow(new NoResult("There is no step 1."));
  });

  it("replaces an engine that ended", async () => {
    const { client, workers } = made();
    const first = client.ask("kernels");
    const second = client.ask("ops");
    await settled();
    workers[0]?.say({ type: "broken", why: "unreachable", isTold: false });
    await expect(first).rejects.toThrow(/unreachable.*gpuprof serve/);
    await expect(second).rejects.toThrow(NoResult);
    expect(workers[0]?.isOver).toBe(true);
    const third = client.ask("ops");
    await settled();
    expect(workers).toHaveLength(2);
    workers[1]?.fail("no memory");
    await expect(third).rejects.toThrow("no memory");
    const fourth = client.ask("ops");
    await settled();
    workers[2]?.say({ type: "broken", why: "Nothing is at run1/.", isTold: true });
    await expect(fourth).rejects.toThrow(new NoResult("Nothing is at run1/."));
  });
});
