// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { makeFilter, toCsv, toTsv } from "./table_data";

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
  });
});
