// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Made by scripts/make-results.mjs of `gpuprof schema --json`. Do not edit. Null is "not measured".

/** The results by the name of their pass, and the keys of --by. */
export interface Passes {
  overview: { result: Overview; by: never };
  advise: { result: Advice; by: never };
  steps: { result: Steps; by: never };
  ops: { result: Ops; by: "name" | "type" | "shape" | "category" | "module" | "instance" | "process" | "thread" };
  kernels: { result: Kernels; by: "name" | "signature" | "stream" | "op" | "family" };
  roofline: { result: Roofline; by: never };
  op_profile: { result: OpProfile; by: "program" | "category" };
  serving: { result: Serving; by: "phase" | "batch" };
  memcpy: { result: Memcpy; by: "direction" | "stream" | "size" };
  device_memory: { result: DeviceMemory; by: "kind" | "device" | "pool" | "size" | "stream" };
  unified_memory: { result: UnifiedMemory; by: "kind" | "device" };
  api: { result: ApiCalls; by: "function" | "thread" };
  sync: { result: Syncs; by: "kind" | "thread" | "stream" };
  streams: { result: Streams; by: never };
  idle: { result: Idle; by: never };
  critical_path: { result: CriticalPaths; by: never };
  overlap: { result: Overlap; by: never };
  pods: { result: Pods; by: never };
  communication: { result: Communication; by: never };
  stragglers: { result: Stragglers; by: never };
  flight_recorder: { result: FlightRecorder; by: never };
  graphs: { result: Graphs; by: "graph" | "node" | "owner" };
  overhead: { result: Overheads; by: "kind" | "thread" };
  ranges: { result: Ranges; by: "name" | "domain" };
  counters: { result: Counters; by: never };
  heap: { result: Heap; by: never };
  memory_profile: { result: MemoryProfile; by: never };
  memory_viewer: { result: MemoryViewer; by: never };
  graph_viewer: { result: GraphViewer; by: never };
  locks: { result: Locks; by: never };
  files: { result: Files; by: "path" | "thread" };
  input_pipeline: { result: InputPipeline; by: never };
  tf_data: { result: TfData; by: never };
  python: { result: Python; by: "function" | "line" | "module" | "thread" };
  stacks: { result: Stacks; by: "cpu" | "gil" | "heap_alloc" | "heap_allocs" | "heap_live" | "heap_peak" | "kernel" | "mmap" | "native" | "python" | "samples" | "wait" | "wait_all" | "waits" };
  threads: { result: Threads; by: never };
  health: { result: Health; by: never };
  diff: { result: Diff; by: never };
}

export interface Overview {
  meta: Meta;
  steps: StepSeries | null;
  steps_advice: string;
  input: OverviewInput | null;
  top_ops: Op[];
  worker_ops: Op[];
  top_locks: Lock[];
  memory: OverviewMemory | null;
  cost: OverviewCost | null;
  processes: OverviewProcess[];
  environment: OverviewEnvironment | null;
  findings: Finding[];
  more_steps: StepSeries[];
  gpu: OverviewGpu | null;
  call_stacks: CallStacks | null;
  verdict: Verdict | null;
  device_series: DeviceSeries[];
  phases: PhaseTime[];
  step_points: Step[];
  steps_per_s: number | null;
  main: OverviewMain | null;
  run_ns: number;
  step: StepPeriod | null;
  functions: OverviewFunctions | null;
}

export interface Advice {
  meta: Meta;
  verdict: Verdict | null;
  findings: Finding[];
  not_checked: UncheckedRule[];
}

export interface Steps {
  meta: Meta;
  series: StepSeries[];
  steps: Step[];
  advice: string;
  device_series: DeviceSeries[];
  device_steps: DeviceStep[];
  iteration_series: IterationSeries[];
}

export interface Ops {
  meta: Meta;
  ops: Op[];
  count: number;
  self_ns: number;
  step_ns: number | null;
  step_count: number | null;
  by: string;
  device_ns: number | null;
  device_outside_ns: number | null;
  devices: OpDevice[];
  device_window_ns: number | null;
  module_source: "none" | "modules" | "scopes" | "ranges" | "functions" | "forwards";
}

export interface Kernels {
  meta: Meta;
  by: string;
  kernels: Kernel[];
  count: number;
  total_ns: number;
  busy_ns: number | null;
  under_range: string | null;
  tensor_cores_ns: number;
  tensor_cores_unknown_ns: number;
  whole_graph_count: number;
  families: KernelFamilyTime[];
  peak_source: string | null;
  compiled_kernels: CompiledKernel[];
}

export interface Roofline {
  meta: Meta;
  devices: RooflineRow[];
  categories: RooflineRow[];
  operations: RooflineRow[];
  peaks: RooflinePeak[];
  total_ns: number;
  known_ratio: number;
}

export interface OpProfile {
  meta: Meta;
  by: string;
  rows: OpProfileRow[];
  total_ns: number;
  window_ns: number | null;
  busy_ns: number | null;
  idle_ns: number | null;
}

export interface Serving {
  meta: Meta;
  engines: ServingEngine[];
  phases: ServingPhase[];
  iterations: ServingIteration[];
  advice: string;
  by: string;
}

export interface Memcpy {
  meta: Meta;
  by: string;
  copies: Copies[];
  count: number;
  total_bytes: number | null;
  total_ns: number;
  exposed_ns: number;
}

export interface DeviceMemory {
  meta: Meta;
  by: string;
  uses: MemoryUse[];
  devices: MemoryDevice[];
  pools: MemoryPool[];
  live: LiveAllocation[];
  count: number;
  allocated_bytes: number;
  end_count: number;
  end_bytes: number;
  implied_release_count: number;
  context_end_count: number;
  context_end_bytes: number;
  ended: LiveAllocation[];
}

export interface UnifiedMemory {
  meta: Meta;
  by: string;
  uses: UnifiedMemoryUse[];
  places: UnifiedMemoryPlace[];
  count: number;
  htod_bytes: number;
  dtoh_bytes: number;
  dtod_bytes: number;
  cpu_page_fault_count: number;
  gpu_page_fault_count: number;
  thrashing_count: number;
}

export interface ApiCalls {
  meta: Meta;
  by: string;
  calls: ApiCall[];
  count: number;
  total_ns: number;
}

export interface Syncs {
  meta: Meta;
  by: string;
  syncs: Sync[];
  count: number;
  host_ns: number;
  host_max_ns: number;
}

export interface Streams {
  meta: Meta;
  devices: DeviceUse[];
  streams: StreamUse[];
  waits: StreamWait[];
  host_functions: HostFunctions[];
}

export interface Idle {
  meta: Meta;
  devices: IdleDevice[];
  gaps: IdleGap[];
  operations: HostShare[];
  functions: HostShare[];
}

export interface CriticalPaths {
  meta: Meta;
  paths: CriticalPath[];
}

export interface Overlap {
  meta: Meta;
  devices: DeviceOverlap[];
}

export interface Pods {
  meta: Meta;
  time: "none" | "device" | "host";
  arrivals: "none" | "matched" | "unknown";
  rank_count: number;
  host_count: number;
  step_count: number;
  step_ns: number;
  wait_ns: number;
  wait_ratio: number;
  clock_spread_ns: number | null;
  clock_error_ns: number | null;
  ranks: PodRank[];
  groups: PodGroup[];
  steps: PodStep[];
  verdict: string;
}

export interface Communication {
  meta: Meta;
  match: "unknown" | "none" | "one_rank" | "different_order" | "unplaced" | "clocks" | "matched" | "several_groups";
  rank_count: number;
  matched_count: number;
  undecided_count: number;
  window_ns: number;
  of_kernels: boolean;
  clock_error_ns: number;
  late: Straggler | null;
  ranks: CollectiveRank[];
  waits: CollectiveWait[];
  operations: CollectiveOp[];
  waited_ns: number;
  lateness: "unknown" | "none" | "once" | "too_few" | "in_turns" | "late";
  most_late: Straggler | null;
  families: GroupFamily[];
  groups: CommunicationGroup[];
  group_operations: GroupOperation[];
  experts: ExpertLoad[];
  stages: PipelineStage[];
  unmatched_count: number;
  unnamed_count: number;
  clock_set_count: number;
  words: string;
}

export interface Stragglers {
  meta: Meta;
  match: "unknown" | "compared" | "none" | "one_rank" | "different_order" | "unplaced" | "clocks" | "no_steps" | "no_ends" | "too_large";
  of_kernels: boolean;
  rank_count: number;
  replica_count: number;
  stage_count: number;
  step_count: number;
  left_out_count: number;
  total_ns: number;
  ideal_ns: number;
  slowdown: number;
  observed_ns: number;
  simulation_error_ratio: number;
  clock_error_ns: number;
  verdict: "unknown" | "balanced" | "ranks" | "stage" | "in_turns";
  slowest_ratio: number | null;
  last_stage_ratio: number | null;
  saved_ns: number | null;
  saved_ratio: number | null;
  slow: SlowRank[];
  slow_stage: SlowStage | null;
  slow_hosts: string[];
  types: StragglerType[];
  ranks: StragglerRank[];
  stages: StragglerStage[];
  steps: StragglerStep[];
  lateness: "unknown" | "none" | "once" | "too_few" | "in_turns" | "late";
  late_name: string | null;
  waited_per_step_ns: number | null;
  words: string;
}

export interface FlightRecorder {
  meta: Meta;
  verdict: string[];
  problems: FlightProblem[];
  groups: FlightGroupState[];
  ranks: FlightRank[];
  late_ranks: FlightLateRank[];
  missing_dumps: number[];
  undecided: FlightProblem[];
}

