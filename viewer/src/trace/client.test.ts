// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The page and the worker over a channel: the same answers as in the page.

import { afterEach, describe, expect, it } from "vitest";
import { openAt, openTrace } from "./client";
import { openInPage } from "./engine";
import { type Port, serve, type ToPage, type ToWorker } from "./protocol";
import { sourceOf, storedFiles, TRACES } from "./test_source";

const FILES = storedFiles(`${TRACES}h200/pytorch/generate`);
const open: MessagePort[] = [];

function channel(): { page: Port<ToWorker>; worker: Port<ToPage> } {
  const { port1, port2 } = new MessageChannel();
  for (const port of [port1, port2]) {
    port.start();
    open.push(port);
  }
  return { page: port1, worker: port2 };
}

afterEach(() => {
  for (const port of open.splice(0)) port.close();
});

describe("a trace in a worker", () => {
  it("answers as in the page", async () => {
    const { page, worker } = channel();
    serve(worker);
    const steps: string[] = [];
    const there = await openAt(page, sourceOf(FILES), (done, all) => steps.push(`${done}/${all}`));
    const here = await openInPage(sourceOf(FILES));
    expect(steps).toEqual(["1/2", "2/2"]);
    expect(there.info).toEqual(here.info);
    const ids = here.info.tracks.map((track) => track.id);
    const { start_ns, end_ns } = here.info;
    const picture = [ids, start_ns, end_ns, 1e6] as const;
    expect(await there.spans(...picture)).toEqual(await here.spans(...picture));
    const selection = { start_ns: start_ns + 5, end_ns };
    expect(await there.range("op", selection)).toEqual(await here.range("op", selection));
    expect(await there.search("mm", 3)).toEqual(await here.search("mm", 3));
    const op = here.info.tracks.find((track) => track.kind === "op")?.id ?? -1;
    expect(await there.event(op, 3)).toEqual(await here.event(op, 3));
    const counter = here.info.tracks.find((track) => track.kind === "counter")?.id ?? -1;
    const curve = [counter, start_ns, end_ns, 10] as const;
    expect(await there.counter(...curve)).toEqual(await here.counter(...curve));
    expect(await there.at(op, end_ns / 2)).toEqual(await here.at(op, end_ns / 2));
    await expect(there.event(op, 1e9)).rejects.toThrow("no such row");
  });

  it("does not take the source's bytes away", async () => {
    const { page, worker } = channel();
    serve(worker);
    await openAt(page, sourceOf(FILES));
    for (const file of FILES) expect((await file.read(0, 4)).length).toBe(4);
  });

  it("that breaks rejects what was asked", async () => {
    const { page } = channel();
    let fail: (why: string) => void = () => {};
    const opened = openAt(page, sourceOf(FILES), undefined, (listener) => {
      fail = listener;
    });
    fail("out of memory");
    await expect(opened).rejects.toThrow("out of memory");
  });

  it("is in the page where there are no workers", async () => {
    const trace = await openTrace(sourceOf(FILES));
    expect(trace.info.rows).toBeGreaterThan(10_000);
  });
});
