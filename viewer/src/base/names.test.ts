// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import { kernelName, launchShape, opName, shortPath } from "./names";
import { kernelClass } from "./vocabulary";

it("shortens names of operations", () => {
  expect(opName("aten::mm")).toBe("mm");
  expect(opName("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")).toBe(
    "DataLoader.__next__",
  );
  expect(opName("ProfilerStep#6")).toBe("ProfilerStep#6");
});

it("writes shapes of kernels and launches", () => {
  expect(kernelName("gemm bf16 tn 128x128x64")).toBe("gemm bf16 tn 128×128×64");
  expect(kernelName("cast f32->bf16 vec4")).toBe("cast f32→bf16 vec4");
  expect(launchShape("17888,1,1")).toBe("17,888");
  expect(launchShape("5,16,16")).toBe("5·16·16");
  expect(launchShape("1,1,1")).toBe("1");
  expect(launchShape(null)).toBeNull();
  expect(shortPath("/usr/lib/python3/a/b.py")).toBe("a/b.py");
});

it("reads the class of a kernel from its name", () => {
  const classes = [
    "gemm bf16 tn 128x128x64",
    "flash_fwd bf16 hd64 128x128",
    "mul bf16 strided",
    "copy bf16 strided",
    "cast f32->bf16 vec4",
    "cat 2B 4-d",
    "add f32 unrolled cast",
    "layer_norm_bwd input f32 vec",
    "mean f32",
    "ncclDevKernel_AllReduce_Sum_f32",
    "memset device",
    "my_kernel",
  ].map((name) => kernelClass(name));
  expect(classes).toEqual([
    "gemm",
    "attention",
    "elementwise",
    "copy",
    "copy",
    "copy",
    "elementwise",
    "reduction",
    "reduction",
    "collective",
    "memory",
    "other",
  ]);
});