export interface Graphs {
  meta: Meta;
  by: string;
  graphs: Graph[];
  count: number;
  whole_count: number;
  total_ns: number;
  graph_count: number;
  modes: GraphModeChange[];
  call_count: number;
}

export interface Overheads {
  meta: Meta;
  by: string;
  overheads: Overhead[];
  count: number;
  cuda_ns: number;
  cupti_ns: number;
}

export interface Ranges {
  meta: Meta;
  by: string;
  ranges: Range[];
  count: number;
  mark_count: number;
  names: RangeName[];
  values: RangeValue[];
}

export interface Counters {
  meta: Meta;
  devices: CounterDevice[];
  counters: CounterUse[];
  reasons: ClocksEventReason[];
  absence: string;
}

export interface Heap {
  meta: Meta;
  processes: HeapProcess[];
  stacks: HeapStack[];
  timeline: HeapPoint[];
  sizes: HeapSize[];
  tensors: TensorDevice[];
  tensor_ops: TensorOp[];
  tensor_timeline: TensorPoint[];
  short_lived_ns: number;
  mapped: MappedMemory[];
  mapping_stacks: MappingStack[];
  call_stacks: CallStacks | null;
  tensor_histories: TensorHistory[];
}

export interface MemoryProfile {
  meta: Meta;
  devices: MemoryProfileDevice[];
  categories: MemoryProfileCategory[];
  stacks: MemoryProfileStack[];
  timeline: MemoryProfilePoint[];
  failures: MemoryProfileFailure[];
}

export interface MemoryViewer {
  meta: Meta;
  programs: MemoryViewerProgram[];
  program: string;
  spaces: MemoryViewerSpace[];
  buffers: MemoryViewerBuffer[];
  timeline: MemoryViewerMoment[];
}

export interface GraphViewer {
  meta: Meta;
  programs: GraphViewerProgram[];
  program: string;
  op: string;
  depth: number;
  nodes: GraphViewerNode[];
  edges: GraphViewerEdge[];
}

export interface Locks {
  meta: Meta;
  locks: Lock[];
  kinds: LockKind[];
  contended_count: number;
  contended_ns: number;
  step_contended_ns: number | null;
  edges: LockEdge[];
  holders: LockHolder[];
  intervals: LockInterval[];
  deadlocks: Deadlock[];
  call_stacks: CallStacks | null;
}

export interface Files {
  meta: Meta;
  by: string;
  files: FileReads[];
  count: number;
  total_bytes: number;
  total_ns: number;
  failed_count: number;
  captured_ns: number;
  file_count: number;
  thread_count: number;
}

export interface InputPipeline {
  meta: Meta;
  input_bound: boolean;
  stage: "none" | "unknown" | "sample" | "source" | "lock" | "collate" | "order" | "transfer" | "iterator";
  workers_suffice: number | null;
  sources: InputSource[];
  stages: InputStageTime[];
  workers: InputWorker[];
  batches: InputBatch[];
}

export interface TfData {
  meta: Meta;
  pipelines: DataPipeline[];
  iterators: DataIterator[];
}

export interface Python {
  meta: Meta;
  by: string;
  functions: FunctionTime[];
  cpu_ns: number;
  gil_ns: number;
  wait_ns: number;
  count: number;
  thread_count: number;
  process_count: number;
  holders: GilHolder[];
  has_interpreter: boolean;
  ready_ns: number;
  calls: FunctionCalls[];
  pauses: GcPauses[];
  call_count: number;
  pause_count: number;
  pause_ns: number;
  incomplete_count: number;
  has_traced: boolean;
}

export interface Stacks {
  meta: Meta;
  by: string;
  by_default: boolean;
  unit: string;
  meaning: string;
  total: number;
  total_low: number;
  total_high: number;
  estimated: boolean;
  truncated: number;
  stacks: FoldedStack[];
  call_stacks: CallStacks | null;
}

export interface Threads {
  meta: Meta;
  threads: Thread[];
  processes: ThreadProcess[];
}

export interface Health {
  meta: Meta;
  processes: HealthProcess[];
}

export interface Diff {
  before: Meta;
  after: Meta;
  verdict: "none" | "regression" | "improvement" | "neutral" | "inconclusive";
  comparability: Comparability;
  steps: StepDiff;
  categories: CategoryDiff[];
  kernels: RowDiff[];
  ops: RowDiff[];
  neutral_ratio: number;
  baseline_name: string;
  baseline_saved_realtime_ns: number;
}

export interface Meta {
  pass: string;
  schema_version: number;
  path: string;
  inputs: Input[];
  origin_realtime_ns: number;
  window_start_ns: number;
  window_end_ns: number;
  losses: Loss[];
  lost_count: number;
  confidence: Confidence | null;
  notes: string[];
  skipped: Skipped[];
}

export interface StepSeries {
  pid: number;
  tid: number;
  name: string;
  method: "none" | "marker" | "ranges" | "optimizer" | "loader" | "backward" | "modules";
  marker: string;
  confidence: Confidence | null;
  count: number;
  warmup_count: number;
  warmup_ns: number;
  outlier_count: number;
  partial_count: number;
  other_batch_count: number;
  batches_per_step: number;
  total_ns: number;
  mean_ns: number;
  stddev_ns: number;
  min_ns: number;
  p10_ns: number;
  median_ns: number;
  p90_ns: number;
  p99_ns: number;
  max_ns: number;
  spread_ratio: number;
  coverage_ratio: number;
  categories: StepCategory[];
  captured_ns: number;
  host: string;
}

export interface OverviewInput {
  loader: string;
  share_ratio: number;
  waiting_step_count: number;
  worker_count: number;
  worker_busy_ratio: number | null;
  worker_runqueue_wait_ratio: number | null;
  worker_cpu_per_step_ns: number | null;
  mean_ns: number;
  max_ns: number;
}

export interface Op {
  name: string;
  short_name: string;
  scope: string;
  count: number;
  total_ns: number;
  self_ns: number;
  mean_ns: number;
  min_ns: number;
  median_ns: number;
  max_ns: number;
  self_ratio: number;
  step_ratio: number | null;
  incomplete_count: number;
  thread_count: number;
  process_count: number;
  places: OpPlace[];
  pid: number | null;
  tid: number | null;
  count_per_step: number | null;
  step_self_ns: number | null;
  host: string | null;
  device_ns: number | null;
  device_self_ns: number | null;
  shapes: string | null;
  types: string | null;
  device_self_ratio: number | null;
  device_self_window_ratio: number | null;
  execution: "none" | "eager" | "compiled" | "graph" | "mixed";
  execution_evidence: "none" | "region" | "name" | "hlo" | "cuda_graph" | "operation";
  device_count: number | null;
  device_backward_ns: number | null;
  module_count: number | null;
  family: "none" | "matrix" | "convolution" | "attention" | "normalisation" | "softmax" | "reduction" | "elementwise" | "copy" | "embedding" | "routing" | "index" | "random" | "optimizer" | "collective" | "other" | null;
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
  pid: number;
  object: number;
  thread_count: number;
  threads: string[];
  timed_out_count: number;
  incomplete_count: number;
  step_ns: number | null;
  step_blocked_ns: number | null;
  caller: Frame | null;
  call_stack: number;
  max_start_ns: number;
  max_tid: number;
  holders: string[];
  holder_known_ns: number;
  host: string;
}

export interface OverviewMemory {
  heap_mode: string;
  period_bytes: number;
  count: number;
  allocated_bytes: number;
  allocated_low_bytes: number;
  allocated_high_bytes: number;
  peak_pid: number;
  peak_bytes: number;
  peak_low_bytes: number;
  peak_high_bytes: number;
  peak_time_ns: number;
  peak_stack_bytes: number;
  peak_stack_name: string;
  peak_call_stack: number;
  end_bytes: number;
  tensors: OverviewTensor[];
  lost_count: number;
}

export interface OverviewCost {
  drain_cpu_ns: number | null;
  stack_ns: number;
  stack_count: number;
  op_event_count: number;
  op_callback_ns: number | null;
  op_ns: number;
  slowdown_ratio: number | null;
  background_ratio: number | null;
  file_bytes: number;
  count: number;
  memory_bytes: number;
  unmeasured_process_count: number;
  activity_missing_ns: number;
  let_go_count: number;
  lost_thread_count: number;
  room_wait_count: number;
  room_wait_ns: number;
  begin_end_ns: number | null;
  begin_end_count: number | null;
  capture_count: number;
  captured_ns: number;
  life_ns: number;
  begun_by: OverviewTrigger[];
  ended_by: OverviewTrigger[];
}

export interface OverviewProcess {
  pid: number;
  ppid: number;
  name: string;
  role: "none" | "program" | "training" | "inference" | "loader_worker" | "helper";
  start_ns: number;
  end_ns: number;
  ended: string;
  thread_count: number;
  count: number;
  lost_count: number;
  cpu_ratio: number | null;
  step_count: number;
  recovered: boolean;
  host: string;
}

export interface OverviewEnvironment {
  command: string;
  host: string;
  kernel: string;
  cpu_model: string;
  core_count: number;
  memory_bytes: number;
  frameworks: string[];
  settings: string[];
  writer_version: string;
  exit_status: number | null;
  variables: EnvironmentVariable[];
  wall_ns: number;
  gpu_driver: string;
  devices: OverviewDevice[];
  attached_after_ns: number | null;
  unseen: string[];
}

