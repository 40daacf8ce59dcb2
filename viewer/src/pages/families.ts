// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Families of kernels, as the analysis tells them. The page reads no names.

import type { Kernel } from "../data/results";

/** Returns the family of a kernel; "": the result does not tell it. */
export function familyOf(kernel: Kernel): string {
  const told = (kernel as { readonly family?: unknown }).family;
  return typeof told === "string" && told !== "none" ? told : "";
}
