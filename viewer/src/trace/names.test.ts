// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KERNEL_FAMILIES } from "../base/vocabulary";
import { classOfFamily, kernelNames, Names, shortened } from "./names";
import { readText, TRACES } from "./test_source";

const SOURCES = `${TRACES}../../../analysis/`;

/** Classes by the first words of the short names that analysis/symbols makes. */
describe("names", () => {
  it.each([
    ["_Z8Multiplyv", "Multiply"],
    [
      "_ZN2at6native29vectorized_elementwise_kernelILi8EEEvv",
      "at::native::vectorized_elementwise_kernel",
    ],
    ["_ZN2at6native12_GLOBAL__N_110softmax_xyEv", "at::native::(anonymous)::softmax_xy"],
    ["void at::native::elementwise_kernel<128, 4>(int)", "at::native::elementwise_kernel"],
    [
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    ],
    ["(anonymous namespace)::k<1>()", "(anonymous namespace)::k"],
    ["_Z", "_Z"],
    ["_Z99999999x", "_Z99999999x"],
    ["", ""],
  ])("of kernels are shortened: %s", (name, short) => {
    expect(shortened(name)).toBe(short);
  });

  it("have a class for each family that the engine knows", () => {
    const text = readText(`${SOURCES}../proto/results/kernel_families.proto`) ?? "";
    const families = [...text.matchAll(/KERNEL_FAMILY_(\w+) = [1-9]/g)].map((match) =>
      (match[1] ?? "").toLowerCase(),
    );
    expect(families.length).toBeGreaterThan(10);
    expect(families.sort()).toEqual(Object.keys(KERNEL_FAMILIES).sort());
    for (const family of families)
      expect([family, classOfFamily(family) === "other"]).toEqual([family, family === "other"]);
  });

  it("have the family that the pass tells, and none of their own", () => {
    const kernel = { name: "void mine()", short_name: "mine", mangled: "_Z4minev" };
    const told = kernelNames({ kernels: [{ ...kernel, family: "collective" }] });
    expect(told.get("_Z4minev")?.family).toBe("collective");
    expect(kernelNames({ kernels: [kernel] }).get("void mine()")?.family).toBe("other");
  });

  it("of any letters are harmless, and short enough to draw", () => {
    const names = new Names(new Map());
    fc.assert(
      fc.property(fc.string({ maxLength: 900, size: "max" }), (name) => {
        const id = names.addKernel(name);
        const text = names.text[id] ?? "";
        expect(text.length).toBeGreaterThan(0);
        expect(text.length).toBeLessThanOrEqual(401);
        expect(names.full.get(id) ?? text).toBe(name === "" ? "" : name);
      }),
    );
  });

  it("come from any JSON without harm", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(kernelNames(value)).toBeInstanceOf(Map);
        expect(kernelNames({ kernels: [value] })).toBeInstanceOf(Map);
      }),
    );
  });
});
