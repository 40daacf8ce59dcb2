// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { beforeEach, describe, expect, it, vi } from "vitest";
import { TABLES } from "../data/tables.gen";
import { columnsOf, layoutOf, nounOf } from "./described";

beforeEach(() => {
  vi.stubGlobal("innerWidth", 1600);
});

/** A row of copies, as `gpuprof stats memcpy --json` has it. */
const COPY = {
  name: "HtoD",
  pid: 7,
  host: "",
  context: 1,
  device: 0,
  count: 3,
  async_count: 1,
  total_ns: 2_500_000,
  total_ratio: 0.5,
  total_bytes: 3 << 20,
  mean_ns: 1500,
  gb_per_s: 0.5,
  source: "pageable",
  destination: "unknown",
};

function byId(by: string, rows: readonly object[]) {
  return new Map(columnsOf("memcpy", "copies", by, rows).map((column) => [column.id, column]));
}

describe("columnsOf", () => {
  it("scales numbers to the unit of the header", () => {
    const columns = byId("direction", [COPY]);
    const shown = (id: string) => {
      const column = columns.get(id);
      return [column?.header, column?.unit, column?.value(COPY), column?.cell?.(COPY)];
    };
    expect(shown("total_ns")).toEqual(["total", "ms", 2.5, "2.50"]);
    expect(shown("mean_ns")).toEqual(["mean", "µs", 1.5, "1.5"]);
    expect(shown("total_bytes")).toEqual(["bytes", "MiB", 3, "3.00"]);
    expect(shown("count")).toEqual(["count", undefined, 3, "3"]);
    expect(shown("limit_ratio")[2]).toBeNull();
  });

  it("has no value without what it needs", () => {
    const column = byId("direction", [COPY]).get("gb_per_s");
    expect(column?.value(COPY)).toBe(0.5);
    expect(column?.value({ ...COPY, total_ns: 0 })).toBeNull();
  });

  it("takes the columns of a key", () => {
    expect(byId("direction", [COPY]).get("name")?.header).toBe("direction");
    expect(byId("size", [COPY]).get("name")?.header).toBe("size");
    expect(byId("direction", [COPY]).has("source")).toBe(true);
    expect(byId("size", [COPY]).has("source")).toBe(false);
  });

  it("hides what tells no rows apart", () => {
    const hidden = (rows: readonly object[], id: string) =>
      byId("direction", rows).get(id)?.isHidden;
    expect(hidden([COPY, COPY], "pid")).toBe(true);
    expect(hidden([COPY, { ...COPY, pid: 8 }], "pid")).toBeUndefined();
    expect(hidden([COPY, { ...COPY, context: 2 }], "context")).toBeUndefined();
    expect(hidden([COPY, { ...COPY, pid: 8, context: 2 }], "context")).toBe(true);
  });

  it("leaves columns out of a narrow window", () => {
    expect(byId("direction", [COPY]).get("async_count")?.isHidden).toBeUndefined();
    vi.stubGlobal("innerWidth", 1280);
    expect(byId("direction", [COPY]).get("async_count")?.isHidden).toBe(true);
  });

  it("writes words, and nothing for those that say that nothing is known", () => {
    const columns = byId("direction", [COPY]);
    expect(columns.get("source")?.value(COPY)).toBe("pageable");
    expect(columns.get("destination")?.value(COPY)).toBeNull();
  });

  it("shows what a row has, and 0 too where a missing value would be null", () => {
    const hidden = (op: object) =>
      columnsOf("ops", "ops", "name", [op]).find(({ id }) => id === "device_ns")?.isHidden;
    expect(hidden({ device_ns: null })).toBe(true);
    expect(hidden({ device_ns: 0 })).toBeUndefined();
  });

  it("puts the bar behind the share, and what is a page's own where it belongs", () => {
    const own = { id: "own", header: "own", value: () => 1 };
    const columns = columnsOf("memcpy", "copies", "direction", [COPY], {
      behind: { count: [own] },
      cells: { name: { header: "way" } },
    });
    const ids = columns.map(({ id }) => id);
    expect(ids.indexOf("bar")).toBe(ids.indexOf("total_ratio") + 1);
    expect(ids.indexOf("own")).toBe(ids.indexOf("count") + 1);
    expect(columns[0]?.header).toBe("way");
    const without = columnsOf("memcpy", "copies", "direction", [COPY], { bar: false });
    expect(without.some(({ id }) => id === "bar")).toBe(false);
  });
});

describe("the tables", () => {
  it("have columns with their own ids by each key", () => {
    let tables = 0;
    for (const [pass, layouts] of Object.entries(TABLES)) {
      for (const { rows, columns } of layouts) {
        const named = new Set(
          columns.flatMap(({ onlyBy = [], exceptBy = [] }) => [...onlyBy, ...exceptBy]),
        );
        const keys = named.size === 0 ? [""] : named;
        for (const key of keys) {
          const ids = columnsOf(pass, rows, key, []).map(({ id }) => id);
          expect(new Set(ids).size, `${pass} ${rows} ${key}`).toBe(ids.length);
          tables++;
        }
      }
    }
    expect(tables).toBeGreaterThan(30);
  });

  it("are found by their rows and their key", () => {
    expect(nounOf("memcpy", "copies")).toEqual(["copy", "copies"]);
    expect(nounOf("graphs", "graphs", "node")).toEqual(["node", "nodes"]);
    expect(layoutOf("graphs", "nothing")).toBeUndefined();
  });
});
