// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What pages read of the results of passes: the keys of `gpuprof stats PASS --json`, which `gpuprof
// schema --json` lists. Only keys that a page uses stand here. Null is "not measured".

type Maybe<T> = T | null;

export interface Confidence {
  level: string;
  reason: string;
}
export interface Skipped {
  name: string;
  reason: "none" | "not_asked_for" | "not_in_source";
  fix: string;
}
export interface Loss {
  name: string;
  count: number;
  fix: string;
}
export interface Meta {
  path: string;
  window_start_ns: number;
  window_end_ns: number;
  inputs: { name: string; count: number; size_bytes: number; fault: string; recovered: boolean }[];
  losses: Loss[];
  lost_count: number;
  notes: string[];
  skipped: Skipped[];
}
export interface Result {
  meta: Meta;
}

export interface StepCategory {
  name: string;
  total_ns: number;
  share_ratio: number;
  mean_ns: number;
  p10_ns: number;
  median_ns: number;
  p90_ns: number;
  meaning: string;
}
export interface StepSeries {
  pid: number;
  host: string;
  name: string;
  method: string;
  marker: string;
  confidence: Maybe<Confidence>;
  count: number;
  total_ns: number;
  mean_ns: number;
  min_ns: number;
  p10_ns: number;
  median_ns: number;
  p90_ns: number;
  max_ns: number;
  coverage_ratio: number;
  captured_ns: number;
  categories: StepCategory[];
}
export interface Step {
  pid: number;
  host: string;
  number: number;
  start_ns: number;
  duration_ns: number;
  input_ns: number;
  forward_ns: number;
  backward_ns: number;
  optimizer_ns: number;
  lock_wait_ns: number;
  blocked_ns: number;
  other_ns: number;
  op_count: number;
  warmup: boolean;
  outlier: boolean;
  outlier_category: string;
}
export interface CategoryTime {
  category: string;
  total_ns: number;
  total_ratio: number;
}
export interface DeviceSeries {
  pid: number;
  host: string;
  device: number;
  name: string;
  window: string;
  count: number;
  total_ns: number;
  mean_ns: number;
  median_ns: number;
  busy_ns: number;
  busy_ratio: number;
  categories: CategoryTime[];
}
export interface Finding {
  id: string;
  name: string;
  severity: string;
  recoverable_per_step_ns: Maybe<number>;
  recoverable_ratio: Maybe<number>;
  evidence: string[];
  fix: string[];
  confidence: Maybe<Confidence>;
  caveat: string;
}
export interface WhatIf {
  subject: string;
  duration_ns: number;
  saved_ns: number;
  saved_ratio: number;
}
export interface Op {
  name: string;
  short_name: string;
  count: number;
  total_ns: number;
  self_ns: number;
  mean_ns: number;
  min_ns: number;
  median_ns: number;
  max_ns: number;
  self_ratio: number;
  step_ratio: Maybe<number>;
  count_per_step: Maybe<number>;
  step_self_ns: Maybe<number>;
  device_ns: Maybe<number>;
  device_self_ns: Maybe<number>;
  device_self_ratio: Maybe<number>;
  device_count: Maybe<number>;
  thread_count: number;
  process_count: number;
  execution: string;
}
export interface Kernel {
  name: string;
  short_name: string;
  count: number;
  total_ns: number;
  total_ratio: number;
  mean_ns: number;
  min_ns: number;
  max_ns: number;
  median_ns: Maybe<number>;
  pid: number;
  device: number;
  grid: Maybe<string>;
  block: Maybe<string>;
  registers_per_thread_count: Maybe<number>;
  static_shared_bytes: Maybe<number>;
  dynamic_shared_bytes: Maybe<number>;
  occupancy_ratio: Maybe<number>;
  occupancy_limit: string;
  wave_count: Maybe<number>;
  signature_count: number;
  tensor_cores: "unknown" | "yes" | "no";
  tensor_cores_evidence: string;
  is_tensor_core_eligible: Maybe<boolean>;
  precision: string;
  op: Maybe<string>;
  launched_by: Maybe<string>;
  count_per_step: Maybe<number>;
  flop_per_s: Maybe<number>;
  moved_gb_per_s: Maybe<number>;
}
export interface Frame {
  name: string;
  short_name: string;
  module: string;
  file: string;
  line: number;
}
export interface CallStacks {
  frames: Frame[];
  frame: number[];
  caller: number[];
}

