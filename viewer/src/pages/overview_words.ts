// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The overview's sentence and its key figures. Both follow from the results, by fixed rules.

import { bytes, count, duration, percent, plural } from "../base/format";
import { DEVICE_CATEGORIES, wordOf } from "../base/vocabulary";
import type { Overview } from "../data/results";
import type { Figure } from "../parts/figures";

const BOUNDS: Readonly<Record<string, string>> = {
  compute: "The GPU computes most of the time.",
  host: "The GPU waits for the host.",
  input: "The GPU waits for input.",
  compile: "The GPU waits while code is compiled.",
  collectives: "Collectives take the time that nothing hides.",
  copies: "Copies take the time that nothing hides.",
  launch: "Launches are too slow for the kernels.",
  dependency: "Streams wait for each other.",
  unexplained: "The GPU is idle, and the recording does not say why.",
  first_use: "First uses of code and memory take the time.",
};

export interface Sentence {
  readonly headline: string;
  readonly because: string;
}

/** Returns the main cause with its number, and the figure that shows it. */
export function sentenceOf(overview: Overview): Sentence {
  const { verdict, input, findings, gpu } = overview;
  const bound = verdict === null ? undefined : BOUNDS[verdict.bound];
  if (verdict !== null && bound !== undefined) {
    const share = `${percent(verdict.bound_ratio)} of the GPU’s window of ${duration(verdict.step_ns)}`;
    const first = findings.find((finding) => finding.recoverable_per_step_ns !== null);
    const then = first === undefined ? "" : ` The largest finding: ${lower(first.name)}.`;
    const because = `This takes ${share}; the GPU is busy ${percent(verdict.busy_ratio)} of it.${then}`;
    return { headline: named(bound, overview), because: named(because, overview) };
  }
  if (input !== null && input.share_ratio >= 0.2) {
    const waited = input.worker_runqueue_wait_ratio;
    const workers =
      waited === null || input.worker_count === 0
        ? ""
        : ` The ${count(input.worker_count)} workers waited for a processor ${percent(waited)} of their time.`;
    return {
      headline: `${percent(input.share_ratio)} of the step time is spent waiting for input.`,
      because: `${duration(input.mean_ns)} of the mean step pass in the loader.${workers}`,
    };
  }
  const first = findings[0];
  if (first !== undefined) {
    const gain = first.recoverable_ratio;
    return {
      headline: `${first.name}.`,
      because:
        gain === null ? (first.evidence[0] ?? "") : `It costs up to ${percent(gain)} of a step.`,
    };
  }
  if (gpu?.busy_ratio != null) {
    return {
      headline: `The GPU is busy ${percent(gpu.busy_ratio)} of the time.`,
      because: "No rule of advice found a cause to name.",
    };
  }
  return {
    headline: "No single cause stands out.",
    because: "No rule of advice found a cause to name.",
  };
}

/** Returns the sentence with the device's own name: not every device is a GPU. */
export function named(sentence: string, overview: Overview): string {
  const devices = overview.environment?.devices ?? [];
  const isTpu = devices.length > 0 && devices.every((device) => /\bTPU\b/.test(device.name));
  return isTpu ? sentence.replace(/\bGPU\b/g, "TPU") : sentence;
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function gpuFigures(overview: Overview): Figure[] {
  const gpu = overview.gpu;
  if (gpu === null || gpu.kernel_count + gpu.copy_count === 0) {
    return [{ label: "GPU", value: "none", below: "no work of a GPU was recorded" }];
  }
  const cause = gpu.idle_cause === "" ? "" : wordOf(DEVICE_CATEGORIES, gpu.idle_cause).name;
  const figures: Figure[] = [
    {
      label: "GPU busy",
      value: percent(gpu.busy_ratio),
      below: `of ${duration(gpu.window_ns)}${gpu.device_count > 1 ? ` on ${gpu.device_count} devices` : ""}`,
      isCause: (gpu.busy_ratio ?? 1) < 0.5,
    },
    {
      label: "GPU idle",
      value: duration(gpu.idle_ns),
      below: cause === "" ? "no cause is known" : `mostly ${cause.toLowerCase()}`,
    },
    {
      label: "Kernels",
      value: count(gpu.kernel_count),
      below: `mean ${duration(gpu.kernel_ns / Math.max(1, gpu.kernel_count))}`,
    },
    {
      label: "Copies",
      value: count(gpu.copy_count),
      below: `${bytes(gpu.copy_bytes)}, ${duration(gpu.copy_ns)}`,
    },
  ];
  if (gpu.memory_peak_bytes !== null) {
    figures.push({
      label: "Device memory peak",
      value: bytes(gpu.memory_peak_bytes),
      below: `${percent(gpu.memory_peak_ratio)} of the device`,
    });
  }
  return figures;
}

/** Returns at most eight key figures, the ones about the cause first. */
export function figuresOf(overview: Overview): Figure[] {
  const { steps, input, memory, environment, processes } = overview;
  const figures: Figure[] = [];
  if (input !== null && input.share_ratio > 0 && steps !== null) {
    figures.push({
      label: "Input wait",
      value: percent(input.share_ratio),
      below: `${count(input.waiting_step_count)} of ${count(steps.count)} steps waited`,
      isCause: input.share_ratio >= 0.2,
    });
  }
  if (steps !== null && steps.count > 0) {
    figures.push(
      {
        label: "Typical step",
        value: duration(steps.median_ns),
        below: `p10 ${duration(steps.p10_ns)}, p90 ${duration(steps.p90_ns)}`,
      },
      {
        label: "Steps a second",
        value: (overview.steps_per_s ?? steps.count / (steps.total_ns / 1e9)).toFixed(2),
        below: `within ${percent(steps.coverage_ratio)} of the run`,
      },
    );
  }
  const cpu = processes.reduce((sum, process) => sum + (process.cpu_ratio ?? 0), 0);
  if (cpu > 0 && environment !== null && environment.core_count > 0) {
    figures.push({
      label: "Processors busy",
      value: `${cpu.toFixed(2)} of ${environment.core_count}`,
      below: `in ${plural(processes.length, "process", "processes")}`,
    });
  }
  figures.push(...gpuFigures(overview));
  if (memory !== null && memory.peak_bytes > 0) {
    figures.push({
      label: "Heap peak",
      value: bytes(memory.peak_bytes),
      below:
        memory.heap_mode === "exact"
          ? memory.lost_count === 0
            ? "exact"
            : `or more: ${plural(memory.lost_count, "record was", "records were")} lost`
          : `${bytes(memory.peak_low_bytes)} to ${bytes(memory.peak_high_bytes)}, sampled`,
    });
  }
  const tensor = memory?.tensors.reduce(
    (best, each) => (best === null || each.peak_bytes > best.peak_bytes ? each : best),
    null as { name: string; peak_bytes: number } | null,
  );
  if (tensor != null && tensor.peak_bytes > 0) {
    figures.push({
      label: "Tensor peak",
      value: bytes(tensor.peak_bytes),
      below: `exact, ${tensor.name}`,
    });
  }
  return figures.slice(0, 8).map((figure) => ({ ...figure, label: named(figure.label, overview) }));
}