export interface Finding {
  id: string;
  name: string;
  severity: "info" | "low" | "medium" | "high";
  gain: Gain | null;
  evidence: string[];
  fix: string[];
  confidence: Confidence | null;
  caveat: string;
  place: Place | null;
  remedies: Remedy[];
}

export interface OverviewGpu {
  device_count: number;
  window_ns: number | null;
  busy_ns: number | null;
  busy_ratio: number | null;
  idle_ns: number | null;
  idle_cause: string;
  idle_cause_ns: number | null;
  kernel_count: number;
  kernel_ns: number;
  top_kernels: Kernel[];
  copy_count: number;
  copy_bytes: number | null;
  copy_ns: number;
  exposed_copy_ns: number | null;
  whole_graph_count: number;
  memory_peak_bytes: number | null;
  memory_peak_time_ns: number | null;
  memory_peak_ratio: number | null;
  memory_device: string | null;
  memory_pid: number | null;
  shared_device_count: number;
  untold_device_count: number;
  left_out_process_count: number;
  idle_unseen_ns: number | null;
  busy_high_ns: number | null;
  busy_high_ratio: number | null;
  families: KernelFamilyTime[];
}

export interface CallStacks {
  frames: Frame[];
  frame: number[];
  caller: number[];
}

export interface Verdict {
  bound: "none" | "compute" | "host" | "input" | "compile" | "collectives" | "copies" | "launch" | "dependency" | "unexplained" | "first_use" | "unknown";
  bound_ratio: number;
  pid: number;
  host: string;
  device: number;
  window: "none" | "mark" | "device" | "all" | "period";
  step_ns: number;
  busy_ratio: number;
  confidence: Confidence | null;
  is_selection: boolean;
  what_ifs: WhatIf[];
  sm_active_ratio: number | null;
  tensor_active_ratio: number | null;
  dram_active_ratio: number | null;
  families: VerdictFamily[];
  missing: MissingWork | null;
}

export interface DeviceSeries {
  pid: number;
  host: string;
  device: number;
  name: string;
  window: "none" | "mark" | "device" | "all" | "period";
  count: number;
  total_ns: number;
  mean_ns: number;
  median_ns: number;
  busy_ns: number;
  busy_ratio: number;
  categories: CategoryTime[];
  start_ns: number;
  end_ns: number;
  typical_number: number;
}

export interface PhaseTime {
  phase: "none" | "unrecorded" | "before_steps" | "cuda_setup" | "compile" | "warm_up" | "steps" | "between_steps" | "after_steps" | "run" | "start_up" | "graph_capture" | "evaluation" | "checkpoint" | "waiting" | "others";
  total_ns: number;
  total_ratio: number;
  largest: string;
}

export interface Step {
  pid: number;
  number: number;
  start_ns: number;
  duration_ns: number;
  input_ns: number;
  forward_ns: number;
  backward_ns: number;
  optimizer_ns: number;
  lock_wait_ns: number;
  other_ns: number;
  op_count: number;
  batch_count: number;
  warmup: boolean;
  outlier: boolean;
  outlier_category: string;
  capture: number;
  host: string;
  tid: number;
  blocked_ns: number;
  phase: "none" | "prefill" | "decode" | "mixed" | "idle";
  request_count: number | null;
  token_count: number | null;
}

export interface OverviewMain {
  pid: number;
  host: string;
  name: string;
  process_count: number;
}

export interface StepPeriod {
  count: number;
  mean_ns: number;
  median_ns: number;
  p10_ns: number;
  p90_ns: number;
  is_of_device: boolean;
  pid: number;
  host: string;
  device: number | null;
}

export interface OverviewFunctions {
  cpu_ns: number;
  gil_ns: number;
  wait_ns: number;
  count: number;
  functions: FunctionTime[];
  holders: GilHolder[];
  ready_ns: number;
}

export interface UncheckedRule {
  id: string;
  name: string;
  need: "none" | "steps" | "device_work" | "calls" | "operations" | "heap" | "locks" | "files" | "threads" | "python" | "pages" | "shapes" | "device_memory" | "readings" | "samples" | "pauses";
  fix: string;
}

export interface DeviceStep {
  pid: number;
  host: string;
  device: number;
  number: number;
  window: "none" | "mark" | "device" | "all" | "period";
  start_ns: number;
  duration_ns: number;
  busy_ns: number;
  busy_ratio: number;
  kernel_count: number;
  warmup: boolean;
  categories: CategoryTime[];
}

export interface IterationSeries {
  pid: number;
  host: string;
  tid: number;
  phase: "none" | "prefill" | "decode" | "mixed" | "idle";
  count: number;
  total_ns: number;
  median_ns: number;
  p95_ns: number;
  mean_request_count: number | null;
  token_count: number | null;
  tokens_per_s: number | null;
  busy_ratio: number | null;
  gap_total_ns: number | null;
  gap_median_ns: number | null;
  gap_p95_ns: number | null;
}

export interface OpDevice {
  device: number;
  host: string;
  pid: number;
  window_ns: number;
  busy_ns: number;
  idle_ns: number;
  idle_ratio: number;
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
  median_ns: number | null;
  pid: number;
  device: number;
  grid: string | null;
  block: string | null;
  cluster: string | null;
  registers_per_thread_count: number | null;
  static_shared_bytes: number | null;
  dynamic_shared_bytes: number | null;
  local_bytes_per_thread: number | null;
  signature_count: number;
  mangled: string;
  context: number | null;
  stream: number | null;
  graph_count: number | null;
  launched_count: number | null;
  occupancy_ratio: number | null;
  occupancy_limit: "none" | "warps" | "registers" | "shared_memory" | "blocks";
  wave_count: number | null;
  tensor_cores: "unknown" | "yes" | "no";
  tensor_cores_evidence_kind: "none" | "sass" | "name" | "operation" | "device";
  tensor_cores_evidence: string;
  tensor_cores_input: string;
  host: string;
  op: string | null;
  launched_by: string | null;
  step_count: number | null;
  count_per_step: number | null;
  is_tensor_core_eligible: boolean | null;
  precision: "unknown" | "fp64" | "fp32" | "tf32" | "bf16" | "fp16" | "fp8" | "int8" | "fp4" | "mixed";
  precision_evidence: "none" | "sass" | "name" | "operation" | "device";
  execution: "none" | "eager" | "compiled" | "graph" | "mixed";
  execution_evidence: "none" | "region" | "name" | "hlo" | "cuda_graph" | "operation";
  flop_count: number | null;
  flop_per_s: number | null;
  flop_evidence: "none" | "source" | "shapes" | "mixed" | "hlo";
  moved_bytes: number | null;
  moved_gb_per_s: number | null;
  bytes_estimate: number | null;
  estimate_gb_per_s: number | null;
  op_evidence: "none" | "call" | "capture" | "graph" | "source";
  device_count: number | null;
  family: "none" | "matrix" | "convolution" | "attention" | "normalisation" | "softmax" | "reduction" | "elementwise" | "copy" | "embedding" | "routing" | "index" | "random" | "optimizer" | "collective" | "other" | null;
  peak_flop_per_s: number | null;
  peak_flop_ratio: number | null;
  peak_gb_per_s: number | null;
  name_count: number | null;
  source: string | null;
  fused_operations: string[];
}

export interface KernelFamilyTime {
  family: "none" | "matrix" | "convolution" | "attention" | "normalisation" | "softmax" | "reduction" | "elementwise" | "copy" | "embedding" | "routing" | "index" | "random" | "optimizer" | "collective" | "other";
  count: number;
  total_ns: number;
  total_ratio: number;
  largest: string;
}

export interface CompiledKernel {
  name: string;
  source: string | null;
  fused_operations: string[];
  values: string[];
  sources: CompiledSource[];
  generated_file: string;
  generated_line: number | null;
  pid: number;
  host: string;
  launch_count: number;
}

export interface RooflineRow {
  name: string;
  device_name: string;
  device_count: number;
  program: string | null;
  category: string;
  count: number;
  total_ns: number;
  total_ratio: number;
  op_evidence: "none" | "call" | "capture" | "graph" | "source";
  flop_count: number | null;
  flop_evidence: "none" | "source" | "shapes" | "mixed" | "hlo";
  flop_ns: number;
  flop_per_s: number | null;
  bytes: number | null;
  bytes_evidence: "none" | "source" | "shapes" | "mixed" | "hlo";
  bytes_ns: number;
  gb_per_s: number | null;
  flop_per_byte: number | null;
  known_ratio: number;
  bound: "unknown" | "compute" | "memory";
  roof_flop_per_s: number | null;
  roof_ratio: number | null;
  precision: "unknown" | "fp64" | "fp32" | "tf32" | "bf16" | "fp16" | "fp8" | "int8" | "fp4" | "mixed";
  peak_flop_per_s: number | null;
  peak_flop_ratio: number | null;
  peak_gb_per_s: number | null;
  peak_gb_ratio: number | null;
  step_count: number | null;
  step_flop_ratio: number | null;
}

export interface RooflinePeak {
  name: string;
  precision: "unknown" | "fp64" | "fp32" | "tf32" | "bf16" | "fp16" | "fp8" | "int8" | "fp4" | "mixed";
  peak_flop_per_s: number | null;
  peak_gb_per_s: number | null;
  ridge_flop_per_byte: number | null;
  peak_flop_source: string;
  peak_gb_source: string;
  total_ns: number;
}

