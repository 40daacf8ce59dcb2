// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

import { KERNEL_FAMILIES, type Word, wordOf } from "../base/vocabulary";
import type { Graph, Kernel } from "../data/results";

/** Returns the word and look of a kernel's family. */
export function wordOfKernel(kernel: Pick<Kernel | Graph, "family">): Word {
  return wordOf(KERNEL_FAMILIES, kernel.family ?? "other");
}
