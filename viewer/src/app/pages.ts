// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pages in the order of the rail. The first nine have the keys 1 to 9.

import type { ComponentType } from "preact";
import { bytes, count, duration } from "../base/format";
import type { Overview as OverviewResult } from "../data/results";
import type { Source } from "../data/source";
import { Counters } from "../pages/counters";
import { CriticalPath } from "../pages/critical_path";
import { Health } from "../pages/health";
import { Idle } from "../pages/idle";
import { Kernels } from "../pages/kernels";
import { Locks } from "../pages/locks";
import { Memory } from "../pages/memory";
import { Ops } from "../pages/ops";
import { Overview } from "../pages/overview";
import { Processes } from "../pages/processes";
import { Ranges } from "../pages/ranges";
import { Stacks } from "../pages/stacks";
import { Steps } from "../pages/steps";
import { Streams } from "../pages/streams";
import { Threads } from "../pages/threads";
import type { TrackKind } from "../trace/api";
import { load } from "./state";
import { TimelinePage } from "./timeline_page";

export interface PageProps {
  readonly source: Source;
}

export interface Page {
  /** The stem of its pass, and its place in the hash. */
  readonly id: string;
  readonly title: string;
  readonly group: "" | "GPU" | "Host" | "Recording";
  readonly component: ComponentType<PageProps>;
  /** The page itself follows its place in the hash; others begin anew at a link. */
  readonly followsHash?: boolean;
  /** The rows that the page shows of a range; absent: the page is of the whole run. */
  readonly narrows?: { readonly kind: TrackKind; readonly noun: readonly [string, string] };
  /** A few letters for the rail; null: what the page is about was not recorded. */
  readonly badge?: () => Promise<string | null>;
}

/** Returns the badge of a count: none means that there is nothing on the page. */
function counted(number: number): string | null {
  return number === 0 ? null : count(number);
}

async function fromOverview(
  read: (overview: OverviewResult) => string | null,
): Promise<string | null> {
  const loaded = await load("overview");
  return loaded.state === "ready" ? read(loaded.value) : "";
}

const kernelCount = () => fromOverview((overview) => counted(overview.gpu?.kernel_count ?? 0));
const noGpu = () => fromOverview((overview) => (overview.gpu?.window_ns == null ? null : ""));
const gpuIdle = () =>
  fromOverview((overview) =>
    overview.gpu?.idle_ns == null ? null : duration(overview.gpu.idle_ns),
  );

/** Memory of the greatest peak: the device's, the tensors', or the heap's. */
const peakMemory = () =>
  fromOverview((overview) => {
    const { memory, gpu } = overview;
    const tensors = (memory?.tensors ?? []).map((tensor) => tensor.peak_bytes);
    const most = Math.max(0, gpu?.memory_peak_bytes ?? 0, memory?.peak_bytes ?? 0, ...tensors);
    return most === 0 ? null : bytes(most);
  });

async function noCounters(): Promise<string | null> {
  const loaded = await load("counters");
  return loaded.state === "ready" ? counted(loaded.value.counters.length) : null;
}

async function rangeCount(): Promise<string | null> {
  const loaded = await load("ranges");
  return loaded.state === "ready" ? counted(loaded.value.ranges.length) : null;
}

async function waitCount(): Promise<string | null> {
  const loaded = await load("locks");
  return loaded.state === "ready" ? counted(loaded.value.locks.length) : null;
}

async function threadCount(): Promise<string | null> {
  const loaded = await load("threads");
  return loaded.state === "ready" ? counted(loaded.value.threads.length) : null;
}

export const PAGES: readonly Page[] = [
  { id: "overview", title: "Overview", group: "", component: Overview },
  { id: "timeline", title: "Timeline", group: "", component: TimelinePage, followsHash: true },
  {
    id: "steps",
    title: "Steps",
    group: "",
    component: Steps,
    badge: () => fromOverview((overview) => counted(overview.steps?.count ?? 0)),
  },
  {
    id: "ops",
    title: "Operations",
    group: "",
    component: Ops,
    narrows: { kind: "op", noun: ["operation", "operations"] },
    badge: () => fromOverview((overview) => (overview.top_ops.length === 0 ? null : "")),
  },
  {
    id: "kernels",
    title: "Kernels",
    group: "",
    component: Kernels,
    narrows: { kind: "stream", noun: ["kernel or copy", "kernels and copies"] },
    badge: kernelCount,
  },
  { id: "memory", title: "Memory", group: "", component: Memory, badge: peakMemory },
  { id: "stacks", title: "Flame graph", group: "", component: Stacks },
  { id: "idle", title: "Idle", group: "GPU", component: Idle, badge: gpuIdle },
  {
    id: "critical_path",
    title: "Critical path",
    group: "GPU",
    component: CriticalPath,
    badge: noGpu,
  },
  { id: "streams", title: "Streams", group: "GPU", component: Streams, badge: noGpu },
  { id: "counters", title: "Counters", group: "GPU", component: Counters, badge: noCounters },
  { id: "threads", title: "Threads", group: "Host", component: Threads, badge: threadCount },
  {
    id: "locks",
    title: "Locks",
    group: "Host",
    component: Locks,
    narrows: { kind: "wait", noun: ["wait", "waits"] },
    badge: waitCount,
  },
  {
    id: "ranges",
    title: "Ranges",
    group: "Host",
    component: Ranges,
    narrows: { kind: "range", noun: ["range", "ranges"] },
    badge: rangeCount,
  },
  {
    id: "processes",
    title: "Processes",
    group: "Host",
    component: Processes,
    badge: () => fromOverview((overview) => counted(overview.processes.length)),
  },
  { id: "health", title: "Capture health", group: "Recording", component: Health },
];
