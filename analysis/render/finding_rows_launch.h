// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words of findings, of rules about launches, calls, waits and locks. See finding_words.h.

#pragma once

#include "analysis/render/finding_words.h"

namespace gpuprof::analysis {

inline constexpr FindingWords kLaunchRows[] = {
    {"LA-001.name", "The GPU waits for the host to launch work"},
    {"LA-001.gain", "the host takes no time"},
    {"LA-001.gpu_had_nothing_because",
     "In {0} the GPU had nothing to do, because the host had not launched the next work. In {1} "
     "more the next work was being launched."},
    {"LA-001.meanwhile_step_launching_threads",
     "Meanwhile, in a step, the launching threads were in these operations: {0}."},
    {"LA-001.python_functions", "They were in these Python functions: {0}."},
    {"LA-001.median_kernel_takes_median",
     "The median kernel takes {0}, the median call that launches {1}."},
    {"LA-001.give_gpu_work_launch",
     "Give the GPU more work a launch: larger batches, fused operations."},
    {"LA-001.remedy_threads", "TensorFlow launches a GPU's work from threads that do nothing else"},
    {"LA-001.caveat_python",
     "Python functions were traced, which slows the host: the true gain is smaller. Record once "
     "more without with_stack."},
    {"LA-001.caveat", "The gain is that of a host that takes no time at all."},

    {"LA-002.name", "Much of the GPU's time is in very short kernels"},
    {"LA-002.name_ops", "Steps consist of very many very short operations"},
    {"LA-002.reason", "what fusion saves depends on what can be fused"},
    {"LA-002.reason_ops", "call cost taken from the cheapest tenth of operations"},
    {"LA-002.gain", "a part of the short kernels"},
    {"LA-002.gain_ops", "what each operation costs as a call"},
    {"LA-002.kernels_shorter_take_gpu",
     "{0} of {1} kernels are shorter than {2}. They take {3} of the GPU's busy time."},
    {"LA-002.fuse_kernels_follow_other",
     "Fuse kernels that follow each other, or give each more elements.",
     "Fuse them: torch.compile(model), foreach=True or fused=True for optimizers, larger batches.",
     "Fuse them: tf.function(jit_compile=True).",
     "Put more of the step under one jax.jit: XLA fuses within a program."},
    {"LA-002.operations_per_step_average", "{0} operations per step of {1} each on average."},
    {"LA-002.cheapest_tenth_takes_little",
     "The cheapest tenth takes {0}, little more than the call: {1} per step."},
    {"LA-002.larger_batches_same_calls", "Larger batches: the same calls do more work."},
    {"LA-002.caveat", "The gain assumes that nearly all of these calls can be fused."},

    {"LA-003.name", "The same kernels are launched one by one, again and again"},
    {"LA-003.gain", "these launches take no time"},
    {"LA-003.kernels_repeat_before", "{0} kernels repeat what is before them: {1}{2}."},
    {"LA-003.longest_run_repetitions", "The longest run of repetitions: {0}."},
    {"LA-003.launch_kernel_arrays_capture",
     "Launch one kernel for all arrays, or capture the run as a CUDA graph.",
     "Use the forms for many tensors: foreach=True or fused=True for optimizers, "
     "torch._foreach_* functions, torch.cat before the operation.",
     "Concatenate the tensors, or compile the loop: tf.function(jit_compile=True).",
     "Use jax.vmap, or put the loop under jax.jit."},
    {"LA-003.kernels_behind", " and the {0} {0|kernel|kernels} behind it"},
    {"LA-003.caveat", "The gain is that of launches that take no time."},

    {"LA-004.name", "Launches wait because the queue of the GPU is full"},
    {"LA-004.reason", "the calls and the queue were recorded"},
    {"LA-004.leave_host_ahead_gpu",
     "Leave the host as it is: it is ahead of the GPU, and nothing is lost."},
    {"LA-004.pieces", "launches that waited for room"},

    {"LA-005.name", "Some calls of CUDA take unusually long"},
    {"LA-005.gain", "these calls take no time"},
    {"LA-005.calls_longer_longest",
     "{0}: calls of {1} longer than {2}, {3} in all. The longest: {4}."},
    {"LA-005.first_uses_load_code",
     "First uses load code: run each shape once before you measure. Threads that call CUDA at "
     "the same time wait for each other: launch from one thread. `gpuprof stats api` lists the "
     "calls."},

    {"LA-006.name", "Each step launches the same kernels, one by one"},
    {"LA-006.gain", "launches take no time"},
    {"LA-006.steps_run_same_kernels",
     "{0} of {1} steps run the same {2} kernels in the same order, and no CUDA graph."},
    {"LA-006.gpu_had_nothing_because",
     "In {0} the GPU had nothing to do, because the next work was on its way."},
    {"LA-006.capture_launches_step_cuda",
     "Capture the launches of a step as one CUDA graph (cudaStreamBeginCapture), and replay the "
     "graph.",
     "Replay the launches of a step as one CUDA graph: torch.compile(model, "
     "mode=\"reduce-overhead\"), or torch.cuda.CUDAGraph.",
     "Compile the step: tf.function(jit_compile=True).",
     "Put the whole step under one jax.jit: fewer, larger programs."},
    {"LA-006.caveat", "A graph must be captured anew if shapes or addresses change."},

    {"LA-007.name", "Steps load or compile code for the GPU"},
    {"LA-007.gain", "code is loaded and compiled in no time"},
    {"LA-007.build_architecture_gpu_arch",
     "Build for the architecture of this GPU (-arch), so that the driver compiles nothing. Load "
     "all code before the loop (CUDA_MODULE_LOADING=EAGER), or run each kernel once.",
     "Run a few steps of each shape before you measure. For the start: "
     "CUDA_MODULE_LOADING=EAGER, and builds for this GPU (TORCH_CUDA_ARCH_LIST).",
     "", "Keep compiled code: jax.config.update(\"jax_compilation_cache_dir\", ...)."},
    {"LA-007.pieces", "loads of code, and compilations by the driver"},
    {"LA-007.remedy_eager", "CUDA loads all code when the program starts, and none within steps"},

    {"LA-008.name", "Kernels that only read, change and write elements take much of the time"},
    {"LA-008.reason", "what fusion saves depends on what can be fused"},
    {"LA-008.gain", "a part of these kernels"},
    {"LA-008.kernels_time_kernels_multiply",
     "{0} of the kernels' time is in kernels that multiply no matrices; the largest: {1}."},
    {"LA-008.avoid_casts_copies_between",
     "Avoid casts and copies between layouts: `gpuprof stats kernels --by op`."},
    {"LA-008.fuse_kernel_reads_writes",
     "Fuse them: one kernel that reads and writes each element once.",
     "Fuse them: torch.compile(model), or the fused operation of a library for norms, "
     "activations, rotary embeddings and optimizers (foreach=True, fused=True).",
     "Fuse them: tf.function(jit_compile=True).",
     "Put more of the step under one jax.jit: XLA fuses within a program."},
    {"LA-008.caveat",
     "Without any kernel, the critical path of a step would be only {0} shorter: then the host "
     "would be too slow. The gain is larger because fusion also removes calls of the host. It "
     "assumes that the host needs less time by the same part."},

    {"SY-001.name", "The host waits for the GPU, and the GPU then for the host"},
    {"SY-001.gain", "the host does not wait for the GPU"},
    {"SY-001.step_would_take_instead",
     "A step would take {0} instead of {1} if the host did not wait for the GPU."},
    {"SY-001.behind_waits_gpu_had",
     "Behind these waits the GPU had nothing to do: {0}. For longest behind {1}: {2}."},
    {"SY-001.wait_events_where_result",
     "Wait for events where a result is needed (cudaStreamWaitEvent), instead of for streams and "
     "devices. `gpuprof stats sync` lists the waits.",
     "Read results less often: .item(), print(tensor), .cpu(), nonzero() and "
     "torch.cuda.synchronize() wait for all work that was launched. `gpuprof stats sync` lists "
     "the waits.",
     "Read results less often: .numpy() and print(tensor) wait for all work that was launched. "
     "Run callbacks and metrics every few steps.",
     "Read results less often: block_until_ready(), float(x) and print(x) wait for all work that "
     "was launched."},

    {"SY-002.name", "Steps allocate or free memory of CUDA, which holds up the host and the GPU"},
    {"SY-002.gain", "these calls take no time"},
    {"SY-002.allocate_once_reuse_memory",
     "Allocate once and reuse the memory, or use cudaMallocAsync with a pool that keeps memory "
     "(cudaMemPoolAttrReleaseThreshold).",
     "Do not call torch.cuda.empty_cache() in the loop. If memory is short, the caching "
     "allocator frees and allocates anew: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
     "Let TensorFlow keep its memory: no memory growth, or TF_GPU_ALLOCATOR=cuda_malloc_async.",
     "Let JAX keep its memory: XLA_PYTHON_CLIENT_PREALLOCATE=true, and not the platform "
     "allocator."},
    {"SY-002.pieces", "calls that allocate or free"},
    {"SY-002.remedy_pool",
     "TensorFlow takes memory from CUDA's pool, which does not wait for the GPU"},

    {"SY-003.name", "Work on the legacy default stream keeps other streams from running"},
    {"SY-003.reason", "the streams' kinds were recorded, but not what could overlap"},
    {"SY-003.pieces_work_legacy_default",
     "{0}: pieces of work on the legacy default stream that began when work of another stream "
     "ended, {1} long. {2}{2| other stream waits| other streams wait} for this stream, and this "
     "stream for them. The longest: {3}."},
    {"SY-003.build_default_stream_per",
     "Build with --default-stream per-thread, or create streams with cudaStreamNonBlocking.",
     "Run side work in `with torch.cuda.stream(s)`, also the main work: the default stream of "
     "PyTorch is the legacy one.",
     "", ""},
    {"SY-003.caveat", "Streams gain only if the work of one leaves room on the GPU for the other."},

    {"SY-004.name", "Steps wait for locks that other threads hold"},
    {"SY-004.reason", "every contended wait was timed"},
    {"SY-004.gain", "waits for locks"},
    {"SY-004.spent_waiting_mutexes_rwlocks", "{0} is spent waiting for mutexes and rwlocks."},
    {"SY-004.per_step_waits_longest", "{0} per step in {1} ({2} waits, longest {3})."},
    {"SY-004.move_work_other_threads",
     "Move the work of the other threads into another process, or let them hold the lock for a "
     "shorter time. `gpuprof stats locks` names the callers."},

    {"SY-005.name", "Threads wait for locks that other threads hold"},
    {"SY-005.reason", "every contended wait was timed"},
    {"SY-005.waiting_mutexes_rwlocks_summed",
     "{0} of waiting for mutexes and rwlocks, summed over all threads, in {1} of recording ({2} "
     "{2|wait|waits})."},
    {"SY-005.longest", "{0} of this in {1}, by {2} {2|thread|threads}, longest {3}."},
    {"SY-005.hold_lock_shorter_time",
     "Hold the lock for a shorter time, split it, or give each thread its own data. `gpuprof "
     "stats locks` names the callers."},
    {"SY-005.caveat",
     "A waiting thread costs time only if it had other work: compare run times before and after."},

    {"SY-006.name", "Threads wait for each other forever"},
    {"SY-006.reason_lasting", "a cycle of waits that had lasted long when the recording ended"},
    {"SY-006.reason_new", "a cycle of waits that had just begun when the recording ended"},
    {"SY-006.blocked",
     "{0} {0|thread|threads} of pid {1}, for {2}; {3} {3|thread is|threads are} blocked by it."},
    {"SY-006.take_locks_same_order",
     "Take these locks in the same order everywhere, or both at once (std::scoped_lock). Do not "
     "join a thread while holding a lock that the thread takes. `gpuprof stats locks` shows the "
     "stacks."},
    {"SY-006.waits_for_end", "{0} ({1}) waits in {2} for the end of {3} ({4})."},
    {"SY-006.waits_for_lock", "{0} ({1}) waits in {2} for a {5} that {3} ({4}) holds."},

    {"SY-007.name", "Steps wait: their thread is blocked and computes nothing"},
    {"SY-007.reason", "every wait was timed"},
    {"SY-007.gain", "waits outside of operations"},
    {"SY-007.gain_of_sleep", "the program alone knows whether it has to sleep"},
    {"SY-007.blocked_outside_every_operation", "{0} is blocked, outside of every operation."},
    {"SY-007.per_step_called", "{0} per step: {1}, called by {2}."},
    {"SY-007.sleep_less",
     "The program calls sleep itself. Sleep for a shorter time, or wait for the event instead."},
    {"SY-007.waited_another_thread_process",
     "Do what is waited for in another thread or process, ahead of time: prefetch data, report "
     "results asynchronously. `gpuprof stats stacks --by wait_all` shows where it waits."},
    {"SY-007.waited_not_for_batches",
     "The wait is not for the next batch. Do what is waited for in another thread or process, "
     "ahead "
     "of time, or report results asynchronously. `gpuprof stats stacks --by wait_all` shows where "
     "it waits."},
    {"SY-007.sleeps", "sleeps"},
    {"SY-007.input", "waits for input from descriptor {0}"},
    {"SY-007.events", "waits for files or sockets (poll, select)"},
    {"SY-007.child", "waits for the end of a child process"},
    {"SY-007.condition", "waits for another thread (condition)"},
    {"SY-007.join", "waits for the end of a thread"},
    {"SY-007.other", "waits ({0})"},
    {"SY-007.caveat", "The gain is reached only if the wait is hidden behind other work."},
};

}  // namespace gpuprof::analysis