export interface Overview extends Result {
  steps: Maybe<StepSeries>;
  more_steps: StepSeries[];
  step_points: Step[];
  device_series: DeviceSeries[];
  phases: { phase: string; total_ns: number; total_ratio: number; largest: string }[];
  findings: Finding[];
  top_ops: Op[];
  input: Maybe<{
    loader: string;
    share_ratio: number;
    waiting_step_count: number;
    worker_count: number;
    worker_busy_ratio: Maybe<number>;
    worker_runqueue_wait_ratio: Maybe<number>;
    mean_ns: number;
  }>;
  memory: Maybe<{
    heap_mode: string;
    peak_bytes: number;
    peak_low_bytes: number;
    peak_high_bytes: number;
    tensors: { name: string; pid: number; peak_bytes: number; peak_op: string }[];
  }>;
  gpu: Maybe<{
    device_count: number;
    window_ns: Maybe<number>;
    busy_ns: Maybe<number>;
    busy_ratio: Maybe<number>;
    idle_ns: Maybe<number>;
    idle_cause: string;
    kernel_count: number;
    kernel_ns: number;
    top_kernels: Kernel[];
    copy_count: number;
    copy_bytes: Maybe<number>;
    copy_ns: number;
    memory_peak_bytes: Maybe<number>;
    memory_peak_ratio: Maybe<number>;
  }>;
  verdict: Maybe<{
    bound: string;
    bound_ratio: number;
    step_ns: number;
    busy_ratio: number;
    window: string;
    confidence: Maybe<Confidence>;
    what_ifs: WhatIf[];
  }>;
  cost: Maybe<{
    slowdown_ratio: Maybe<number>;
    background_ratio: Maybe<number>;
    file_bytes: number;
    count: number;
  }>;
  processes: OverviewProcess[];
  environment: Maybe<{
    command: string;
    host: string;
    kernel: string;
    cpu_model: string;
    core_count: number;
    memory_bytes: number;
    frameworks: string[];
    writer_version: string;
    exit_status: Maybe<number>;
    wall_ns: number;
    gpu_driver: string;
    devices: { name: string; device_count: number; memory_bytes: number }[];
  }>;
}
export interface OverviewProcess {
  pid: number;
  ppid: number;
  host: string;
  name: string;
  role: string;
  start_ns: number;
  end_ns: number;
  ended: string;
  thread_count: number;
  count: number;
  lost_count: number;
  cpu_ratio: Maybe<number>;
  step_count: number;
  recovered: boolean;
}
export interface Steps extends Result {
  series: StepSeries[];
  steps: Step[];
  advice: string;
  device_series: DeviceSeries[];
}
export interface Ops extends Result {
  ops: Op[];
  count: number;
  self_ns: number;
  step_ns: Maybe<number>;
  by: string;
  device_ns: Maybe<number>;
}
export interface Kernels extends Result {
  by: string;
  kernels: Kernel[];
  count: number;
  total_ns: number;
  busy_ns: number;
  tensor_cores_ns: number;
}
export interface Idle extends Result {
  devices: {
    pid: number;
    device: number;
    name: string;
    window_ns: number;
    busy_ns: number;
    busy_ratio: number;
    idle_ns: number;
    gap_count: number;
    causes: CategoryTime[];
  }[];
  gaps: IdleGap[];
  operations: HostShare[];
  functions: HostShare[];
}
export interface IdleGap {
  pid: number;
  device: number;
  start_ns: number;
  duration_ns: number;
  cause: string;
  late_ns: number;
  name: string;
  short_name: string;
  function: Maybe<string>;
  op: Maybe<string>;
  during_op: Maybe<string>;
  during_function: Maybe<string>;
  step: Maybe<number>;
}
export interface HostShare {
  name: string;
  total_ns: number;
  total_ratio: number;
  gap_count: number;
}
export interface Streams extends Result {
  devices: {
    pid: number;
    device: number;
    name: string;
    window_ns: number;
    busy_ns: number;
    busy_ratio: number;
    kernel_ns: number;
    copy_ns: number;
    kernel_and_copy_ns: number;
    several_kernels_ns: number;
    gap_count: number;
    gap_max_ns: number;
    gap_max_start_ns: number;
  }[];
  streams: {
    pid: number;
    device: number;
    stream: number;
    name: string;
    kernel_count: number;
    copy_count: number;
    busy_ns: number;
    busy_ratio: number;
    overlap_ns: number;
    kernel_ns: number;
    copy_ns: number;
  }[];
  waits: {
    pid: number;
    device: number;
    stream: number;
    for_stream: Maybe<number>;
    count: number;
    held_up_ns: number;
    held_up_max_ns: number;
    short_name: string;
    name: string;
  }[];
}
export interface CriticalPaths extends Result {
  paths: {
    pid: number;
    host: string;
    first_step: Maybe<number>;
    last_step: Maybe<number>;
    start_ns: number;
    duration_ns: number;
    categories: CategoryTime[];
    shares: PathShare[];
    what_ifs: WhatIf[];
    node_count: number;
    edge_count: number;
  }[];
}
export interface PathShare {
  kind: string;
  name: string;
  short_name: string;
  total_ns: number;
  total_ratio: number;
  count: number;
}
export interface Stacks extends Result {
  by: string;
  unit: string;
  meaning: string;
  total: number;
  total_low: number;
  total_high: number;
  estimated: boolean;
  stacks: { pid: number; call_stack: number; value: number }[];
  call_stacks: Maybe<CallStacks>;
}
export interface Ranges extends Result {
  ranges: {
    name: string;
    domain: string;
    kind: string;
    count: number;
    total_ns: number;
    self_ns: Maybe<number>;
    mean_ns: number;
    median_ns: number;
    min_ns: number;
    max_ns: number;
    thread_count: number;
    incomplete_count: number;
    device_ns: Maybe<number>;
  }[];
  count: number;
  mark_count: number;
}
export interface Threads extends Result {
  threads: Thread[];
  processes: {
    pid: number;
    name: string;
    role: string;
    thread_count: number;
    cpu_ns: Maybe<number>;
    cpu_ratio: Maybe<number>;
    runqueue_wait_ns: Maybe<number>;
  }[];
}
export interface Thread {
  name: string;
  pid: number;
  tid: number;
  host: string;
  count: number;
  start_ns: number;
  life_ns: number;
  cpu_ns: Maybe<number>;
  cpu_ratio: Maybe<number>;
  runqueue_wait_ns: Maybe<number>;
  runqueue_wait_ratio: Maybe<number>;
  op_ns: number;
  contended_ns: number;
  waiting_ns: number;
  created_by: string;
  step_thread: boolean;
  tool: boolean;
  start: Maybe<Frame>;
}
export interface Locks extends Result {
  locks: Lock[];
  edges: LockEdge[];
  contended_count: number;
  contended_ns: number;
  step_contended_ns: Maybe<number>;
  deadlocks: { pid: number; start_ns: number; length_ns: number; blocked_thread_count: number }[];
  call_stacks: Maybe<CallStacks>;
}
export interface Lock {
  name: string;
  short_name: string;
  kind: string;
  contended: boolean;
  count: number;
  total_ns: number;
  mean_ns: number;
  max_ns: number;
  max_start_ns: number;
  pid: number;
  thread_count: number;
  threads: string[];
  holders: string[];
  step_ns: Maybe<number>;
  call_stack: number;
}
export interface LockEdge {
  pid: number;
  waiter_tid: number;
  waiter: string;
  holder_tid: number;
  holder: string;
  kind: string;
  count: number;
  total_ns: number;
  max_ns: number;
}
export interface MemoryPoint {
  pid: number;
  device?: string;
  time_ns: number;
  live_bytes: number;
}
export interface Heap extends Result {
  processes: HeapProcess[];
  stacks: HeapStack[];
  timeline: MemoryPoint[];
  tensors: {
    pid: number;
    name: string;
    count: number;
    allocated_bytes: number;
    peak_bytes: number;
    peak_time_ns: number;
    end_bytes: number;
    reported_peak_bytes: Maybe<number>;
    reserved_peak_bytes: Maybe<number>;
  }[];
  tensor_ops: {
    pid: number;
    device: string;
    name: string;
    count: number;
    allocated_bytes: number;
    peak_bytes: number;
    peak_ratio: number;
    end_bytes: number;
  }[];
  tensor_timeline: MemoryPoint[];
  call_stacks: Maybe<CallStacks>;
}
export interface HeapProcess {
  pid: number;
  name: string;
  mode: "off" | "sampled" | "exact";
  count: number;
  allocated_bytes: number;
  peak_bytes: number;
  peak_low_bytes: number;
  peak_high_bytes: number;
  peak_time_ns: number;
  end_bytes: number;
  short_lived_count: number;
}
export interface HeapStack {
  pid: number;
  name: string;
  short_name: string;
  count: number;
  allocated_bytes: number;
  peak_bytes: number;
  peak_ratio: number;
  end_bytes: number;
  end_count: number;
  mean_life_ns: number;
  call_stack: number;
}
export interface DeviceMemory extends Result {
  uses: {
    name: string;
    pid: number;
    device: number;
    count: number;
    release_count: number;
    allocated_bytes: number;
    peak_bytes: number;
    end_bytes: number;
    end_count: number;
    mean_life_ns: number;
  }[];
  devices: {
    name: string;
    pid: number;
    device: number;
    capacity_bytes: Maybe<number>;
    peak_bytes: number;
    peak_time_ns: number;
    peak_ratio: Maybe<number>;
    end_bytes: number;
  }[];
  count: number;
}
export interface Counters extends Result {
  counters: {
    device: Maybe<number>;
    name: string;
    unit: string;
    source: string;
    count: number;
    mean: number;
    min: number;
    p50: number;
    p95: number;
    max: number;
    covered_ns: number;
  }[];
  reasons: { device: number; name: string; total_ns: number; total_ratio: number }[];
  absence: string;
}
export interface Health extends Result {
  processes: HealthProcess[];
}
export interface HealthProcess {
  pid: number;
  ppid: number;
  name: string;
  ended: string;
  recovered: boolean;
  capture_count: number;
  captured_ns: number;
  count: number;
  lost_count: number;
  lost_ratio: number;
  losses: Loss[];
  background_ratio: Maybe<number>;
  slowdown_ratio: Maybe<number>;
  hook_ns: number;
  stack_ns: number;
  op_ns: number;
  memory_bytes: number;
  file_bytes: number;
  bytes_per_event: number;
  clock: string;
  clock_residual_ns: number;
  notes: string[];
}

/** The passes that pages ask for. A name with a colon is `stats PASS --by KEY`. */
export interface Results {
  overview: Overview;
  steps: Steps;
  ops: Ops;
  "ops:module": Ops;
  kernels: Kernels;
  "kernels:signature": Kernels;
  "kernels:op": Kernels;
  idle: Idle;
  streams: Streams;
  critical_path: CriticalPaths;
  stacks: Stacks;
  "stacks:kernel": Stacks;
  "stacks:python": Stacks;
  "stacks:wait": Stacks;
  "stacks:heap_alloc": Stacks;
  "stacks:heap_live": Stacks;
  "stacks:heap_peak": Stacks;
  ranges: Ranges;
  threads: Threads;
  locks: Locks;
  heap: Heap;
  device_memory: DeviceMemory;
  counters: Counters;
  health: Health;
}
export type PassName = keyof Results;