export interface OpProfileRow {
  level: "none" | "program" | "category" | "operation" | "idle";
  name: string;
  program: string;
  category: string;
  operation_count: number;
  count: number;
  total_ns: number;
  total_ratio: number | null;
  parent_ratio: number | null;
  window_ratio: number | null;
  flop_count: number | null;
  flop_evidence: "none" | "source" | "shapes" | "mixed" | "hlo";
  flop_per_s: number | null;
  peak_flop_ratio: number | null;
  bytes: number | null;
  bytes_evidence: "none" | "source" | "shapes" | "mixed" | "hlo";
  gb_per_s: number | null;
  peak_gb_ratio: number | null;
  flop_known_ratio: number;
}

export interface ServingEngine {
  pid: number;
  host: string;
  tid: number;
  name: string;
  marker: string;
  count: number;
  partial_count: number;
  total_ns: number;
  pause_count: number;
  pause_ns: number;
  device: number | null;
  device_name: string;
  token_gap_count: number | null;
  token_gap_median_ns: number | null;
  token_gap_p95_ns: number | null;
  token_gap_p99_ns: number | null;
  token_gap_max_ns: number | null;
  token_gap_prefill_count: number | null;
  prompt_token_count: number | null;
  generation_token_count: number | null;
  prompt_tokens_per_s: number | null;
  generation_tokens_per_s: number | null;
  cached_token_peak_count: number | null;
  twin_count: number;
  marked: boolean;
}

export interface ServingPhase {
  pid: number;
  host: string;
  tid: number;
  phase: "none" | "prefill" | "decode" | "mixed" | "idle" | null;
  count: number;
  total_ns: number;
  median_ns: number;
  p95_ns: number;
  p99_ns: number;
  max_ns: number;
  total_ratio: number;
  mean_request_count: number | null;
  prompt_token_count: number | null;
  generation_token_count: number | null;
  tokens_per_s: number | null;
  forward_ns: number | null;
  busy_ns: number | null;
  bubble_count: number;
  bubble_ns: number | null;
  bubble_median_ns: number | null;
  bubble_p95_ns: number | null;
  bubble_ratio: number | null;
  busy_ratio: number | null;
  bubble_categories: CategoryTime[];
  bubble_category: "none" | "compute_fp64" | "compute_fp32" | "compute_tf32" | "compute_bf16" | "compute_fp16" | "compute_fp8" | "compute_int8" | "compute_fp4" | "compute_unknown" | "graph" | "collective" | "copy_htod" | "copy_dtoh" | "copy_dtod" | "input" | "output" | "compile" | "sync" | "profiler" | "host" | "launch" | "dependency" | "unexplained" | null;
  kernel_count: number;
  graph_kernel_count: number;
  cached_token_peak_count: number | null;
  mark_ns: number;
  timed_count: number;
  bubble_operation: string;
  bubble_function: string;
  request_count: number | null;
}

export interface ServingIteration {
  pid: number;
  host: string;
  tid: number;
  number: number;
  phase: "none" | "prefill" | "decode" | "mixed" | "idle" | null;
  start_ns: number;
  mark_ns: number;
  duration_ns: number | null;
  request_count: number | null;
  prefill_request_count: number | null;
  decode_request_count: number | null;
  token_count: number | null;
  prompt_token_count: number | null;
  generation_token_count: number | null;
  cached_token_count: number | null;
  forward_ns: number | null;
  busy_ns: number | null;
  bubble_ns: number | null;
  bubble_category: "none" | "compute_fp64" | "compute_fp32" | "compute_tf32" | "compute_bf16" | "compute_fp16" | "compute_fp8" | "compute_int8" | "compute_fp4" | "compute_unknown" | "graph" | "collective" | "copy_htod" | "copy_dtoh" | "copy_dtod" | "input" | "output" | "compile" | "sync" | "profiler" | "host" | "launch" | "dependency" | "unexplained" | null;
  kernel_count: number;
  graph_kernel_count: number;
  capture: number;
  follows_pause: boolean;
  token_gap_ns: number | null;
  token_gap_prefill: boolean;
  mark: string;
  bubble_operation: string;
  bubble_function: string;
}

export interface Copies {
  name: string;
  source: "unknown" | "pageable" | "pinned" | "device" | "array" | "managed" | "device_static" | "managed_static" | null;
  destination: "unknown" | "pageable" | "pinned" | "device" | "array" | "managed" | "device_static" | "managed_static" | null;
  count: number;
  async_count: number;
  graph_count: number;
  total_bytes: number | null;
  total_ns: number;
  total_ratio: number;
  mean_ns: number;
  min_ns: number;
  max_ns: number;
  gb_per_s: number | null;
  pid: number;
  device: number;
  context: number | null;
  stream: number | null;
  limit_gb_per_s: number | null;
  limit: "none" | "pcie" | "memory" | null;
  limit_ratio: number | null;
  host: string;
  max_start_ns: number;
}

export interface MemoryUse {
  name: string;
  pid: number;
  device: number;
  count: number;
  release_count: number;
  async_count: number;
  allocated_bytes: number;
  mean_bytes: number;
  min_bytes: number;
  max_bytes: number;
  peak_bytes: number;
  peak_time_ns: number;
  end_bytes: number;
  end_count: number;
  older_count: number;
  older_bytes: number;
  mean_life_ns: number;
  allocation_call_ns: number | null;
  release_call_ns: number | null;
  call_ratio: number | null;
  pool_address: number | null;
  context: number | null;
  stream: number | null;
  low_bytes: number | null;
  high_bytes: number | null;
  host: string;
  context_end_count: number;
  context_end_bytes: number;
}

export interface MemoryDevice {
  name: string;
  pid: number;
  device: number;
  capacity_bytes: number | null;
  peak_bytes: number;
  peak_time_ns: number;
  peak_ratio: number | null;
  end_bytes: number;
  older_count: number;
  older_bytes: number;
  begun_late: boolean;
  profiler_bytes: number | null;
  context_count: number;
  profiler_pinned: boolean;
  host: string;
  context_peak_count: number;
}

export interface MemoryPool {
  name: string;
  pid: number;
  device: number;
  pool_address: number;
  imported: boolean;
  managed: boolean;
  created: boolean;
  destroyed: boolean;
  count: number;
  allocated_bytes: number;
  utilized_peak_bytes: number;
  utilized_peak_time_ns: number;
  utilized_end_bytes: number;
  reserved_peak_bytes: number;
  reserved_at_peak_bytes: number;
  reserved_end_bytes: number;
  fragmentation_ratio: number | null;
  end_fragmentation_ratio: number | null;
  threshold_bytes: number;
  trim_count: number;
  trimmed_bytes: number;
  kind: string;
  host: string;
}

export interface LiveAllocation {
  name: string;
  short_name: string;
  pid: number;
  device: number;
  kind: string;
  address: number;
  size_bytes: number;
  time_ns: number;
  function: string | null;
  tid: number | null;
  pool_address: number | null;
  stream: number | null;
  caller: Frame | null;
  context: number;
  age_ns: number;
  async: boolean;
  host: string;
}

export interface UnifiedMemoryUse {
  name: string;
  cause: string;
  device: number | null;
  count: number;
  bytes: number;
  total_ns: number;
  max_ns: number;
  bytes_per_second: number;
  pid: number;
  host: string;
}

export interface UnifiedMemoryPlace {
  pid: number;
  address: number;
  migration_count: number;
  bytes: number;
  cpu_page_fault_count: number;
  gpu_page_fault_count: number;
  host: string;
}

export interface ApiCall {
  name: string;
  domain: "none" | "runtime" | "driver" | null;
  count: number;
  total_ns: number;
  total_ratio: number;
  mean_ns: number;
  median_ns: number;
  min_ns: number;
  max_ns: number;
  error_count: number;
  first_error: number;
  work_count: number;
  mean_delay_ns: number;
  pid: number;
  tid: number | null;
  host: string;
  max_start_ns: number;
  max_tid: number;
}

export interface Sync {
  name: string;
  function: string | null;
  count: number;
  total_ns: number;
  total_ratio: number;
  mean_ns: number;
  median_ns: number;
  max_ns: number;
  short_count: number;
  pid: number;
  tid: number | null;
  device: number | null;
  context: number | null;
  stream: number | null;
  host: string;
  max_start_ns: number;
  max_tid: number | null;
  max_device: number | null;
}

export interface DeviceUse {
  pid: number;
  device: number;
  window_ns: number;
  busy_ns: number;
  busy_ratio: number;
  kernel_ns: number;
  copy_ns: number;
  kernel_and_copy_ns: number;
  several_kernels_ns: number;
  idle_host_ns: number;
  idle_launch_ns: number;
  idle_dependency_ns: number;
  idle_unknown_ns: number;
  gap_count: number;
  gap_max_ns: number;
  gap_max_start_ns: number;
  whole_graph_ns: number;
  name: string;
  host: string;
  idle_unseen_ns: number;
  idle_host_function_ns: number;
}

export interface StreamUse {
  pid: number;
  device: number;
  context: number;
  stream: number;
  kernel_count: number;
  copy_count: number;
  busy_ns: number;
  busy_ratio: number;
  overlap_ns: number;
  kernel_ns: number;
  copy_ns: number;
  name: string;
  whole_graph_count: number;
  whole_graph_ns: number;
  host: string;
}

export interface StreamWait {
  pid: number;
  device: number;
  context: number;
  stream: number;
  for_device: number | null;
  for_context: number | null;
  for_stream: number | null;
  count: number;
  held_up_ns: number;
  held_up_max_ns: number;
  blocking_count: number;
  name: string;
  short_name: string;
  host: string;
}

export interface HostFunctions {
  pid: number;
  host: string;
  device: number;
  context: number;
  stream: number;
  count: number;
  graph_node_count: number;
  total_ns: number;
  mean_ns: number;
  max_ns: number;
  idle_ns: number | null;
}

