// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The entries of the rail, each with its pages as tabs. The first nine have the keys 1 to 9. The first
// page is also shown if none is asked for.

import type { ComponentType, VNode } from "preact";
import { bytes, count, duration, percent, plural } from "../base/format";
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
import { InputPipeline } from "../pages/input_pipeline";
import { Kernels } from "../pages/kernels";
import { Licences } from "../pages/licences";
import { Locks } from "../pages/locks";
import { Memcpy } from "../pages/memcpy";
import { Memory } from "../pages/memory";
import { MemoryProfile } from "../pages/memory_profile";
import { MemoryOfRange } from "../pages/memory_range";
import { OpProfile } from "../pages/op_profile";
import { Ops } from "../pages/ops";
import { Overlap } from "../pages/overlap";
import { Overview } from "../pages/overview";
import { Processes } from "../pages/processes";
import { Query } from "../pages/query";
import { Ranges } from "../pages/ranges";
import { Ranks } from "../pages/ranks";
import { Roofline } from "../pages/roofline";
import { Stacks } from "../pages/stacks";
import { StacksOfRange } from "../pages/stacks_range";
import { Steps } from "../pages/steps";
import { Streams } from "../pages/streams";
import { Sync } from "../pages/sync";
import { tablePages } from "../pages/table_page";
import { TfData } from "../pages/tf_data";
import { Threads } from "../pages/threads";
import type { TrackKind } from "../trace/api";
import { load, loadSmall } from "./state";
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
  /** The title on its tab, if the whole one is too long for it. */
  readonly short?: string;
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
  /** In a range, spans that began before it count with what they took of it. */
  readonly isCut?: true;
  /** The page is of the whole run, whatever the scope. */
  readonly isWhole?: true;
  /** The sources of `gpuprof run --trace` that record what the page is about. */
  readonly sources?: readonly string[];
  /** A few letters for the rail; null: what the page is about was not recorded. */
  readonly badge?: () => Promise<string | null>;
}

/** An entry of the rail: one page, or several as tabs. */
export interface Entry {
  readonly title: string;
  readonly pages: readonly Page[];
  /** The figure beside the entry; absent: that of its first page. */
  readonly figure?: () => Promise<string | null>;
  /** What the entry shows is the device's: a program without one has no use for it. */
  readonly isOfDevice?: true;
  /** It stands at the foot of the rail. */
  readonly isFoot?: true;
}

/** Returns the badge of a count: none means that there is nothing on the page. */
function counted(number: number): string | null {
  return number === 0 ? null : count(number);
}

async function fromOverview(
  read: (overview: OverviewResult) => string | null,
): Promise<string | null> {
  const [answer] = load("overview");
  const loaded = await answer;
  return loaded.state === "ready" ? read(loaded.value) : "";
}

const kernelCount = () => fromOverview((overview) => counted(overview.gpu?.kernel_count ?? 0));
const noGpu = () => fromOverview((overview) => (overview.gpu?.window_ns == null ? null : ""));
const gpuIdle = () =>
  fromOverview((overview) =>
    overview.gpu?.idle_ns == null ? null : duration(overview.gpu.idle_ns),
  );

/** Returns the greatest peak: the device's, the tensors', or the heap's. */
async function greatestPeak(): Promise<number> {
  const [answer] = load("overview");
  const loaded = await answer;
  if (loaded.state !== "ready") return 0;
  const { memory, gpu } = loaded.value;
  const tensors = (memory?.tensors ?? []).map((tensor) => tensor.peak_bytes);
  return Math.max(0, gpu?.memory_peak_bytes ?? 0, memory?.peak_bytes ?? 0, ...tensors);
}

/** Returns the greatest peak of allocators of frameworks, also of a snapshot. */
async function frameworkPeak(): Promise<number> {
  const loaded = await loadSmall("memory_profile");
  if (loaded.state !== "ready") return 0;
  return Math.max(0, ...loaded.value.devices.map((device) => device.peak_bytes));
}

const sized = (size: number) => (size === 0 ? null : bytes(size));
const peakMemory = async () => sized(await greatestPeak());
const mostMemory = async () => sized(Math.max(await greatestPeak(), await frameworkPeak()));

/** Returns what a badge says of a result; nothing if the result is not there. */
function fromResult<Name extends PassName>(
  name: Name,
  read: (result: ResultOf<Name>) => string | null,
): () => Promise<string | null> {
  return async () => {
    const loaded = await loadSmall(name);
    // A large result has rows.
    if (loaded.state === "loading") return "";
    return loaded.state === "ready" ? read(loaded.value) : null;
  };
}

/** Returns a count; "none" if it was recorded and there was nothing. */
function countedOrNone(result: Result & { count: number }, recordedBy: string): string | null {
  const isSkipped = result.meta.skipped.some((each) => each.name === recordedBy);
  return result.count > 0 ? count(result.count) : isSkipped ? null : "none";
}

