// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The overview's sentence and its key figures. Both follow from the results, by fixed rules.

import { bytes, count, duration, percent, plural } from "../base/format";
import { gainWords, partOfDuration } from "../base/gain";
import { DEVICE_CATEGORIES, wordOf } from "../base/vocabulary";
import type { DeviceSeries, Finding, Overview, Verdict } from "../data/results";
import type { Figure } from "../parts/figures";
import { heapSentence } from "./overview_host";

/** What a bound costs, as a sentence. `cost`: "218 of 383 ms"; `of`: "of each step". */
const BOUNDS: Readonly<Record<string, (cost: string, of: string) => string>> = {
  compute: (cost, of) => `The GPU computes for ${cost} ${of}.`,
  host: (cost, of) => `For ${cost} ${of} the GPU waits for the host.`,
  input: (cost, of) => `For ${cost} ${of} the GPU waits for input.`,
  compile: (cost, of) => `For ${cost} ${of} the GPU waits while the host compiles or loads code.`,
  collectives: (cost, of) => `Collectives that nothing hides take ${cost} ${of}.`,
  copies: (cost, of) => `Copies that nothing hides take ${cost} ${of}.`,
  launch: (cost, of) => `For ${cost} ${of} the GPU waits while its work is launched.`,
  dependency: (cost, of) => `For ${cost} ${of} the streams of the GPU wait for each other.`,
  unexplained: (cost, of) =>
    `For ${cost} ${of} the GPU is idle, and the recording does not say why.`,
  first_use: (cost, of) => `First uses of code and memory take ${cost} ${of}.`,
};

/** Returns what is missing in the recording, as a clause. */
function missingWords(verdict: Verdict): string {
  const { missing } = verdict;
  if (missing === null) return "work of the GPU is missing in the recording.";
  if (missing.empty_graph_count > 0) {
    const graphs = `${count(missing.empty_graph_count)} of ${count(missing.graph_count)}`;
    return `the kernels of ${graphs} launches of CUDA graphs were not recorded.`;
  }
  if (missing.is_sampled) return "only a part of the GPU’s work was recorded.";
  if (missing.is_selection) return "nearly all calls are missing in the recording.";
  const idle = partOfDuration(missing.unexplained_ns, verdict.step_ns);
  return `for ${idle} the GPU had work in its queue and shows none.`;
}

/** The key figure of a bound: the same cost again. */
const BOUND_LABELS: Readonly<Record<string, string>> = {
  compute: "GPU computes",
  host: "GPU waits for the host",
  input: "GPU waits for input",
  compile: "GPU waits for code",
  collectives: "Collectives alone",
  copies: "Copies alone",
  launch: "GPU waits for launches",
  dependency: "Streams wait",
  unexplained: "GPU idle",
  first_use: "First uses",
};

export interface Sentence {
  readonly headline: string;
  readonly because: string;
}

/** Returns the period of the device that the verdict is of, or of the first one. */
export function leadingPeriod(overview: Overview): DeviceSeries | undefined {
  const { verdict, device_series } = overview;
  const periods = device_series.filter((series) => series.window === "period");
  const own = periods.find(
    (series) =>
      verdict !== null &&
      series.pid === verdict.pid &&
      series.host === verdict.host &&
      series.device === verdict.device,
  );
  return own ?? periods[0];
}

/** Returns what the bound costs of the verdict's step, in nanoseconds. */
function costOf(verdict: Verdict): number {
  return verdict.bound_ratio * verdict.step_ns;
}

/** Returns the first finding that tells a gain, as what comes next. */
function nextOf(findings: readonly Finding[]): string {
  const first = findings.find((finding) => (finding.gain?.high_ns ?? 0) > 0);
  const gain = first?.gain ?? null;
  if (first === undefined || gain === null) return "";
  const { amount, base } = gainWords(gain);
  return `The largest finding wins ${amount}${base === "" ? "" : ` ${base}`}: ${lower(first.name)}.`;
}

