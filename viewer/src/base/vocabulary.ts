// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One meaning, one word, one colour on every page. Work is solid, waits are striped.

/** A colour token. */
export type Hue =
  | "d_forward"
  | "d_backward"
  | "d_optim"
  | "d_copy"
  | "d_reduce"
  | "d_comm"
  | "d_input"
  | "d_lock"
  | "d_other"
  | "n1"
  | "n2"
  | "n3"
  | "bar";

/** How much of a hue a shade has, in percent. The rest is the page's ground. */
export type Strength = 78 | 58 | 44;

/**
 * A colour, a shade of one, or a pattern. "late": a device waits for the host or for input. "wait":
 * somebody waits for somebody else. "thin": work is being launched. "hatch": idle, or left out.
 */
export type Look = Hue | `${Hue}/${Strength}` | "late" | "wait" | "thin" | "hatch";

const PATTERN_HUES = { late: "d_input", wait: "d_lock", thin: "d_input", hatch: "bar" } as const;

/** Returns the colour that stands for a look where there is no room for a pattern. */
export function hueOf(look: Look): Hue {
  if (look === "late" || look === "wait" || look === "thin" || look === "hatch") {
    return PATTERN_HUES[look];
  }
  return look.split("/")[0] as Hue;
}

/** Returns the strength of a shade; 100: it is the hue itself. */
export function strengthOf(look: Look): number {
  const strength = look.split("/")[1];
  return strength === undefined ? 100 : Number(strength);
}

export interface Word {
  readonly name: string;
  readonly look: Look;
}

/** Categories of a step on the host, in the order of stacking. */
export const STEP_CATEGORIES: Readonly<Record<string, Word>> = {
  input: { name: "Input wait", look: "late" },
  lock_wait: { name: "Lock wait", look: "wait" },
  blocked: { name: "Blocked", look: "wait" },
  forward: { name: "Forward", look: "d_forward" },
  backward: { name: "Backward", look: "d_backward" },
  optimizer: { name: "Optimizer", look: "d_optim" },
  other: { name: "Other host", look: "d_other" },
};

/** Categories of a device's time. Kinds of waiting are told apart by their names. */
export const DEVICE_CATEGORIES: Readonly<Record<string, Word>> = {
  compute_fp64: { name: "Compute fp64", look: "d_backward/58" },
  compute_fp32: { name: "Compute fp32", look: "d_backward" },
  compute_tf32: { name: "Compute tf32", look: "d_forward/58" },
  compute_bf16: { name: "Compute bf16", look: "d_forward" },
  compute_fp16: { name: "Compute fp16", look: "d_forward/78" },
  compute_fp8: { name: "Compute fp8", look: "d_forward/44" },
  compute_int8: { name: "Compute int8", look: "d_optim/78" },
  compute_fp4: { name: "Compute fp4", look: "d_optim/58" },
  compute_unknown: { name: "Compute", look: "d_optim" },
  graph: { name: "Graph", look: "d_optim" },
  collective: { name: "Collective", look: "d_comm" },
  copy_htod: { name: "Copy to device", look: "d_copy" },
  copy_dtoh: { name: "Copy to host", look: "d_copy/78" },
  copy_dtod: { name: "Copy on device", look: "d_copy/58" },
  input: { name: "Input wait", look: "late" },
  output: { name: "Output", look: "late" },
  compile: { name: "Compile", look: "late" },
  sync: { name: "Sync", look: "wait" },
  profiler: { name: "Profiler", look: "d_other" },
  host: { name: "Host late", look: "late" },
  launch: { name: "Launch", look: "thin" },
  dependency: { name: "Dependency", look: "wait" },
  unexplained: { name: "Unexplained", look: "hatch" },
};

export const DEVICE_MEANINGS: Readonly<Record<string, string>> = {
  compute_unknown: "kernels whose type of numbers is not known",
  graph: "CUDA graphs that were recorded as a whole",
  collective: "collectives, while nothing computed",
  copy_htod: "copies from the host, while no kernel ran",
  copy_dtoh: "copies to the host, while no kernel ran",
  copy_dtod: "copies and memsets on devices, while no kernel ran",
  input: "idle: the launching thread waited for data",
  output: "idle: the launching thread wrote results",
  compile: "idle: the launching thread compiled or loaded code",
  sync: "idle: the launching thread waited for the device",
  profiler: "idle: the profiler held up the launching thread",
  host: "idle: the host had not launched the next work",
  launch: "idle: the next work was being launched or began behind the work before it",
  dependency: "idle: the next work waited for another stream, an event or the host",
  unexplained: "idle: no next work, or its launch is not in the recording",
};