/** Returns how many events the recording has. */
const eventCount = () =>
  fromOverview(({ meta }) => counted(meta.inputs.reduce((sum, input) => sum + input.count, 0)));

const gpuBusy = () =>
  fromOverview(({ gpu }) => (gpu === null || gpu.busy_ns === null ? "" : duration(gpu.busy_ns)));

const OVERVIEW: Page = {
  id: "overview",
  title: "Overview",
  component: Overview,
  isOfAllTime: true,
};

const TRACE: Page = {
  id: "timeline",
  isWhole: true,
  title: "Trace viewer",
  component: TimelinePage,
  followsHash: true,
  badge: eventCount,
};

const STEPS: Page = {
  id: "steps",
  title: "Steps",
  component: Steps,
  isOfAllTime: true,
  badge: () => fromOverview((overview) => counted(overview.steps?.count ?? 0)),
};

const [STRAGGLERS, COMMUNICATION] = tablePages(["stragglers", "communication"], new Set());
const RANKS: readonly Page[] = [
  {
    id: "pods",
    title: "Ranks",
    short: "Steps",
    component: Ranks,
    isOfAllTime: true,
    badge: fromResult("pods", ({ ranks }) => (ranks.length < 2 ? null : count(ranks.length))),
  },
  {
    ...(STRAGGLERS as Page),
    title: "Stragglers",
    isOfAllTime: true,
    badge: fromResult("stragglers", ({ ranks }) => counted(ranks.length)),
  },
  {
    ...(COMMUNICATION as Page),
    title: "Communication",
    badge: fromResult("communication", (result) => counted(result.matched_count)),
  },
];

const INPUT: readonly Page[] = [
  {
    id: "input_pipeline",
    title: "Input pipeline",
    short: "Steps",
    component: InputPipeline,
    isOfAllTime: true,
    sources: ["ops"],
    badge: fromResult("input_pipeline", ({ sources: [first] }) =>
      first === undefined ? null : first.step_count === 0 ? "" : percent(first.wait_ratio),
    ),
  },
  {
    id: "tf_data",
    title: "tf.data",
    component: TfData,
    sources: ["ops"],
    badge: fromResult("tf_data", ({ pipelines }) => counted(pipelines.length)),
  },
];

const OPS: Page = {
  id: "ops",
  title: "Operations",
  component: Ops,
  narrows: { kind: "op", noun: ["operation", "operations"] },
  sources: ["ops"],
  badge: () => fromOverview((overview) => (overview.top_ops.length === 0 ? null : "")),
};

const KERNELS: Page = {
  id: "kernels",
  title: "Kernels",
  component: Kernels,
  narrows: { kind: "stream", noun: ["kernel or copy", "kernels and copies"] },
  sources: ["cuda"],
  badge: kernelCount,
};

const ROOFLINE: readonly Page[] = [
  {
    id: "roofline",
    title: "Roofline",
    component: Roofline,
    sources: ["cuda"],
    badge: fromResult("roofline", ({ operations }) => counted(operations.length)),
  },
  {
    id: "op_profile",
    title: "Operation profile",
    component: OpProfile,
    sources: ["cuda"],
    badge: fromResult("op_profile", ({ rows }) => counted(rows.length)),
  },
];

const [PYTHON] = tablePages(["python"], new Set());
const FUNCTIONS: Page = {
  ...(PYTHON as Page),
  title: "Functions",
  sources: ["samples"],
  badge: fromResult("python", ({ functions }) => counted(functions.length)),
};

const MEMORY: readonly Page[] = [
  {
    id: "memory_profile",
    title: "Memory profile",
    component: MemoryProfile,
    isOfAllTime: true,
    sources: ["tensors"],
    badge: async () => sized(await frameworkPeak()),
  },
  {
    id: "memory",
    title: "Heap and tensors",
    component: Memory,
    isOfAllTime: true,
    isLive: true,
    ofRange: MemoryOfRange,
    sources: ["heap", "tensors"],
    badge: peakMemory,
  },
];

const STACKS: Page = {
  id: "stacks",
  title: "Flame graph",
  component: Stacks,
  isCut: true,
  ofRange: StacksOfRange,
};

