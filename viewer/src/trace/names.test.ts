// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classOfKernel, kernelNames, Names, shortened } from "./names";

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
    expect(classOfKernel("void flash::flash_fwd_kernel<>()", "mine")).toBe("attention");
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
