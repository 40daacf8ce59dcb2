// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pages in the order of the rail. The first nine have the keys 1 to 9. The first is also shown if no
// page is asked for.

import type { ComponentType, VNode } from "preact";
import { bytes, count, duration } from "../base/format";
import type { Overview as OverviewResult, PassName, Result, ResultOf } from "../data/results";
import type { Manifest, Source } from "../data/source";
import { Api } from "../pages/api";
import { Captures } from "../pages/captures";
import { Counters } from "../pages/counters";
import { CriticalPath } from "../pages/critical_path";
import { Diff } from "../pages/diff";
import { Files } from "../pages/files";
import { Graphs } from "../pages/graphs";
import { Health } from "../pages/health";
import { Idle } from "../pages/idle";
import { IdleOfRange } from "../pages/idle_range";
import { Kernels } from "../pages/kernels";
import { Locks } from "../pages/locks";
import { Memcpy } from "../pages/memcpy";
import { Memory } from "../pages/memory";
import { MemoryOfRange } from "../pages/memory_range";
import { Ops } from "../pages/ops";
import { Overlap } from "../pages/overlap";
import { Overview } from "../pages/overview";
import { Processes } from "../pages/processes";
import { Ranges } from "../pages/ranges";
import { Stacks } from "../pages/stacks";
import { StacksOfRange } from "../pages/stacks_range";
import { Steps } from "../pages/steps";
import { Streams } from "../pages/streams";
import { Sync } from "../pages/sync";
import { Threads } from "../pages/threads";
import type { TrackKind } from "../trace/api";
import { load } from "./state";
import { TimelinePage } from "./timeline_page";

export interface PageProps {
  readonly source: Source;
}

export interface OfRangeProps extends PageProps {
  /** The page of a wider part, from results. */
  readonly otherwise: VNode;
}

export interface Page {
  /** The stem of its pass, and its place in the hash. */
  readonly id: string;
  readonly title: string;
  /** The title in the rail, if the whole one is too long for it. */
  readonly short?: string;
  readonly group: "" | "GPU" | "Host" | "Recording";
  readonly component: ComponentType<PageProps>;
  /** The page itself follows its place in the hash; others begin anew at a link. */
  readonly followsHash?: boolean;
  /** The rows that the page shows of a range; absent: the page is of the whole run. */
  readonly narrows?: { readonly kind: TrackKind; readonly noun: readonly [string, string] };
  /** The page of a part that only the events can tell of. */
  readonly ofRange?: ComponentType<OfRangeProps>;
  /** The page compares steps, or tells of whole lives: it has no range of time. */
  readonly isOfAllTime?: true;
  /** Results of a part do not know what was there before: its time comes from events. */
  readonly isLive?: true;
  /** The page is of the whole run, whatever the scope. */
  readonly isWhole?: true;
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

/** Returns what a badge says of a result; nothing if the result is not there. */
function fromResult<Name extends PassName>(
  name: Name,
  read: (result: ResultOf<Name>) => string | null,
): () => Promise<string | null> {
  return async () => {
    const loaded = await load(name);
    return loaded.state === "ready" ? read(loaded.value) : null;
  };
}

/** Returns a count; "none" if it was recorded and there was nothing. */
function countedOrNone(result: Result & { count: number }, recordedBy: string): string | null {
  const isSkipped = result.meta.skipped.some((each) => each.name === recordedBy);
  return result.count > 0 ? count(result.count) : isSkipped ? null : "none";
}

const PAGES: readonly Page[] = [
  { id: "overview", title: "Overview", group: "", component: Overview, isOfAllTime: true },
  {
    id: "timeline",
    isWhole: true,
    title: "Timeline",
    group: "",
    component: TimelinePage,
    followsHash: true,
  },
  {
    id: "steps",
    title: "Steps",
    group: "",
    component: Steps,
    isOfAllTime: true,
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
  {
    id: "memory",
    title: "Memory",
    group: "",
    component: Memory,
    isOfAllTime: true,
    isLive: true,
    ofRange: MemoryOfRange,
    badge: peakMemory,
  },
  { id: "stacks", title: "Flame graph", group: "", component: Stacks, ofRange: StacksOfRange },
  {
    id: "idle",
    title: "Idle",
    group: "GPU",
    component: Idle,
    ofRange: IdleOfRange,
    badge: gpuIdle,
  },
  {
    id: "critical_path",
    title: "Critical path",
    group: "GPU",
    component: CriticalPath,
    isOfAllTime: true,
    badge: noGpu,
  },
  { id: "streams", title: "Streams", group: "GPU", component: Streams, badge: noGpu },
  {
    id: "overlap",
    title: "Overlap",
    group: "GPU",
    component: Overlap,
    badge: fromResult("overlap", ({ devices }) => (devices.length === 0 ? null : "")),
  },
  {
    id: "memcpy",
    title: "Copies",
    group: "GPU",
    component: Memcpy,
    badge: fromResult("memcpy", (result) => counted(result.count)),
  },
  {
    id: "graphs",
    title: "CUDA graphs",
    short: "Graphs",
    group: "GPU",
    component: Graphs,
    badge: fromResult("graphs", (result) => countedOrNone(result, "cuda")),
  },
  {
    id: "counters",
    title: "Counters",
    group: "GPU",
    component: Counters,
    badge: fromResult("counters", (result) => counted(result.counters.length)),
  },
  {
    id: "api",
    title: "CUDA calls",
    group: "Host",
    component: Api,
    narrows: { kind: "api", noun: ["call", "calls"] },
    badge: fromResult("api", (result) => counted(result.count)),
  },
  {
    id: "sync",
    title: "Waits for the GPU",
    short: "GPU waits",
    group: "Host",
    component: Sync,
    badge: fromResult("sync", (result) => counted(result.count)),
  },
  {
    id: "threads",
    title: "Threads",
    group: "Host",
    component: Threads,
    isOfAllTime: true,
    badge: fromResult("threads", (result) => counted(result.threads.length)),
  },
  {
    id: "locks",
    title: "Locks",
    group: "Host",
    component: Locks,
    narrows: { kind: "wait", noun: ["wait", "waits"] },
    badge: fromResult("locks", (result) => counted(result.locks.length)),
  },
  {
    id: "files",
    title: "File reads",
    group: "Host",
    component: Files,
    narrows: { kind: "file_read", noun: ["file", "files"] },
    badge: fromResult("files", (result) => countedOrNone(result, "files")),
  },
  {
    id: "ranges",
    title: "Ranges",
    group: "Host",
    component: Ranges,
    narrows: { kind: "range", noun: ["range", "ranges"] },
    badge: fromResult("ranges", (result) => counted(result.ranges.length)),
  },
  {
    id: "processes",
    isWhole: true,
    title: "Processes",
    group: "Host",
    component: Processes,
    badge: () => fromOverview((overview) => counted(overview.processes.length)),
  },
  { id: "health", isWhole: true, title: "Capture health", group: "Recording", component: Health },
];

const DIFF: Page = { id: "diff", isWhole: true, title: "Compare", group: "", component: Diff };
const CAPTURES: Page = {
  id: "captures",
  isWhole: true,
  title: "Captures",
  group: "",
  component: Captures,
};

/** Returns the pages of a source: of a recording, of a comparison, or the list of captures. */
export function pagesOf({ captures, passes }: Manifest): readonly Page[] {
  if (captures === true) return [CAPTURES];
  if (!passes.includes("diff")) return PAGES;
  return passes.includes("overview") ? [...PAGES, DIFF] : [DIFF];
}
