// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Families of kernels, as the analysis tells them.

import { FAMILIES, KERNEL_CLASSES, kernelClass, type Word, wordOf } from "../base/vocabulary";
import type { Graph, Kernel, OverviewGpu } from "../data/results";

/** The time of the kernels of one family. */
export interface Family {
  readonly name: string;
  readonly total_ns: number;
  readonly count: number;
}

/** Returns the family of a kernel; "": the result does not tell it. */
export function familyOf(kernel: Kernel | Graph): string {
  const told = (kernel as { readonly family?: unknown }).family;
  return typeof told === "string" && told !== "none" ? told : "";
}

/** Returns the time of each family on all devices, the largest first; none: it is not told. */
export function familiesOf(gpu: OverviewGpu | null): Family[] {
  const told = (gpu as { readonly families?: unknown } | null)?.families;
  if (!Array.isArray(told)) return [];
  return told.flatMap((row: unknown): Family[] => {
    if (typeof row !== "object" || row === null) return [];
    const { family, total_ns, count } = row as Record<string, unknown>;
    if (typeof family !== "string" || typeof total_ns !== "number") return [];
    return [{ name: family, total_ns, count: typeof count === "number" ? count : 0 }];
  });
}

/** Returns the word and look of a kernel's family, or of its class where no family is told. */
export function wordOfKernel(kernel: Kernel | Graph): Word {
  const family = familyOf(kernel);
  if (family !== "") return wordOf(FAMILIES, family);
  return wordOf(KERNEL_CLASSES, kernelClass(kernel.short_name || kernel.name, kernel.name));
}
