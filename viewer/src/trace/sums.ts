// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums of spans by name. Sums are of whole nanoseconds, so they are exact. Where only a part of the
// events was recorded, each span counts for as many as it stands for.

import type { Ordered } from "./lanes";

interface Sum {
  count: number;
  total: number;
  /** What was cut off at the edges of a range. */
  cut: number;
  min: number;
  max: number;
}

export class NameSums {
  readonly byName = new Map<number, Sum>();

  private of(name: number): Sum {
    let sum = this.byName.get(name);
    if (sum === undefined) {
      sum = { count: 0, total: 0, cut: 0, min: Number.POSITIVE_INFINITY, max: 0 };
      this.byName.set(name, sum);
    }
    return sum;
  }

  private add(name: number, time: number, whole: number, weight: number): void {
    const sum = this.of(name);
    sum.count += weight;
    sum.total += time * weight;
    sum.cut += (whole - time) * weight;
    if (whole < sum.min) sum.min = whole;
    if (whole > sum.max) sum.max = whole;
  }

  addAll(spans: Ordered): void {
    for (let i = 0; i < spans.count; i++) {
      const duration = (spans.end[i] as number) - (spans.start[i] as number);
      this.add(spans.name[i] as number, duration, duration, spans.weight?.[i] ?? 1);
    }
  }

  /** Adds a span, cut at the edges of [from, to). */
  addCut(name: number, start: number, end: number, from: number, to: number, weight: number): void {
    if (start >= to || (end <= from && start < from)) return;
    const time = Math.min(end, to) - Math.max(start, from);
    this.add(name, time, end - start, weight);
  }

  /** Takes back a part of a span that was added whole. */
  take(name: number, time: number): void {
    const sum = this.of(name);
    sum.total -= time;
    sum.cut += time;
  }

  addSum(name: number, from: Readonly<Sum>): void {
    const sum = this.of(name);
    sum.count += from.count;
    sum.total += from.total;
    sum.cut += from.cut;
    if (from.min < sum.min) sum.min = from.min;
    if (from.max > sum.max) sum.max = from.max;
  }

  addSums(other: NameSums): void {
    for (const [name, from] of other.byName) this.addSum(name, from);
  }

  hasAny(names: ReadonlySet<number>): boolean {
    for (const name of this.byName.keys()) if (names.has(name)) return true;
    return false;
  }
}
