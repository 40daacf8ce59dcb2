// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from "vitest";
import type { Overview } from "../data/results";
import { lacking } from "./no_gpu_work";

function overviewOf(kernels: number, device: string, isOwn: boolean): Overview {
  return {
    cost: isOwn ? {} : null,
    processes: [{}],
    gpu: { kernel_count: kernels, copy_count: 0 },
    environment: { devices: [{ name: device }] },
  } as unknown as Overview;
}

describe("lacking", () => {
  it("does not say that a program with kernels did no work", () => {
    const own = lacking(overviewOf(1, "NVIDIA H100", true), "waits for the GPU", false);
    expect(own?.title).toBe("This recording has no waits for the GPU");
    expect(own?.why).toContain("The GPU ran 1 kernel, but nothing of this kind was seen");
    const range = lacking(overviewOf(2, "NVIDIA H100", true), "copies", true);
    expect(range).toEqual({
      title: "This part has no copies",
      why: "The GPU ran 2 kernels in the whole run.",
    });
  });

  it("names the device", () => {
    const tpu = lacking(overviewOf(7, "TPU v6 Lite", false), "waits for the GPU", false);
    expect(tpu?.title).toBe("This recording has no waits for the TPU");
    expect(tpu?.why).toContain("the trace of the other tool");
    expect(`${tpu?.title}${tpu?.why}`).not.toMatch(/GPU|NVIDIA/);
  });

  it("leaves a recording without work to others", () => {
    expect(lacking(overviewOf(0, "NVIDIA H100", true), "copies", false)).toBeNull();
    expect(lacking({ ...overviewOf(0, "", true), gpu: null }, "copies", false)).toBeNull();
  });
});