const GPU_TIME: readonly Page[] = [
  {
    id: "idle",
    title: "Idle",
    component: Idle,
    ofRange: IdleOfRange,
    sources: ["cuda"],
    badge: gpuIdle,
  },
  { id: "streams", title: "Streams", component: Streams, sources: ["cuda"], badge: noGpu },
  {
    id: "overlap",
    title: "Overlap",
    component: Overlap,
    sources: ["cuda"],
    badge: fromResult("overlap", ({ devices }) => (devices.length === 0 ? null : "")),
  },
  {
    id: "memcpy",
    title: "Copies",
    component: Memcpy,
    sources: ["cuda"],
    badge: fromResult("memcpy", (result) => counted(result.count)),
  },
  {
    id: "graphs",
    title: "CUDA graphs",
    short: "Graphs",
    component: Graphs,
    sources: ["cuda"],
    badge: fromResult("graphs", (result) => countedOrNone(result, "cuda")),
  },
  {
    id: "api",
    title: "CUDA calls",
    short: "Calls",
    component: Api,
    narrows: { kind: "api", noun: ["call", "calls"] },
    sources: ["cuda"],
    badge: fromResult("api", (result) => counted(result.count)),
  },
  {
    id: "sync",
    title: "Waits for the GPU",
    short: "Waits",
    component: Sync,
    sources: ["cuda"],
    badge: fromResult("sync", (result) => counted(result.count)),
  },
  {
    id: "critical_path",
    title: "Critical path",
    component: CriticalPath,
    isOfAllTime: true,
    sources: ["cuda"],
    badge: noGpu,
  },
  {
    id: "counters",
    title: "Counters",
    component: Counters,
    sources: ["cuda"],
    badge: fromResult("counters", (result) => counted(result.counters.length)),
  },
];

const HOST: readonly Page[] = [
  {
    id: "threads",
    title: "Threads",
    component: Threads,
    isOfAllTime: true,
    sources: ["threads"],
    badge: fromResult("threads", (result) => counted(result.threads.length)),
  },
  {
    id: "locks",
    title: "Locks",
    component: Locks,
    narrows: { kind: "wait", noun: ["wait", "waits"] },
    sources: ["locks"],
    badge: fromResult("locks", (result) => counted(result.locks.length)),
  },
  {
    id: "files",
    title: "File reads",
    component: Files,
    narrows: { kind: "file_read", noun: ["file", "files"] },
    sources: ["files"],
    badge: fromResult("files", (result) => countedOrNone(result, "files")),
  },
  {
    id: "ranges",
    title: "Ranges",
    component: Ranges,
    narrows: { kind: "range", noun: ["range", "ranges"] },
    sources: ["nvtx", "itt"],
    badge: fromResult("ranges", (result) => counted(result.ranges.length)),
  },
  {
    id: "processes",
    isWhole: true,
    title: "Processes",
    component: Processes,
    badge: () => fromOverview((overview) => counted(overview.processes.length)),
  },
];

const QUERY: Page = { id: "query", isWhole: true, title: "Query", component: Query };

const HEALTH: Page = { id: "health", isWhole: true, title: "Capture health", component: Health };

/** Returns how many threads there are, with their noun. */
const threadCount = fromResult("threads", ({ threads }) =>
  threads.length === 0 ? "" : plural(threads.length, "thread", "threads"),
);

function single(page: Page, isOfDevice?: true): Entry {
  return { title: page.title, pages: [page], ...(isOfDevice && { isOfDevice }) };
}

const ENTRIES: readonly Entry[] = [
  single(OVERVIEW),
  single(TRACE),
  single(STEPS),
  { title: "Ranks", pages: RANKS },
  { title: "Input pipeline", pages: INPUT },
  single(OPS),
  single(FUNCTIONS),
  single(KERNELS, true),
  { title: "Roofline", pages: ROOFLINE, isOfDevice: true },
  { title: "GPU time", pages: GPU_TIME, figure: gpuBusy, isOfDevice: true },
  { title: "Memory", pages: MEMORY, figure: mostMemory },
  single(STACKS),
  { title: "Host", pages: HOST, figure: threadCount },
  single(QUERY),
  { title: HEALTH.title, pages: [HEALTH], isFoot: true },
];

const LICENCES: Entry = {
  title: "Licences",
  pages: [{ id: "licences", isWhole: true, title: "Licences", component: Licences }],
  isFoot: true,
};

const DIFF = single({ id: "diff", isWhole: true, title: "Compare", component: Diff });
const CAPTURES = single({
  id: "captures",
  isWhole: true,
  title: "Captures",
  component: Captures,
});

/** The passes that pages show, of whatever name. */
const SHOWN: ReadonlySet<string> = new Set([
  ...ENTRIES.flatMap(({ pages }) => pages.map(({ id }) => id)),
  "heap",
]);

/** Returns the entries of a recording. Passes without a page of their own have one of tables. */
function entriesOfRun(passes: readonly string[]): readonly Entry[] {
  const pages = tablePages(passes, SHOWN);
  if (pages.length === 0) return ENTRIES;
  const more: Entry = { title: "More tables", pages, figure: async () => "", isOfDevice: true };
  return [...ENTRIES.slice(0, -1), more, ...ENTRIES.slice(-1)];
}

/** Returns the entries of a source: of a recording, of a comparison, or the list of captures. */
export function entriesOf({ captures, passes }: Manifest): readonly Entry[] {
  if (captures === true) return [CAPTURES, LICENCES];
  if (!passes.includes("diff")) return [...entriesOfRun(passes), LICENCES];
  return passes.includes("overview") ? [...entriesOfRun(passes), DIFF, LICENCES] : [DIFF, LICENCES];
}