/** Returns the main cause with its number, and the figure that shows it. */
export function sentenceOf(overview: Overview): Sentence {
  const { verdict, input, findings, gpu } = overview;
  const bound = verdict === null ? undefined : BOUNDS[verdict.bound];
  const next = nextOf(findings);
  if (verdict?.bound === "unknown") {
    const headline = `It cannot be told what bounds this: ${missingWords(verdict)}`;
    return { headline: named(headline, overview), because: named(next, overview) };
  }
  if (verdict !== null && bound !== undefined) {
    const isOfSteps = verdict.window !== "all" && verdict.window !== "none";
    const of = isOfSteps ? "of each step" : "of the GPU’s time";
    const cost = partOfDuration(costOf(verdict), verdict.step_ns);
    const busy = `The GPU is busy ${percent(verdict.busy_ratio)} of this time.`;
    const isIncomplete = (verdict.missing?.empty_graph_count ?? 0) > 0;
    const because = isIncomplete ? `But ${missingWords(verdict)}` : next === "" ? busy : next;
    return { headline: named(bound(cost, of), overview), because: named(because, overview) };
  }
  if (input !== null && input.share_ratio >= 0.2) {
    const waited = input.worker_runqueue_wait_ratio;
    const workers =
      waited === null || input.worker_count === 0
        ? ""
        : `The ${count(input.worker_count)} workers waited for a processor ${percent(waited)} of their time.`;
    const step = overview.step?.mean_ns ?? overview.steps?.mean_ns ?? 0;
    const cost =
      step > 0 ? partOfDuration(input.share_ratio * step, step) : percent(input.share_ratio);
    return {
      headline: `For ${cost} of each step the program waits for input.`,
      because: workers === "" ? next : workers,
    };
  }
  // What only tells of the recording is no cause.
  const first = findings.find((finding) => finding.gain !== null) ?? findings[0];
  const heap = heapSentence(overview);
  if (first !== undefined && (first.gain !== null || heap === "")) {
    return { headline: `${first.name}.`, because: first.evidence[0] ?? "" };
  }
  if (heap !== "") {
    const because = first === undefined ? "" : `${first.name}. ${first.evidence[0] ?? ""}`;
    return { headline: heap, because };
  }
  const because = "No rule of advice found a cause to name.";
  if (gpu?.busy_ratio != null) {
    return { headline: `The GPU is busy ${percent(gpu.busy_ratio)} of the time.`, because };
  }
  return { headline: "No single cause stands out.", because };
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

/** Returns the figure of the sentence's cost: the only red one. */
function causeFigures(overview: Overview): Figure[] {
  const { verdict, input, steps } = overview;
  const label = verdict === null ? undefined : BOUND_LABELS[verdict.bound];
  if (verdict !== null && label !== undefined) {
    const isOfSteps = verdict.window !== "all" && verdict.window !== "none";
    return [
      {
        label,
        value: duration(costOf(verdict)),
        below: `${percent(verdict.bound_ratio)} of ${isOfSteps ? "the step" : "its time"}`,
        isCause: true,
      },
    ];
  }
  if (input === null || input.share_ratio < 0.2 || steps === null) return [];
  const step = overview.step?.mean_ns ?? steps.mean_ns;
  return [
    {
      label: "Input wait",
      value: duration(input.share_ratio * step),
      below: `${percent(input.share_ratio)} of the step`,
      isCause: true,
    },
  ];
}

function stepFigures(overview: Overview): Figure[] {
  const step = overview.step ?? overview.steps;
  if (step === null || step.count === 0) return [];
  const spread =
    step.count === 1
      ? "1 step, no spread known"
      : `p10 ${duration(step.p10_ns)}, p90 ${duration(step.p90_ns)}`;
  return [{ label: "Step", value: duration(step.median_ns), below: spread }];
}

function busyFigure(overview: Overview): Figure[] {
  const { gpu } = overview;
  const period = leadingPeriod(overview);
  if (period !== undefined && period.count > 0) {
    const mean = period.total_ns / period.count;
    const below = `of ${duration(mean)}; ${duration(period.busy_ns / period.count)}`;
    return [{ label: "GPU busy", value: percent(period.busy_ratio), below }];
  }
  if (gpu === null || gpu.busy_ratio === null) return [];
  const several = gpu.device_count > 1 ? ` on ${gpu.device_count} devices` : "";
  const below = `of ${duration(gpu.window_ns)}${several}`;
  return [{ label: "GPU busy", value: percent(gpu.busy_ratio), below }];
}

function gpuFigures(overview: Overview): Figure[] {
  const gpu = overview.gpu;
  if (gpu === null || gpu.kernel_count + gpu.copy_count === 0) {
    return [{ label: "GPU", value: "none", below: "no work was recorded" }];
  }
  const figures: Figure[] = [
    ...busyFigure(overview),
    {
      label: "Kernels",
      value: count(gpu.kernel_count),
      below: `mean ${duration(gpu.kernel_ns / Math.max(1, gpu.kernel_count))}`,
    },
  ];
  if (gpu.idle_ns !== null && overview.step === null) {
    const cause = gpu.idle_cause === "" ? "" : wordOf(DEVICE_CATEGORIES, gpu.idle_cause).name;
    const below = cause === "" ? "no cause is known" : `mostly ${cause.toLowerCase()}`;
    figures.push({ label: "GPU idle", value: duration(gpu.idle_ns), below });
  }
  if (gpu.copy_count > 0) {
    figures.push({
      label: "Copies",
      value: gpu.copy_bytes === null ? count(gpu.copy_count) : bytes(gpu.copy_bytes),
      below: `${count(gpu.copy_count)} in ${duration(gpu.copy_ns)}`,
    });
  }
  if (gpu.memory_peak_bytes !== null) {
    figures.push({
      label: "GPU memory, peak",
      value: bytes(gpu.memory_peak_bytes),
      below:
        gpu.memory_peak_ratio === null ? "" : `${percent(gpu.memory_peak_ratio)} of the device`,
    });
  }
  return figures;
}

function memoryFigures({ memory }: Overview): Figure[] {
  const figures: Figure[] = [];
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
      below: `since the recording began, ${tensor.name}`,
    });
  }
  return figures;
}

/** Returns at most eight key figures: the step, the sentence's cost in red, then the others. */
export function figuresOf(overview: Overview): Figure[] {
  const { steps, input, environment, processes } = overview;
  const cause = causeFigures(overview);
  const figures: Figure[] = [...stepFigures(overview), ...cause];
  if (
    input !== null &&
    input.share_ratio > 0 &&
    steps !== null &&
    cause[0]?.label !== "Input wait"
  ) {
    figures.push({
      label: "Input wait",
      value: percent(input.share_ratio),
      below: `${count(input.waiting_step_count)} of ${count(steps.count)} steps waited`,
    });
  }
  figures.push(...gpuFigures(overview), ...memoryFigures(overview));
  const cpu = processes.reduce((sum, process) => sum + (process.cpu_ratio ?? 0), 0);
  if (cpu > 0 && environment !== null && environment.core_count > 0) {
    figures.push({
      label: "Processors busy",
      value: `${cpu.toFixed(2)} of ${environment.core_count}`,
      below: `in ${plural(processes.length, "process", "processes")}`,
    });
  }
  if (steps !== null && steps.count > 0) {
    figures.push({
      label: "Steps",
      value: count(steps.count),
      below: `${percent(steps.coverage_ratio)} of the run`,
    });
  }
  return figures.slice(0, 8).map((figure) => ({ ...figure, label: named(figure.label, overview) }));
}
