// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import { isShown, nodesOf } from "./tree_rows";

const rows = ["program", " category", "  operation", "  other", " idle", "program 2"];
const nodes = nodesOf(rows, (row) => row.search(/\S/));

it("finds what each row stands below", () => {
  expect(nodes.map(({ above }) => above)).toEqual([-1, 0, 1, 1, 0, -1]);
  expect(nodes.map(({ hasParts }) => hasParts)).toEqual([true, true, false, false, false, false]);
});

it("shows the rows of which all above are open", () => {
  const seen = (closed: number[]) =>
    rows.filter((_, index) => isShown(nodes, index, (at) => closed.includes(at)));
  expect(seen([])).toEqual(rows);
  expect(seen([1])).toEqual(["program", " category", " idle", "program 2"]);
  expect(seen([0])).toEqual(["program", "program 2"]);
});