export interface IdleDevice {
  pid: number;
  host: string;
  device: number;
  name: string;
  window_ns: number;
  busy_ns: number;
  busy_ratio: number;
  idle_ns: number;
  gap_count: number;
  causes: CategoryTime[];
  hta_host_wait_ns: number;
  hta_kernel_wait_ns: number;
  hta_other_ns: number;
}

export interface IdleGap {
  pid: number;
  host: string;
  device: number;
  start_ns: number;
  duration_ns: number;
  cause: "none" | "compute_fp64" | "compute_fp32" | "compute_tf32" | "compute_bf16" | "compute_fp16" | "compute_fp8" | "compute_int8" | "compute_fp4" | "compute_unknown" | "graph" | "collective" | "copy_htod" | "copy_dtoh" | "copy_dtod" | "input" | "output" | "compile" | "sync" | "profiler" | "host" | "launch" | "dependency" | "unexplained";
  late_ns: number;
  name: string;
  short_name: string;
  function: string | null;
  tid: number | null;
  op: string | null;
  during_op: string | null;
  during_function: string | null;
  step: number | null;
  causes: CategoryTime[];
  host_function_ns: number | null;
}

export interface HostShare {
  name: string;
  total_ns: number;
  total_ratio: number;
  gap_count: number;
}

export interface CriticalPath {
  pid: number;
  host: string;
  first_step: number | null;
  last_step: number | null;
  typical_step_ns: number | null;
  start_ns: number;
  duration_ns: number;
  categories: CategoryTime[];
  shares: PathShare[];
  what_ifs: WhatIf[];
  node_count: number;
  edge_count: number;
}

export interface DeviceOverlap {
  pid: number;
  host: string;
  device: number;
  name: string;
  window_ns: number;
  busy_ns: number;
  compute_ns: number;
  collective_ns: number;
  copy_ns: number;
  graph_ns: number;
  compute_and_collective_ns: number;
  compute_and_copy_ns: number;
  collective_and_copy_ns: number;
  exposed_collective_ns: number;
  exposed_copy_ns: number;
  hidden_collective_ratio: number | null;
  hidden_copy_ratio: number | null;
  several_streams_ns: number;
  idle_ns: number;
}

export interface PodRank {
  pid: number;
  host: string;
  name: string;
  rank: number | null;
  device: number | null;
  group_row: number;
  outlier: boolean;
  outlier_time: string;
  outlier_ns: number;
  step_count: number;
  step_ns: number;
  input_ns: number;
  forward_ns: number;
  backward_ns: number;
  optimizer_ns: number;
  compute_ns: number;
  copy_ns: number;
  wait_ns: number;
  transfer_ns: number;
  host_ns: number;
  other_ns: number;
  clock_offset_ns: number;
}

export interface PodGroup {
  name: string;
  rank_count: number;
  host_count: number;
  outlier: boolean;
  outlier_time: string;
  step_ns: number;
  input_ns: number;
  forward_ns: number;
  backward_ns: number;
  optimizer_ns: number;
  compute_ns: number;
  copy_ns: number;
  wait_ns: number;
  transfer_ns: number;
  host_ns: number;
  other_ns: number;
}

export interface PodStep {
  number: number;
  start_ns: number;
  step_ns: number;
  input_ns: number;
  forward_ns: number;
  backward_ns: number;
  optimizer_ns: number;
  compute_ns: number;
  copy_ns: number;
  wait_ns: number;
  transfer_ns: number;
  host_ns: number;
  other_ns: number;
  max_ns: number;
  min_ns: number;
  slowest_name: string;
  slowest_ns: number;
}

export interface Straggler {
  pid: number;
  host: string;
  name: string;
  device: number | null;
  count: number;
  of_count: number;
  lead_ns: number;
  lead_ratio: number;
  max_ns: number;
  max_start_ns: number;
  caused_ns: number;
}

export interface CollectiveRank {
  pid: number;
  host: string;
  name: string;
  device: number | null;
  count: number;
  last_count: number;
  lead_ns: number;
  early_ns: number;
  waited_ns: number | null;
  exchange_ns: number | null;
  caused_ns: number;
  clock_offset_ns: number;
  last_ratio: number;
  inherited_ns: number;
  time_ns: number | null;
  exposed_ns: number | null;
  clock_set: number;
}

export interface CollectiveWait {
  pid: number;
  host: string;
  name: string;
  device: number | null;
  late_pid: number;
  late_name: string;
  late_host: string;
  count: number;
  early_ns: number;
  waited_ns: number | null;
  max_ns: number;
  max_start_ns: number;
}

export interface CollectiveOp {
  name: string;
  count: number;
  spread_ns: number;
  mean_ns: number;
  max_ns: number;
  max_start_ns: number;
  operation: "unknown" | "all_reduce" | "all_gather" | "reduce_scatter" | "all_to_all" | "broadcast" | "reduce" | "gather" | "scatter" | "barrier" | "send" | "receive";
  family: string;
  kind: "unknown" | "all" | "data" | "tensor" | "pipeline" | "expert" | "context" | "embedding" | "several";
  size_count: number;
  reach: "unknown" | "one_node" | "several_nodes";
  size_bytes: number | null;
  transfer_ns: number | null;
  transfer_count: number;
  mean_transfer_ns: number | null;
  algorithm_bytes_per_second: number | null;
  bus_bytes_per_second: number | null;
  gap: "none" | "one_rank" | "missing_ranks" | "not_matched" | "no_ends" | "no_bytes" | "no_data";
  group_count: number;
  bus_factor: number | null;
}

export interface GroupFamily {
  name: string;
  kind: "unknown" | "all" | "data" | "tensor" | "pipeline" | "expert" | "context" | "embedding" | "several";
  kind_source: "none" | "name" | "operations" | "ranks";
  kind_confidence: Confidence | null;
  size_count: number;
  group_count: number;
  rank_count: number;
  reach: "unknown" | "one_node" | "several_nodes";
  entry_count: number;
  count: number;
  time_ns: number | null;
  exposed_ns: number | null;
  hidden_ratio: number | null;
  early_ns: number;
  late_name: string | null;
  late_group: string;
  late_lead_ns: number;
  late_count: number;
  late_pid: number;
}

export interface CommunicationGroup {
  name: string;
  description: string;
  family: string;
  kind: "unknown" | "all" | "data" | "tensor" | "pipeline" | "expert" | "context" | "embedding" | "several";
  kind_source: "none" | "name" | "operations" | "ranks";
  size_count: number;
  rank_count: number;
  ranks: string;
  reach: "unknown" | "one_node" | "several_nodes";
  match: "unknown" | "none" | "one_rank" | "different_order" | "unplaced" | "clocks" | "matched" | "several_groups";
  is_numbered: boolean;
  entry_count: number;
  count: number;
  unmatched_count: number;
  time_ns: number | null;
  exposed_ns: number | null;
  early_ns: number;
  spread_ns: number;
  late_name: string | null;
  late_lead_ns: number;
}

export interface GroupOperation {
  group: string;
  family: string;
  name: string;
  operation: "unknown" | "all_reduce" | "all_gather" | "reduce_scatter" | "all_to_all" | "broadcast" | "reduce" | "gather" | "scatter" | "barrier" | "send" | "receive";
  count: number;
  spread_ns: number;
  size_bytes: number | null;
  transfer_ns: number | null;
  algorithm_bytes_per_second: number | null;
  bus_bytes_per_second: number | null;
  gap: "none" | "one_rank" | "missing_ranks" | "not_matched" | "no_ends" | "no_bytes" | "no_data";
}

export interface ExpertLoad {
  pid: number;
  host: string;
  name: string;
  group: string;
  received_bytes: number;
  load_ratio: number;
  count: number;
}

export interface PipelineStage {
  pid: number;
  host: string;
  name: string;
  message_count: number;
  count: number;
  window_ns: number;
  bubble_ns: number;
  bubble_ratio: number;
}

export interface SlowRank {
  pid: number;
  host: string;
  name: string;
  device: number | null;
  rank: number | null;
  stage: number;
  type: string;
  first_step: number;
  last_step: number;
  step_count: number;
  all_steps: boolean;
  extra_ns: number;
  usual_ns: number;
  step_ns: number;
  saved_ns: number;
  saved_ratio: number;
  cause: "unknown" | "slower_device" | "more_work" | "both";
  same_kernels_ratio: number | null;
  kernel: string;
  single_steps: boolean;
  every_step: number | null;
}

export interface SlowStage {
  stage: number;
  is_last: boolean;
  type: string;
  factor: number;
  saved_ns: number;
}

export interface StragglerType {
  name: string;
  slowdown: number;
  saved_ns: number;
  total_ns: number;
  transfer: boolean;
}

export interface StragglerRank {
  pid: number;
  host: string;
  name: string;
  device: number | null;
  rank: number | null;
  replica: number;
  stage: number;
  slowdown: number;
  saved_ns: number | null;
  work_ns: number;
  culprit_count: number;
  slowest: boolean;
  waited_ns: number | null;
}

export interface StragglerStage {
  stage: number;
  slowdown: number;
  saved_ns: number;
}

export interface StragglerStep {
  step: number;
  total_ns: number;
  ideal_ns: number;
  slowdown: number;
  rank: number | null;
  name: string;
  type: string;
  path_ns: number;
  extra_ns: number;
}

