// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { expect, it } from "vitest";
import { callKind } from "./vocabulary";

it("knows what calls of CUDA are for", () => {
  const kinds: Record<string, string> = {
    cudaLaunchKernel: "launch",
    cuLaunchKernelEx_ptsz: "launch",
    cudaGraphLaunch_v10000: "launch",
    cudaStreamSynchronize: "wait",
    cudaStreamSynchronize_ptsz: "wait",
    cudaStreamWaitEvent: "wait",
    cudaMemcpyAsync: "copy",
    cudaMemset: "copy",
    cudaMalloc: "memory",
    cuMemAlloc_v2: "memory",
    cudaMemGetInfo: "memory",
    cudaHostAlloc: "memory",
    cuModuleLoadData: "code",
    cudaFuncGetAttributes: "code",
    cudaGetDevice: "other",
    cudaEventQuery: "other",
    "": "other",
  };
  for (const [name, kind] of Object.entries(kinds)) expect(callKind(name), name).toBe(kind);
});
