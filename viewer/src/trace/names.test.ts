// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COLLECTIVE_WORDS, kernelClass } from "../base/vocabulary";
import { classOfKernel, kernelNames, Names, shortened } from "./names";
import { readText, TRACES } from "./test_source";

const SOURCES = `${TRACES}../../../analysis/`;

/** Classes by the first words of the short names that analysis/symbols makes. */
const FAMILIES: Readonly<Record<string, RegExp>> = {
  gemm: /^(gemm|gemv|bmm|conv|conv3d)\b/,
  attention:
    /^(flash3?_fwd|flash3?_bwd|fmha|fmha_fwd|fmha_bwd|sdpa_fwd|sdpa_bwd|paged_attention)\b/,
  reduction: /^(softmax|softmax_bwd|layer_norm|batch_norm|rms_norm|reduce|scan|topk|radix_sort)\b/,
  copy: /^(cat|index_select|index_put|gather|nchw_to_nhwc|nhwc_to_nchw|embedding_bwd)\b/,
  elementwise: /^(dropout|foreach)\b/,
};

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

  it.each([
    ["sm90_xmma_gemm_bf16bf16_bf16f32", "gemm"],
    ["ncclDevKernel_AllReduce_Sum_f32_RING_LL", "collective"],
    ["void flash::flash_fwd_kernel<>()", "attention"],
    [
      "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel>",
      "copy_cast",
    ],
    ["void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor>", "elementwise"],
    ["void at::native::reduce_kernel<512, 1>", "reduction"],
    ["mine", "other"],
  ])("tell the class of a kernel: %s", (name, cls) => {
    expect(classOfKernel(name)).toBe(cls);
  });

  it("that a pass knows have the class of the other pages", () => {
    expect(classOfKernel("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT", "gemm bf16 nn 64x8x64")).toBe(
      "gemm",
    );
    expect(classOfKernel("triton_per_fused_0", "norm f32")).toBe("reduction");
    expect(classOfKernel("void fbgemm_gpu::bounds_check_kernel<>()", "bounds_check")).toBe("other");
  });

  it("have the same collectives as the passes", () => {
    const source = readText(`${SOURCES}derived/kernel_class.cc`) ?? "";
    const list = /kWords\[\] = \{([^}]*)\}/.exec(source)?.[1] ?? "";
    expect([...list.matchAll(/"(\w+)"/g)].map((match) => match[1])).toEqual(COLLECTIVE_WORDS);
  });

  it("have the class of the short names that the passes give", () => {
    const source = readText(`${SOURCES}symbols/kernel_rules.cc`) ?? "";
    const rules = [...source.matchAll(/\{"[^"]+", "([a-z][^"]*)"\}/g)].map(
      (match) => match[1] ?? "",
    );
    const met = new Set<string>();
    for (const short of rules) {
      const family = Object.entries(FAMILIES).find(([, words]) => words.test(short))?.[0];
      if (family === undefined) continue;
      met.add(family);
      expect([short, kernelClass(short)]).toEqual([short, family]);
    }
    expect(rules.length).toBeGreaterThan(150);
    expect(met.size).toBe(Object.keys(FAMILIES).length);
  });

  it("have a class in real traces that fits what the passes found of them", () => {
    const text = readText(`${SOURCES}../tests/golden/kernel_names.txt`) ?? "";
    const pairs = text.split("\n").flatMap((line) => {
      const [short, full] = line.split("\t");
      return line.startsWith("#") || full === undefined ? [] : [[short ?? "", full] as const];
    });
    expect(pairs.length).toBeGreaterThan(500);
    let others = 0;
    for (const [short, full] of pairs) {
      const cls = kernelClass(short, full);
      const letters = full.toLowerCase().replaceAll("_", "");
      const isShared = COLLECTIVE_WORDS.some((word) => letters.includes(word));
      expect([short, cls === "collective"]).toEqual([short, isShared]);
      const family = Object.entries(FAMILIES).find(([, words]) => words.test(short))?.[0];
      if (family !== undefined && !isShared) expect([short, cls]).toEqual([short, family]);
      if (cls === "other") others++;
    }
    expect(others / pairs.length).toBeLessThan(0.1);
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