export interface FlightProblem {
  kind: "none" | "missing_enter" | "other_operation" | "other_order" | "other_sizes" | "other_types" | "missing_leave" | "missing_partner" | "other_message";
  group: string;
  group_description: string;
  sequence: number;
  is_message: boolean;
  operation: string;
  ranks: number[];
  waiting_ranks: number[];
  unknown_ranks: number[];
  last_common_sequence: number | null;
  sides: FlightSide[];
  caused_by: number | null;
  is_circle: boolean;
  has_no_majority: boolean;
  is_uncertain: boolean;
  timeout_ns: number | null;
  is_moment_uncertain: boolean;
}

export interface FlightGroupState {
  name: string;
  description: string;
  ranks: number[];
  dump_count: number;
  newest_sequence: number | null;
  last_common_sequence: number | null;
  last_completed_sequence: number | null;
  first_sequence: number | null;
  collective_count: number;
  message_count: number;
  has_states: boolean;
  is_incomplete: boolean;
  is_healthy: boolean;
}

export interface FlightRank {
  rank: number;
  name: string;
  version: string;
  library_version: string;
  count: number;
  lost_count: number;
  is_rank_guessed: boolean;
  operation: string;
  group: string;
  sequence: number | null;
  state: string;
  place: string;
  function: string;
  open_count: number | null;
  time_ns: number | null;
  pid: number;
  host: string;
  earlier_ns: number | null;
}

export interface FlightLateRank {
  group: string;
  rank: number;
  count: number;
  collective_count: number;
  late_ns: number;
  total_ns: number;
  operation: string;
  input_sizes: string;
  place: string;
  period: number;
  place_in_period: number;
}

export interface Graph {
  name: string;
  short_name: string;
  family: "none" | "matrix" | "convolution" | "attention" | "normalisation" | "softmax" | "reduction" | "elementwise" | "copy" | "embedding" | "routing" | "index" | "random" | "optimizer" | "collective" | "other" | null;
  count: number;
  total_ns: number;
  total_ratio: number;
  mean_ns: number;
  median_ns: number;
  min_ns: number;
  max_ns: number;
  pid: number;
  device: number;
  graph: number | null;
  source_graph: number | null;
  made: "unknown" | "in_capture" | "before_capture" | null;
  mode: "none" | "nodes" | "whole" | "both" | null;
  whole_count: number | null;
  kernel_count_per_launch: number | null;
  copy_count_per_launch: number | null;
  set_count_per_launch: number | null;
  call_count: number | null;
  call_total_ns: number | null;
  call_median_ns: number | null;
  first_call_ns: number | null;
  first_ns: number | null;
  busy_ns: number | null;
  gap_ns: number | null;
  gap_count: number | null;
  gap_max_ns: number | null;
  gap_ratio: number | null;
  node: number | null;
  kind: "none" | "copy" | "kernel" | "set" | null;
  mangled: string | null;
  host: string;
  owner_evidence: "none" | "call" | "capture" | "graph" | "source" | null;
  owner_gap: "none" | "before_capture" | "not_told" | "outside" | null;
  node_count: number | null;
  launched_by: string | null;
  shapes: string | null;
}

export interface GraphModeChange {
  name: "none" | "nodes" | "whole" | "both";
  pid: number;
  capture: number;
  time_ns: number;
  node_count: number | null;
  host: string;
}

export interface Overhead {
  name: string;
  count: number;
  total_ns: number;
  mean_ns: number;
  max_ns: number;
  max_start_ns: number;
  is_recorder: boolean;
  pid: number;
  tid: number | null;
  cache_bytes: number;
  host: string;
}

export interface Range {
  name: string;
  domain: string;
  kind: "none" | "push_pop" | "start_end" | "mark";
  count: number;
  total_ns: number;
  self_ns: number | null;
  mean_ns: number;
  median_ns: number;
  min_ns: number;
  max_ns: number;
  thread_count: number;
  process_count: number;
  incomplete_count: number;
  crossing_count: number;
  device_ns: number | null;
}

export interface RangeName {
  name: string;
  kind: "none" | "thread" | "category" | "device" | "context" | "stream" | "event";
  number: number;
  domain: string;
  pid: number;
  host: string;
}

export interface RangeValue {
  name: string;
  range: string;
  domain: string;
  kind: "none" | "push_pop" | "start_end" | "mark";
  count: number;
  unit: string;
  sum_value: number | null;
  mean_value: number | null;
  min_value: number | null;
  max_value: number | null;
  text_count: number | null;
  most_frequent: string | null;
  most_frequent_count: number | null;
}

export interface CounterDevice {
  device: number;
  name: string;
  uuid: string;
  host: string;
  has_gpm: boolean;
  is_mig: boolean;
  count: number;
  period_ns: number;
  cuda_devices: CudaDevice[];
  pm_count: number;
  pm_period_ns: number;
}

export interface CounterUse {
  device: number | null;
  device_uuid: string;
  host: string;
  name: string;
  unit: string;
  source: string;
  pid: number;
  count: number;
  mean: number;
  min: number;
  p50: number;
  p95: number;
  max: number;
  covered_ns: number;
  last: number;
}

export interface ClocksEventReason {
  device: number;
  host: string;
  name: string;
  total_ns: number;
  total_ratio: number;
}

export interface HeapProcess {
  pid: number;
  name: string;
  mode: "off" | "sampled" | "exact";
  period_bytes: number;
  sample_count: number;
  count: number;
  count_low: number;
  count_high: number;
  allocated_bytes: number;
  allocated_low_bytes: number;
  allocated_high_bytes: number;
  peak_bytes: number;
  peak_low_bytes: number;
  peak_high_bytes: number;
  peak_time_ns: number;
  end_bytes: number;
  end_low_bytes: number;
  end_high_bytes: number;
  end_count: number;
  short_lived_count: number;
  short_lived_bytes: number;
  unmatched_free_count: number;
  implied_free_count: number;
  count_per_s: number;
  allocated_bytes_per_s: number;
  count_per_step: number | null;
  allocated_bytes_per_step: number | null;
  host: string;
  lost_count: number;
}

export interface HeapStack {
  pid: number;
  name: string;
  short_name: string;
  count: number;
  count_low: number;
  count_high: number;
  allocated_bytes: number;
  allocated_low_bytes: number;
  allocated_high_bytes: number;
  peak_bytes: number;
  peak_ratio: number;
  end_bytes: number;
  end_count: number;
  short_lived_count: number;
  sample_count: number;
  mean_life_ns: number;
  stack_id: number;
  call_stack: number;
  host: string;
}

export interface HeapPoint {
  pid: number;
  time_ns: number;
  live_bytes: number;
}

export interface HeapSize {
  low_bytes: number;
  high_bytes: number;
  count: number;
  allocated_bytes: number;
  short_lived_count: number;
  sample_count: number;
}

export interface TensorDevice {
  pid: number;
  name: string;
  count: number;
  allocated_bytes: number;
  peak_bytes: number;
  peak_time_ns: number;
  end_bytes: number;
  end_count: number;
  unmatched_free_count: number;
  implied_free_count: number;
  reported_peak_bytes: number | null;
  reserved_peak_bytes: number | null;
  short_lived_count: number;
  count_per_step: number | null;
  allocated_bytes_per_step: number | null;
  host: string;
}

export interface TensorOp {
  pid: number;
  device: string;
  name: string;
  count: number;
  allocated_bytes: number;
  peak_bytes: number;
  peak_ratio: number;
  end_bytes: number;
  host: string;
}

export interface TensorPoint {
  pid: number;
  device: string;
  time_ns: number;
  live_bytes: number;
}

export interface MappedMemory {
  pid: number;
  name: string;
  kind: "none" | "file" | "memory" | "reserved";
  count: number;
  mapped_bytes: number;
  peak_bytes: number;
  peak_time_ns: number;
  end_bytes: number;
  unmatched_bytes: number;
  host: string;
}

export interface MappingStack {
  pid: number;
  name: string;
  short_name: string;
  kind: "none" | "file" | "memory" | "reserved";
  count: number;
  mapped_bytes: number;
  peak_bytes: number;
  peak_ratio: number;
  end_bytes: number;
  stack_id: number;
  call_stack: number;
  host: string;
}

export interface TensorHistory {
  pid: number;
  device: string;
  by: "none" | "operation" | "module";
  time_ns: number[];
  live_bytes: number[];
  owners: TensorOwner[];
  host: string;
}

export interface MemoryProfileDevice {
  pid: number;
  host: string;
  name: string;
  source: "recording" | "snapshot" | "xspace";
  event_count: number;
  peak_bytes: number;
  peak_time_ns: number;
  peak_range: string;
  recorded_peak_bytes: number;
  before_bytes: number;
  before_count: number;
  before_freed_bytes: number;
  end_bytes: number;
  end_count: number;
  recorded_end_bytes: number;
  requested_end_bytes: number | null;
  pending_end_bytes: number | null;
  reserved_peak_bytes: number | null;
  reserved_at_peak_bytes: number | null;
  reserved_end_bytes: number | null;
  segment_count: number | null;
  pool_free_bytes: number | null;
  largest_free_bytes: number | null;
  fragmentation_ratio: number | null;
  private_pool_bytes: number | null;
  private_free_bytes: number | null;
  growth_per_step_bytes: number | null;
  step_count: number;
  uncounted_count: number;
  uncounted_bytes: number;
  implied_free_count: number;
  unknown_event_count: number;
  before_peak_bytes: number;
  peak_count: number;
  reported_peak_bytes: number | null;
  lifetime_peak_bytes: number | null;
  program_peak_bytes: number | null;
  free_at_peak_bytes: number | null;
  fragmentation_at_peak_ratio: number | null;
  verdict: string;
}

