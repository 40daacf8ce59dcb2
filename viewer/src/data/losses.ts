// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a recording says about its losses: one rule for all pages.

import type { Overview } from "./results";

/** What the result says of a process whose trace has no end. */
const NO_END = "no end recorded";

/** Returns whether another tool wrote the trace: it does not say what it lost and cost. */
export function isImported({ cost, processes }: Pick<Overview, "cost" | "processes">): boolean {
  return cost === null && processes.length > 0;
}

/** Returns why it is not known how much was lost; "": it is known. */
export function whyLossesUnknown(
  overview: Pick<Overview, "cost" | "processes" | "meta">,
): "" | "another tool wrote the trace" | "the trace has no end" | "the trace is cut" {
  if (isImported(overview)) return "another tool wrote the trace";
  if (overview.processes.some((process) => process.ended === NO_END)) return "the trace has no end";
  return overview.meta.inputs.some((input) => input.fault !== "") ? "the trace is cut" : "";
}
