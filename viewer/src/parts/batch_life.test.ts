// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import type { DataIterator, DataPipeline, InputBatch } from "../data/results";
import { chainOf, columnsOfWaits, inOrder, isFirst, lifeOf, longestAt } from "./batch_life";

const batch = (number: number, more: Partial<InputBatch> = {}) =>
  ({
    pid: 1,
    host: "",
    number,
    epoch: 1,
    asked_ns: number * 100,
    wait_ns: 30,
    worker_pid: 7 + (number % 2),
    begin_ns: number * 100 - 80,
    ready_ns: number * 100 + 20,
    ...more,
  }) as InputBatch;

it("has the batches in the order of time, and knows the first of each epoch", () => {
  const batches = inOrder([batch(3, { epoch: 2 }), batch(1), batch(2), batch(4, { epoch: 2 })]);
  expect(batches.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  expect(batches.map((_, index) => isFirst(batches, index))).toEqual([true, false, true, false]);
});

it("finds the longest wait, without those for the first of an epoch", () => {
  const batches = [batch(1, { wait_ns: 900 }), batch(2), batch(3, { wait_ns: 50 }), batch(4)];
  expect(longestAt(batches)).toBe(2);
  expect(longestAt([batch(1)])).toBe(0);
  expect(longestAt([])).toBe(0);
});

it("shows the longest of the waits that share a column", () => {
  const batches = [10, 90, 20, 30, 80, 40].map((wait_ns, i) => batch(i + 1, { wait_ns }));
  expect(columnsOfWaits(batches, 100)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(columnsOfWaits(batches, 2)).toEqual([1, 4]);
  expect(columnsOfWaits([], 5)).toEqual([]);
});

it("has lanes of workers, waits and steps of some batches", () => {
  const batches = [batch(1), batch(2), batch(3), batch(4, { epoch: 2 })];
  const life = lifeOf(batches, 1, 3);
  expect([life.start_ns, life.end_ns]).toEqual([200, 430]);
  expect(life.waits).toEqual([
    { at: 1, from_ns: 200, to_ns: 230 },
    { at: 2, from_ns: 300, to_ns: 330 },
    { at: 3, from_ns: 400, to_ns: 430 },
  ]);
  // Between epochs no step computes.
  expect(life.steps).toEqual([{ at: 1, from_ns: 230, to_ns: 300 }]);
  expect(life.workers.map(({ pid, pieces }) => [pid, pieces.map(({ at }) => at)])).toEqual([
    [7, [1, 3]],
    [8, [2]],
  ]);
});

it("leaves out what workers are not known, and counts lanes that have no room", () => {
  const batches = Array.from({ length: 12 }, (_, i) =>
    batch(i, { asked_ns: 100, begin_ns: 50, ready_ns: 120, worker_pid: i }),
  );
  const life = lifeOf(batches, 0, 12);
  expect([life.workers.length, life.left_out]).toEqual([8, 3]);
});

it("has the chain of iterators in the order of the data, and marks what blocks", () => {
  const iterator = (path: string, depth: number) =>
    ({ path, depth, pid: 1, host: "", name: path.split("::").pop() }) as DataIterator;
  const pipeline = { name: "Iterator::Root", pid: 1, host: "", blamed_path: "Iterator::Root::Map" };
  const levels = chainOf(pipeline as DataPipeline, [
    iterator("Iterator::Root", 0),
    iterator("Iterator::Root::Map", 1),
    iterator("Iterator::Root::Map::Zip", 2),
    iterator("Iterator::Root::Map::Zip::A", 3),
    iterator("Iterator::Root::Map::Zip::B", 3),
    iterator("Iterator::RootOther", 0),
  ]);
  const names = levels.map((level) => level.map((node) => node.iterator.name));
  expect(names).toEqual([["A", "B"], ["Zip"], ["Map"], ["Root"]]);
  expect(levels.map((level) => level.some(({ isBlocking }) => isBlocking))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