export interface MemoryProfileCategory {
  pid: number;
  host: string;
  device: string;
  category: "unknown" | "parameters" | "gradients" | "optimizer_state" | "activations" | "temporary" | "communication" | "kv_cache" | "graphs";
  evidence: "none" | "stack" | "pool" | "size" | "operation" | "life";
  bytes: number;
  ratio: number;
  count: number;
}

export interface MemoryProfileStack {
  pid: number;
  host: string;
  device: string;
  name: string;
  category: "unknown" | "parameters" | "gradients" | "optimizer_state" | "activations" | "temporary" | "communication" | "kv_cache" | "graphs";
  evidence: "none" | "stack" | "pool" | "size" | "operation" | "life";
  bytes: number;
  ratio: number;
  count: number;
  before: boolean;
  largest_bytes: number;
  shape: string;
  data_type: string;
  region: string;
}

export interface MemoryProfilePoint {
  pid: number;
  host: string;
  device: string;
  time_ns: number;
  allocated_bytes: number;
  reserved_bytes: number | null;
  pending_bytes: number | null;
  unknown_bytes: number;
  parameters_bytes: number;
  gradients_bytes: number;
  optimizer_state_bytes: number;
  activations_bytes: number;
  temporary_bytes: number;
  communication_bytes: number;
  kv_cache_bytes: number;
  graphs_bytes: number;
  peak: boolean;
}

export interface MemoryProfileFailure {
  pid: number;
  host: string;
  device: string;
  time_ns: number;
  name: string;
  asked_bytes: number;
  device_free_bytes: number;
  reserved_bytes: number;
  allocated_bytes: number;
  pending_bytes: number;
  pool_free_bytes: number;
  largest_free_bytes: number;
  private_pool_bytes: number;
  private_free_bytes: number;
  shortage: "unknown" | "capacity" | "fragmentation" | "pending_free" | "graph_pools";
  largest_fit_bytes: number;
  fits_unfragmented: boolean;
  largest_free_later_bytes: number;
  exact: boolean;
  verdict: string;
}

export interface MemoryViewerProgram {
  name: string;
  program_id: number;
  instruction_count: number;
  buffer_count: number;
  peak_bytes: number;
  parameter_bytes: number;
  output_bytes: number;
  temporary_bytes: number;
}

export interface MemoryViewerSpace {
  number: number;
  peak_bytes: number;
  peak_instruction: string;
  peak_position: number;
  peak_unpadded_bytes: number;
  allocated_bytes: number;
  allocation_count: number;
  buffer_count: number;
  parameter_bytes: number;
  output_bytes: number;
  constant_bytes: number;
  thread_local_bytes: number;
  temporary_bytes: number;
  aliased_bytes: number;
  not_reusable_bytes: number;
  unsimulated_bytes: number;
  moment_count: number;
}

export interface MemoryViewerBuffer {
  space: number;
  name: string;
  opcode: string;
  use: "none" | "parameter" | "output" | "constant" | "thread_local" | "temporary";
  shape: string;
  bytes: number;
  padding_bytes: number;
  peak_bytes: number;
  peak_ratio: number;
  buffer: number;
  allocation: number;
  offset_bytes: number;
  first_position: number | null;
  last_position: number | null;
  last_reader: string;
  lives_to_end: boolean;
  shares_memory: boolean;
  op_name: string;
  source: string;
  source_stack: string;
  count: number;
  parameter_number: number | null;
  aliased: boolean;
}

export interface MemoryViewerMoment {
  space: number;
  position: number;
  instruction: string;
  bytes: number;
  unpadded_bytes: number;
}

export interface GraphViewerProgram {
  name: string;
  program_id: number;
  instruction_count: number;
  computation_count: number;
  fusion_count: number;
  timed_count: number | null;
  total_ns: number | null;
}

export interface GraphViewerNode {
  name: string;
  opcode: string;
  shape: string;
  distance: number;
  found_by: string;
  computation: string;
  fusion: string;
  fused_opcodes: string;
  fused_count: number;
  fusion_kind: string;
  custom_call_target: string;
  parameter_number: number | null;
  root: boolean;
  op_name: string;
  source: string;
  source_stack: string;
  count: number | null;
  total_ns: number | null;
  left_out_producer_count: number;
  left_out_consumer_count: number;
  program: string;
  total_ratio: number | null;
}

export interface GraphViewerEdge {
  from: string;
  to: string;
  operand: number | null;
  control: boolean;
}

export interface LockKind {
  name: string;
  contended: boolean;
  count: number;
  total_ns: number;
  max_ns: number;
  incomplete_count: number;
}

export interface LockEdge {
  pid: number;
  waiter_tid: number;
  waiter: string;
  holder_tid: number;
  holder: string;
  kind: string;
  object: number;
  count: number;
  total_ns: number;
  max_ns: number;
  host: string;
}

export interface LockHolder {
  pid: number;
  tid: number;
  name: string;
  direct_ns: number;
  root_ns: number;
  waiter_count: number;
  host: string;
}

export interface LockInterval {
  start_ns: number;
  length_ns: number;
  waiting_ns: number;
  waiting_ratio: number;
  max_waiters: number;
  name: string | null;
  short_name: string | null;
  object: number | null;
  holder: string | null;
}

export interface Deadlock {
  pid: number;
  start_ns: number;
  length_ns: number;
  blocked_thread_count: number;
  waits: DeadlockWait[];
  host: string;
}

export interface FileReads {
  name: string;
  short_name: string;
  count: number;
  total_bytes: number;
  total_ns: number;
  total_ratio: number;
  captured_ratio: number;
  mean_ns: number;
  median_ns: number;
  max_ns: number;
  mb_per_s: number | null;
  failed_count: number;
  file_count: number;
  thread_count: number;
  pid: number | null;
  tid: number | null;
  host: string;
  max_start_ns: number;
  max_pid: number;
  max_tid: number;
}

export interface InputSource {
  name: string;
  pid: number;
  host: string;
  input_bound: boolean;
  stage: "none" | "unknown" | "sample" | "source" | "lock" | "collate" | "order" | "transfer" | "iterator";
  stage_detail: string;
  batch_count: number;
  epoch_count: number;
  step_count: number;
  step_ns: number;
  wait_ns: number;
  wait_ratio: number;
  median_ns: number;
  p95_ns: number;
  p99_ns: number;
  max_ns: number;
  max_start_ns: number;
  long_count: number;
  first_ns: number;
  first_max_ns: number;
  worker_count: number;
  service_ns: number;
  cpu_ns: number;
  workers_suffice: number | null;
  limited_by_processors: boolean;
  processor_count: number;
  source_ns: number;
  outstanding: number;
  order_ns: number;
  passing_ns: number;
  life_count: number;
  service_median_ns: number;
  service_p95_ns: number;
  service_p99_ns: number;
  margin_p5_ns: number;
  margin_median_ns: number;
  rest_ns: number;
  verdict: string;
}

export interface InputStageTime {
  pid: number;
  host: string;
  work: "unknown" | "sample" | "collate" | "transfer" | "order" | "passing";
  work_ns: number;
  waited_ns: number;
  waited_ratio: number;
  batches_per_s: number;
}

export interface InputWorker {
  pid: number;
  host: string;
  time_ns: number;
  sample_ns: number;
  collate_ns: number;
  transfer_ns: number;
  idle_ns: number;
  busy_ratio: number;
}

export interface InputBatch {
  pid: number;
  host: string;
  number: number;
  epoch: number;
  asked_ns: number;
  wait_ns: number;
  worker_pid: number;
  begin_ns: number;
  ready_ns: number;
  service_ns: number;
  margin_ns: number;
}

export interface DataPipeline {
  name: string;
  pid: number;
  host: string;
  count: number;
  waited_ns: number;
  window_ns: number;
  waited_ratio: number;
  mean_ns: number;
  median_ns: number;
  p95_ns: number;
  max_ns: number;
  max_start_ns: number;
  max_tid: number;
  blamed: string;
  blamed_class: "other" | "source" | "python" | "service" | "transform" | "parallel" | "batch" | "shuffle" | "prefetch" | "cache";
  blamed_ratio: number;
  python_ns: number;
  long_count: number;
  blamed_path: string;
  filled: string;
  verdict: string;
}

export interface DataIterator {
  name: string;
  path: string;
  pid: number;
  host: string;
  depth: number;
  iterator_class: "other" | "source" | "python" | "service" | "transform" | "parallel" | "batch" | "shuffle" | "prefetch" | "cache";
  asynchronous: boolean;
  count: number;
  total_ns: number;
  self_ns: number;
  mean_ns: number;
  max_ns: number;
  max_start_ns: number;
  max_tid: number;
  thread_count: number;
  waited_ns: number;
  waited_ratio: number;
}

export interface FunctionTime {
  name: string;
  place: string;
  file: string;
  line: number;
  self_ns: number;
  self_ratio: number;
  total_ns: number;
  total_ratio: number;
  program_ns: number;
  program_ratio: number;
  gil_ns: number;
  wait_ns: number;
  gil_total_ns: number;
  wait_total_ns: number;
  count: number;
  thread_count: number;
  pid: number | null;
  tid: number | null;
  host: string;
}

export interface GilHolder {
  name: string;
  place: string;
  total_ns: number;
  total_ratio: number;
  thread_count: number;
  waiter_count: number;
}

export interface FunctionCalls {
  name: string;
  place: string;
  file: string;
  line: number;
  count: number;
  total_ns: number;
  self_ns: number;
  mean_ns: number;
  max_ns: number;
  max_start_ns: number;
  thread_count: number;
  incomplete_count: number;
}

