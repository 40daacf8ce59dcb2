// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeFilter, sortRows, toCsv, toTsv } from "./table_data";

describe("makeFilter", () => {
  const names = ["gemm bf16 tn", "mul bf16 strided", "Memcpy DtoH", "a/b (c)"];
  const hits = (text: string) => names.filter(makeFilter(text).test);

  it("looks for plain text without regard to case", () => {
    expect(hits("")).toEqual(names);
    expect(hits("memcpy")).toEqual(["Memcpy DtoH"]);
    expect(hits("(c)")).toEqual(["a/b (c)"]);
  });

  it("looks for expressions between slashes", () => {
    expect(hits("/^(gemm|mul)/")).toEqual(["gemm bf16 tn", "mul bf16 strided"]);
    expect(hits("/strided$")).toEqual(["mul bf16 strided"]);
  });

  it("hides nothing for an expression that is not finished", () => {
    expect(hits("/(")).toEqual(names);
    expect(makeFilter("/(").fault).not.toBe("");
    expect(hits("/")).toEqual(names);
  });
});

describe("copies", () => {
  it("keep one row a line in TSV", () => {
    expect(toTsv([["a\tb\nc", 1.5, null]])).toBe("a b c\t1.5\t");
  });

  it("quote what CSV must quote, and disarm formulas", () => {
    expect(toCsv([['say "hi", x', -2, "=1+1", null]])).toBe(`"say ""hi"", x",-2,'=1+1,\r\n`);
    expect(toCsv([[" =1", "\uff1d1", "a;=1", "-5", "a\u202eb"]])).toBe(
      "' =1,'\uff1d1,a;'=1,-5,a\\u202eb\r\n",
    );
  });

  it("disarm formulas in TSV, too", () => {
    expect(toTsv([["=1+1", "\t@x", -2]])).toBe("'=1+1\t' @x\t-2");
  });
});

describe("sorting", () => {
  const value = (row: { at: number; key: string | number | null }) => row.key;
  const cell = fc.option(fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(0.5)));
  const keys = fc.array(cell, { maxLength: 30 });

  it("orders what was measured, and puts the rest last in either direction", () => {
    fc.assert(
      fc.property(keys, fc.boolean(), (all, isDescending) => {
        const rows = all.map((key, at) => ({ at, key }));
        const sorted = sortRows(rows, value, isDescending);
        expect(new Set(sorted)).toEqual(new Set(rows));
        sorted.slice(1).forEach((row, i) => {
          const before = sorted[i] as (typeof rows)[number];
          if (before.key === null) expect(row.key).toBeNull();
          else if (row.key !== null && row.key !== before.key)
            expect(row.key > before.key).toBe(!isDescending);
          // Equal rows keep their order.
          if (row.key === before.key) expect(row.at).toBeGreaterThan(before.at);
        });
      }),
    );
  });

  it("orders texts", () => {
    const rows = ["b", "a", null, "c"].map((key, at) => ({ at, key }));
    expect(sortRows(rows, value, false).map(value)).toEqual(["a", "b", "c", null]);
    expect(sortRows(rows, value, true).map(value)).toEqual(["c", "b", "a", null]);
  });
});
