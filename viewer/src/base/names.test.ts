// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import { kernelName, launchShape, opName, shortPath } from "./names";

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
