// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory of a device by what it is for: areas over time, and the parts of a failed request.

import { MEMORY_CATEGORIES, wordOf } from "../base/vocabulary";
import type {
  MemoryProfileCategory,
  MemoryProfileFailure,
  MemoryProfilePoint,
} from "../data/results";
import type { Part } from "./bars";
import type { Layer } from "./owners_chart";

/** Returns the areas from the ground up. Categories without a byte have none. */
export function categoryLayers(points: readonly MemoryProfilePoint[]): Layer[] {
  return Object.entries(MEMORY_CATEGORIES).flatMap(([key, word]) => {
    const field = `${key}_bytes` as keyof MemoryProfilePoint;
    const live_bytes = points.map((point) => Number(point[field]));
    return live_bytes.some((size) => size > 0) ? [{ ...word, live_bytes }] : [];
  });
}

/** Returns what was live at the peak, the most first. */
export function categoryParts(rows: readonly MemoryProfileCategory[]): Part[] {
  return rows.map((row) => ({ ...wordOf(MEMORY_CATEGORIES, row.category), value: row.bytes }));
}

/** Returns what a device held when a request failed. The parts add up to what the allocator could reach. */
export function failureParts(failure: MemoryProfileFailure): Part[] {
  const parts: Part[] = [
    { name: "Allocated", value: failure.allocated_bytes, look: "d_backward" },
    { name: "Given back, a stream still uses it", value: failure.pending_bytes, look: "wait" },
    { name: "Free in the pool", value: failure.pool_free_bytes, look: "hatch" },
    { name: "Free on the device", value: failure.device_free_bytes, look: "n2" },
  ];
  return parts.filter((part) => part.value > 0);
}

/** Returns the frames of a place, innermost first. */
export function framesOfPlace(name: string): string[] {
  return name.split(" < ").filter((frame) => frame !== "");
}
