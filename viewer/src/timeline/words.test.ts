// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import { foldLabel, shortName, shown, Widths } from "./labels";
import { readLink, writeLink } from "./link";
import * as units from "./units";

const widths = new Widths((text) => (text === "…" ? 8 : 6) * [...text].length);

describe("units", () => {
  it("writes durations with three digits", () => {
    const plain = (ns: number) => units.duration(ns).replace(units.THIN, " ");
    expect(plain(47_700)).toBe("47.7 µs");
    expect(plain(1_376_000)).toBe("1.38 ms");
    expect(plain(116_400)).toBe("116 µs");
    expect(plain(16.4e9)).toBe("16.4 s");
    expect(plain(999_700)).toBe("1.00 ms");
    expect(plain(99_960)).toBe("100 µs");
    expect(plain(850)).toBe("850 ns");
    expect(plain(0)).toBe("0");
  });

  it("writes positions as whole numbers", () => {
    expect(units.position(16_835_400, 49.8e6)).toBe(`16,835${units.THIN}µs`);
    expect(units.position(8.611e9, 16e9)).toBe(`8,611${units.THIN}ms`);
  });

  it("never writes zero for what is not zero, nor all for what is not all", () => {
    expect(units.percent(0.0001)).toBe(`<0.1${units.THIN}%`);
    expect(units.percent(0)).toBe(`0.0${units.THIN}%`);
    expect(units.roughPercent(0.999)).toBe(`99${units.THIN}%`);
    expect(units.roughPercent(0.001)).toBe(`<1${units.THIN}%`);
    expect(units.fixed(0.001, 2)).toBe("<0.01");
    expect(units.fixed(0, 2)).toBe("0");
    expect(units.percent(Number.NaN)).toBe("—");
  });

  it("writes bytes in their units", () => {
    expect(units.bytes(2 ** 31)).toBe(`2.00${units.THIN}GiB`);
    expect(units.counterValue(2 ** 20, "bytes")).toBe(`1.00${units.THIN}MiB`);
    expect(units.counterValue(111, "")).toBe("111");
  });
});

describe("names", () => {
  it("makes hostile names harmless and short", () => {
    expect(shown("a\u202eb\u0000c\nd")).toBe("a\ufffdb\ufffdc\ufffdd");
    expect(shown("\ud800x")).toBe("\ufffdx");
    expect(shown("<img src=x onerror=alert(1)>")).toBe("<img src=x onerror=alert(1)>");
    expect(shown("שלום")).toBe("שלום");
    const long = shown("x".repeat(1 << 20));
    expect(long.length).toBe(201);
    expect(long.endsWith("…")).toBe(true);
    expect(shown("")).toBe("(no name)");
    expect(shown("  \t")).not.toBe("  \t");
  });

  it("drops what all names of a kind have, and never all of a name", () => {
    expect(shortName("aten::linear")).toBe("linear");
    expect(shortName("nn.Module: Linear_3")).toBe("Linear_3");
    expect(shortName("aten::")).toBe("aten::");
    expect(shortName("torch/nn/functional.py(12): linear")).toBe("linear · functional.py:12");
    expect(shortName("<string>(1): <module>")).toBe("<module> · <string>:1");
    expect(shortName("<built-in function linear>")).toBe("linear");
    expect(shortName("<built-in method run_backward of Engine object>")).toBe("run_backward");
    expect(shortName("gemm(3)")).toBe("gemm(3)");
  });

  it("cuts texts to a width", () => {
    expect(widths.cut("abcdef", 36)).toBe("abcdef");
    expect(widths.cut("abcdef", 35)).toBe("abcd…");
    expect(widths.cut("abcdef", 10)).toBe("");
    for (let width = 0; width < 60; width++) {
      expect(widths.of(widths.cut("a longer name", width))).toBeLessThanOrEqual(width);
    }
  });

  it("gives a folded cell the longest label that fits", () => {
    const full = foldLabel(1480, 0.954, 1000, widths);
    expect(full).toBe(`1,480 events, 95${units.THIN}% busy`);
    expect(foldLabel(148, 0.954, widths.of("148 events"), widths)).toBe("148 events");
    expect(foldLabel(148, 0.954, widths.of("148 events") - 1, widths)).toBe("");
  });
});

describe("deep links", () => {
  const whole = { start: 0, end: 1e9 };
  const tracks = [{ rows: 5 }, { rows: 2 }];

  it("come back as they were written", () => {
    const link = {
      view: { start: 1000, end: 2000 },
      selection: { start: 1200, end: 1300 },
      event: { track: 1, row: 1 },
    };
    const text = writeLink(link, whole);
    expect(text).toBe("#timeline?v=1000,2000&sel=1200,1300&event=1.1");
    expect(readLink(text, whole, tracks)).toEqual(link);
    expect(writeLink({ view: whole }, whole)).toBe("#timeline");
  });

  it("keep a search, and what others put into the address", () => {
    const text = writeLink({ find: "a b&c" }, whole, "#timeline?v=1,2&theme=dark&q=old");
    expect(text).toBe("#timeline?theme=dark&q=a+b%26c");
    expect(readLink(text, whole, tracks)).toEqual({ find: "a b&c" });
    expect(writeLink({ find: "x".repeat(1 << 20) }, whole).length).toBeLessThan(300);
    expect(writeLink({}, whole, "#kernels?q=gemm")).toBe("#timeline");
  });

  it("name an event by its times and its thread or device", () => {
    const read = (text: string) => readLink(text, whole, tracks);
    expect(read("#timeline?on=12.t7")).toEqual({ on: { pid: 12, kind: "thread", id: 7 } });
    expect(read("#timeline?on=12.d0")).toEqual({ on: { pid: 12, kind: "device", id: 0 } });
    for (const text of ["12", "12.x7", "-1.t7", "12.t", "1.t2.t3"])
      expect(read(`#timeline?on=${text}`)).toEqual({});
    // What was selected is then named by its row.
    expect(writeLink({ event: { track: 0, row: 1 } }, whole, "#timeline?on=12.t7")).toBe(
      "#timeline?event=0.1",
    );
  });

  it("leave out what does not fit", () => {
    const read = (text: string) => readLink(text, whole, tracks);
    expect(read("#kernels?v=1,2000")).toEqual({});
    expect(read("#timeline?v=5,1")).toEqual({});
    expect(read("#timeline?v=a,b&sel=,&event=1.2")).toEqual({});
    expect(read("#timeline?v=1,2,3&event=9.0")).toEqual({});
    expect(read("#timeline?v=2e9,3e9")).toEqual({});
    expect(read("#timeline?v=Infinity,NaN")).toEqual({});
    expect(read("#timeline?event=0.4")).toEqual({ event: { track: 0, row: 4 } });
    expect(read("#timeline?v=-500,5e8").view).toEqual({ start: 0, end: 5e8 + 500 });
  });
});