/** Parts of a run outside of steps. */
export const PHASES: Readonly<Record<string, Word>> = {
  unrecorded: { name: "Not recorded", look: "hatch" },
  others: { name: "Other processes", look: "hatch" },
  start_up: { name: "Start-up", look: "n1" },
  before_steps: { name: "Before the steps", look: "n1" },
  cuda_setup: { name: "CUDA setup", look: "n3" },
  compile: { name: "Compiling", look: "n3" },
  graph_capture: { name: "Graph capture", look: "n3" },
  warm_up: { name: "Warm-up steps", look: "n2" },
  steps: { name: "Steps", look: "bar" },
  between_steps: { name: "Between steps", look: "n2" },
  evaluation: { name: "Evaluation", look: "n2" },
  checkpoint: { name: "Checkpoints", look: "n3" },
  waiting: { name: "Waiting", look: "wait" },
  run: { name: "The run", look: "bar" },
  after_steps: { name: "After the steps", look: "n1" },
};

/**
 * Families of kernels, which the engine decides: those of proto/results/kernel_families.proto.
 * Members of one hue are shades of it.
 */
export const KERNEL_FAMILIES: Readonly<Record<string, Word>> = {
  attention: { name: "Attention", look: "d_backward" },
  matrix: { name: "Matrix products", look: "d_forward" },
  convolution: { name: "Convolution", look: "d_forward/58" },
  softmax: { name: "Softmax", look: "d_reduce" },
  normalisation: { name: "Normalisation", look: "d_reduce/78" },
  reduction: { name: "Reduction", look: "d_reduce/58" },
  elementwise: { name: "Elementwise", look: "d_optim" },
  random: { name: "Random numbers", look: "d_optim/78" },
  optimizer: { name: "Optimizer", look: "d_optim/58" },
  copy: { name: "Copy, cast, cat", look: "d_copy" },
  index: { name: "Sort, scan, gather", look: "d_copy/78" },
  embedding: { name: "Embedding", look: "d_copy/58" },
  routing: { name: "Routing of experts", look: "d_copy/44" },
  collective: { name: "Collective", look: "d_comm" },
  other: { name: "Other", look: "d_other" },
};

/** What memory of a framework is for, in the order of stacking. A chart has no shades: each has a hue. */
export const MEMORY_CATEGORIES: Readonly<Record<string, Word>> = {
  parameters: { name: "Parameters", look: "d_forward" },
  optimizer_state: { name: "Optimizer state", look: "d_optim" },
  gradients: { name: "Gradients", look: "d_backward" },
  kv_cache: { name: "KV cache", look: "d_reduce" },
  activations: { name: "Activations", look: "d_copy" },
  communication: { name: "Communication", look: "n3" },
  graphs: { name: "CUDA graphs", look: "d_other" },
  temporary: { name: "Temporary", look: "d_comm" },
  unknown: { name: "Not known", look: "bar" },
};

/** What calls of CUDA are for, in the order of a bar. */
export const CALL_KINDS: Readonly<Record<string, Word>> = {
  launch: { name: "Launches", look: "d_forward" },
  copy: { name: "Copies", look: "d_copy" },
  wait: { name: "Waits", look: "wait" },
  memory: { name: "Memory", look: "d_other" },
  code: { name: "Loading code", look: "n3" },
  other: { name: "Other calls", look: "n2" },
};

const CALL_WORDS: readonly (readonly [string, RegExp])[] = [
  ["wait", /Synchronize$|WaitEvent|WaitExternal/],
  ["launch", /Launch/],
  ["copy", /Mem(cpy|set|Prefetch)/],
  ["code", /Module|Library|Link|FuncGet|FuncSet|KernelGet|KernelSet|GetFunction|Occupancy/],
  ["memory", /Malloc|Free|Mem[A-Z]|HostAlloc|HostRegister|Array/],
];

/** Returns what a call of CUDA is for: a key of CALL_KINDS. It is read from the name. */
export function callKind(name: string): string {
  const plain = name.replace(/_(ptsz|ptds|v\d+)+$/, "");
  for (const [kind, words] of CALL_WORDS) if (words.test(plain)) return kind;
  return "other";
}

export function wordOf(words: Readonly<Record<string, Word>>, key: string): Word {
  return words[key] ?? { name: key.replaceAll("_", " "), look: "d_other" };
}