export interface GcPauses {
  generation: number;
  count: number;
  total_ns: number;
  mean_ns: number;
  max_ns: number;
  max_start_ns: number;
  collected_count: number;
  uncollectable_count: number;
  thread_count: number;
}

export interface FoldedStack {
  pid: number;
  call_stack: number;
  value: number;
}

export interface Thread {
  name: string;
  pid: number;
  tid: number;
  count: number;
  start_ns: number;
  end_ns: number;
  life_ns: number;
  start_seen: boolean;
  exit_seen: boolean;
  cpu_ns: number | null;
  cpu_ratio: number | null;
  runqueue_wait_ns: number | null;
  runqueue_wait_ratio: number | null;
  op_ns: number;
  op_ratio: number;
  contended_ns: number;
  waiting_ns: number;
  created_by_tid: number | null;
  created_by: string;
  tool: boolean;
  lost_count: number;
  step_thread: boolean;
  start: Frame | null;
  host: string;
}

export interface ThreadProcess {
  pid: number;
  ppid: number;
  name: string;
  role: "none" | "program" | "training" | "inference" | "loader_worker" | "helper";
  thread_count: number;
  count: number;
  cpu_ns: number | null;
  cpu_ratio: number | null;
  runqueue_wait_ns: number | null;
  op_ns: number;
  contended_ns: number;
  start_ns: number;
  end_ns: number;
  host: string;
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
  lost_thread_count: number;
  activity_missing_ns: number;
  lost_ratio: number;
  losses: Loss[];
  drain_cpu_ns: number | null;
  control_cpu_ns: number | null;
  background_ratio: number | null;
  stack_count: number;
  stack_ns: number;
  op_event_count: number;
  op_ns: number;
  hook_count: number;
  hook_ns: number;
  hook_low_ns: number;
  hook_high_ns: number;
  room_wait_count: number;
  room_wait_ns: number;
  slowdown_ratio: number | null;
  process_cpu_ns: number;
  cpu_ratio: number | null;
  cost_limited: boolean;
  begin_end_ns: number | null;
  memory_bytes: number;
  file_bytes: number;
  bytes_per_event: number;
  stack_no_rule_count: number;
  stack_out_of_bounds_count: number;
  stack_no_resolver_count: number;
  stack_missing_count: number;
  clock: string;
  clock_hz: number;
  clock_residual_ns: number;
  realtime_step_ns: number;
  cupti_clock_reading_count: number;
  cupti_clock_residual_ns: number;
  cupti_clock_step_ns: number;
  gpu_tick_ns: number;
  kernel_before_launch_count: number;
  kernel_before_launch_ns: number;
  gpu_rates: GpuRateUse[];
  budget: BudgetUse | null;
  notes: string[];
  host: string;
}

export interface Comparability {
  score_ratio: number;
  reasons: ("none" | "other_program" | "other_device" | "other_shapes" | "other_framework" | "other_steps" | "few_steps" | "other_kernel_count" | "other_versions" | "other_device_count")[];
  same_shape_ratio: number | null;
  shapes: "none" | "inputs" | "grids";
}

export interface StepDiff {
  differs_in_window: boolean;
  window: "none" | "mark" | "device" | "all" | "period";
  before_count: number;
  after_count: number;
  before_median_ns: number;
  after_median_ns: number;
  before_mean_ns: number;
  after_mean_ns: number;
  change_ratio: number | null;
  change_low_ratio: number | null;
  change_high_ratio: number | null;
}

export interface CategoryDiff {
  category: "none" | "compute_fp64" | "compute_fp32" | "compute_tf32" | "compute_bf16" | "compute_fp16" | "compute_fp8" | "compute_int8" | "compute_fp4" | "compute_unknown" | "graph" | "collective" | "copy_htod" | "copy_dtoh" | "copy_dtod" | "input" | "output" | "compile" | "sync" | "profiler" | "host" | "launch" | "dependency" | "unexplained";
  before_ns: number;
  after_ns: number;
  change_ns: number;
}

export interface RowDiff {
  name: string;
  short_name: string;
  before_count: number | null;
  after_count: number | null;
  before_ns: number | null;
  after_ns: number | null;
  change_ns: number;
  change_ratio: number;
  change_low_ns: number | null;
  change_high_ns: number | null;
  after_name: string | null;
  family: "none" | "matrix" | "convolution" | "attention" | "normalisation" | "softmax" | "reduction" | "elementwise" | "copy" | "embedding" | "routing" | "index" | "random" | "optimizer" | "collective" | "other" | null;
}

export interface Input {
  name: string;
  pid: number;
  count: number;
  size_bytes: number;
  recovered: boolean;
  fault: string;
}

export interface Loss {
  name: string;
  count: number;
  fix: string;
}

export interface Confidence {
  level: "none" | "low" | "medium" | "high";
  reason: string;
}

export interface Skipped {
  name: string;
  reason: "none" | "not_asked_for" | "not_in_source";
  fix: string;
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

export interface OpPlace {
  pid: number;
  count: number;
  total_ns: number;
  self_ns: number;
  host: string;
}

export interface Frame {
  name: string;
  short_name: string;
  module: string;
  offset: number;
  file: string;
  line: number;
  pc: number;
}

export interface OverviewTensor {
  name: string;
  pid: number;
  count: number;
  allocated_bytes: number;
  peak_bytes: number;
  peak_op: string;
  peak_op_bytes: number;
  host: string;
  reported_peak_bytes: number | null;
}

export interface OverviewTrigger {
  name: string;
  count: number;
}

export interface EnvironmentVariable {
  name: string;
  value: string;
}

export interface OverviewDevice {
  name: string;
  device_count: number;
  host: string;
  multiprocessor_count: number;
  memory_bytes: number;
  compute_capability: string;
}

export interface Gain {
  method: "not_computed" | "replayed" | "bound";
  low_ns: number;
  high_ns: number;
  low_ratio: number;
  high_ratio: number;
  base_ns: number;
  change: string;
  is_of_run: boolean;
}

export interface Place {
  kind: "none" | "longest_gap" | "longest_call" | "longest_copy" | "longest_wait" | "longest_read" | "longest_kernel" | "longest_collective" | "longest_run" | "longest_move" | "typical_step" | "longest_step" | "memory_peak" | "start";
  pid: number;
  host: string;
  tid: number | null;
  device: number | null;
  start_ns: number;
  end_ns: number;
  step: number | null;
}

export interface Remedy {
  variables: EnvironmentVariable[];
  what: string;
  caution: string;
}

export interface WhatIf {
  subject: "none" | "compute" | "collectives" | "copies" | "host" | "input" | "compile" | "launches" | "sync" | "profiler";
  duration_ns: number;
  saved_ns: number;
  saved_ratio: number;
}

export interface VerdictFamily {
  bound: "none" | "compute" | "host" | "input" | "compile" | "collectives" | "copies" | "launch" | "dependency" | "unexplained" | "first_use" | "unknown";
  total_ns: number;
  total_ratio: number;
  saved_ns: number | null;
}

export interface MissingWork {
  empty_graph_count: number;
  graph_count: number;
  unexplained_ns: number;
  unexplained_ratio: number;
  is_sampled: boolean;
  is_selection: boolean;
}

export interface CategoryTime {
  category: "none" | "compute_fp64" | "compute_fp32" | "compute_tf32" | "compute_bf16" | "compute_fp16" | "compute_fp8" | "compute_int8" | "compute_fp4" | "compute_unknown" | "graph" | "collective" | "copy_htod" | "copy_dtoh" | "copy_dtod" | "input" | "output" | "compile" | "sync" | "profiler" | "host" | "launch" | "dependency" | "unexplained";
  total_ns: number;
  total_ratio: number;
}

export interface CompiledSource {
  file: string;
  line: number;
  function: string | null;
  code: string | null;
}

export interface PathShare {
  kind: "none" | "kernel" | "copy" | "graph" | "operation" | "call" | "host" | "launch" | "dependency";
  name: string;
  short_name: string;
  total_ns: number;
  total_ratio: number;
  count: number;
}

export interface FlightSide {
  ranks: number[];
  operation: string;
  sequence: number;
  input_sizes: string;
  output_sizes: string;
  types: string;
  state: string;
  place: string;
  function: string;
  name: string;
}

export interface CudaDevice {
  pid: number;
  device: number;
}

export interface TensorOwner {
  name: string;
  is_others: boolean;
  live_bytes: number[];
}

export interface DeadlockWait {
  waiter_tid: number;
  waiter: string;
  holder_tid: number;
  holder: string;
  kind: string;
  object: number;
  caller: Frame | null;
  call_stack: number;
}

export interface GpuRateUse {
  name: string;
  limit_per_s: number;
  count: number;
  left_out_count: number;
  most_one_in_count: number;
}

export interface BudgetUse {
  limit_ratio: number | null;
  limit_step_ns: number | null;
  name: string;
  elapsed_ns: number;
  window_count: number;
  step_count: number;
  recorded_step_count: number;
  recorded_ns: number;
  cost_ratio: number | null;
  cost_error_ratio: number | null;
  switch_ns: number;
  outside_step_ns: number | null;
  inside_step_ns: number | null;
  detail: string;
  all_window_count: number;
  operations_window_count: number;
  gpu_window_count: number;
  cut_window_count: number;
  scale_ratio: number | null;
  recorded_gpu_ns: number;
  run_gpu_ns: number | null;
  run_gpu_error_ns: number | null;
  scale_error_ratio: number | null;
}
