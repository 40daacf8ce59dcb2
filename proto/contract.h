// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the launcher and the injected objects must agree on: environment variables, file names,
// defaults. Plain constants: included by freestanding code, so no library headers.

#pragma once

#include <cstdint>

#include "proto/sources.h"

namespace gpuprof::proto {

// X(constant, variable, default, meaning). The launcher sets them from its flags; a user may set
// them directly. Every GPUPROF_* name that is not in this table is an error in the launcher.
#define GPUPROF_ENVIRONMENT(X)                                                                     \
  X(kEnvBundle, "GPUPROF_BUNDLE", "",                                                              \
    "Directory that receives the trace files; unset: do nothing.")                                 \
  X(kEnvCapture, "GPUPROF_CAPTURE", "now",                                                         \
    "When to record: now, off (until a signal or gpuprof ctl), delay:START[+LENGTH], "             \
    "steps:FIRST-LAST[@RANGE] (optimizer steps or NVTX ranges), nvtx:RANGE (each time), "          \
    "cuda-profiler (from cudaProfilerStart to cudaProfilerStop, each time).")                      \
  X(kEnvBudget, "GPUPROF_BUDGET", "",                                                              \
    "Largest cost of the recording: N% of the run's time, or a time for each step such as 50us. "  \
    "Windows of whole steps are recorded, as many as the cost that is measured permits.")          \
  X(kEnvTrigger, "GPUPROF_TRIGGER", "",                                                            \
    "What takes a snapshot of a flight recorder: step:N (a step of N times the median), "          \
    "stall:DURATION (no step ends for so long), exit (the process fails), separated by commas.")   \
  X(kEnvTriggerPause, "GPUPROF_TRIGGER_PAUSE", "5m",                                               \
    "How long after a snapshot no trigger takes another.")                                         \
  X(kEnvSnapshots, "GPUPROF_SNAPSHOTS", "",                                                        \
    "Largest number of snapshots that a process keeps; the oldest is removed; unset: all.")        \
  X(kEnvTrace, "GPUPROF_TRACE", "cuda,heap,mmap,locks,threads,ops,tensors,nvtx,itt,nccl,samples",  \
    "Sources to record: " GPUPROF_SOURCES(GPUPROF_SOURCE_HELP) "separated by commas.")             \
  X(kEnvPython, "GPUPROF_PYTHON_CALLS", "",                                                        \
    "Record of Python: trace:GLOBS (each call of a function whose module.qualname or file "        \
    "matches "                                                                                     \
    "one of the globs), gc (pauses of the garbage collector), or both: trace:GLOBS,gc.")           \
  X(kEnvOnFull, "GPUPROF_ON_FULL", "auto",                                                         \
    "If a thread's ring is full: wait for room, or drop the event and count it. auto waits with "  \
    "heap=exact and drops otherwise.")                                                             \
  X(kEnvStacks, "GPUPROF_STACKS", "127",                                                           \
    "Largest number of frames kept per stack; 0 turns stacks off.")                                \
  X(kEnvSignal, "GPUPROF_SIGNAL", "USR1",                                                          \
    "Signal that toggles a capture: USR1, USR2, a number, or none.")                               \
  X(kEnvInclude, "GPUPROF_INCLUDE", "",                                                            \
    "Program names to record even if excluded, comma separated.")                                  \
  X(kEnvExclude, "GPUPROF_EXCLUDE", "", "More program names not to record, comma separated.")      \
  X(kEnvRing, "GPUPROF_RING", "",                                                                  \
    "Flight recorder: keep only the newest SIZE of each process's trace; unset: keep all.")        \
  X(kEnvRingMemory, "GPUPROF_RING_MEMORY", "32MiB",                                                \
    "Largest memory for the rings of one process.")                                                \
  X(kEnvMemory, "GPUPROF_MEMORY", "64MiB",                                                         \
    "Largest memory of the recorder in one process, without rings; at this limit the capture "     \
    "ends.")                                                                                       \
  X(kEnvKeepFree, "GPUPROF_KEEP_FREE", "auto",                                                     \
    "Room on the bundle's disk that stays free: SIZE, or auto (1 % of the disk, at least 1GiB, "   \
    "at most a sixteenth); then the capture ends.")                                                \
  X(kEnvBundleLimit, "GPUPROF_BUNDLE_LIMIT", "",                                                   \
    "Largest size of all files of the bundle; then the capture ends; unset: no limit.")            \
  X(kEnvGpuPeriod, "GPUPROF_GPU_PERIOD", "100ms",                                                  \
    "Period at which `gpuprof run` reads the GPUs' hardware counters while CUDA is in use; off: "  \
    "never.")                                                                                      \
  X(kEnvGpuPm, "GPUPROF_GPU_PM", "off",                                                            \
    "Also sample the GPUs' SM counters by CUPTI's PM sampling, every 20us to 1s, for example "     \
    "1ms; off: no. DCGM and Nsight Compute cannot use the counters meanwhile.")                    \
  X(kEnvClock, "GPUPROF_CLOCK", "auto", "Clock of host events: auto, tsc, monotonic.")             \
  X(kEnvGraphs, "GPUPROF_GRAPHS", "node",                                                          \
    "CUDA graphs: node (every node) or whole (one row per launch).")                               \
  X(kEnvGpuRate, "GPUPROF_GPU_RATE", "",                                                           \
    "Largest number of rows per second for GPU calls and their work, [calls=]N, and for nodes of " \
    "graphs, nodes=N. Above it only one launch in several is recorded; unset: all.")               \
  X(kEnvGpuFinish, "GPUPROF_GPU_FINISH", "500ms",                                                  \
    "How long the end of a capture waits for GPU work that was launched in it and still runs.")    \
  X(kEnvHeapTimes, "GPUPROF_HEAP_TIMES", "coarse",                                                 \
    "Timestamps of exact heap events: coarse or exact.")                                           \
  X(kEnvArguments, "GPUPROF_ARGUMENTS", "masked",                                                  \
    "Arguments of commands in the bundle: masked (secrets such as --password=X are replaced by "   \
    "***), none (only the program's name), or all.")                                               \
  X(kEnvDebug, "GPUPROF_DEBUG", "0", "1: print on stderr what the injected objects do.")           \
  X(kEnvTracer, "GPUPROF_TRACER", "",                                                              \
    "Path of libgpuprof_tracer.so; default: next to the inject object.")                           \
  X(kEnvChainedInjection, "GPUPROF_CHAIN_CUDA_INJECTION", "",                                      \
    "Former value of CUDA_INJECTION64_PATH; that library is loaded too.")                          \
  X(kEnvChainedNvtx, "GPUPROF_CHAIN_NVTX_INJECTION", "",                                           \
    "Former value of NVTX_INJECTION64_PATH; that library is loaded too.")                          \
  X(kEnvInject, "GPUPROF_INJECT", "", "Path of libgpuprof_inject.so, for the launcher.")

#define GPUPROF_DECLARE_ENV(constant, variable, fallback, meaning) \
  inline constexpr char constant[] = variable;
GPUPROF_ENVIRONMENT(GPUPROF_DECLARE_ENV)
#undef GPUPROF_DECLARE_ENV

// Values of GPUPROF_ARGUMENTS. proto/secret_words.h masks.
inline constexpr char kArgumentsMasked[] = "masked";
inline constexpr char kArgumentsNone[] = "none";
inline constexpr char kArgumentsAll[] = "all";
enum class Arguments : uint32_t { kMasked = 0, kNone = 1, kAll = 2 };

// A capture's end waits no longer than this for the GPU.
inline constexpr uint64_t kMostGpuFinishNs = uint64_t{120} * 1'000'000'000;

// Frames kept of a stack unless the user says otherwise. Python under PyTorch needs about 100.
inline constexpr uint32_t kDefaultStackFrames = 127;

// Limits of a flight recorder's size.
inline constexpr uint64_t kMinFlightBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMaxFlightBytes = uint64_t{1} << 40;

enum class HeapMode : uint32_t { kOff = 0, kSampled = 1, kExact = 2 };

// How launches of CUDA graphs are recorded: every node of them, or each launch as one row.
enum class GraphMode : uint32_t { kNode = 0, kWhole = 1 };

// Mean distance between heap samples in bytes; each byte allocated is equally likely to be sampled.
// As TCMalloc's: a sample with its stack takes 3 to 4 us in a program that works on large arrays,
// whose caches hold nothing of ours, and to touch 2 MiB takes some hundred times as long.
inline constexpr uint32_t kDefaultHeapPeriod = 2 * 1024 * 1024;

// Files in a bundle directory.
inline constexpr char kBundleFile[] = "bundle.pb";
// Programs that were started without gpuprof while a run goes on: a Bundle, appended to.
inline constexpr char kUnrecordedFile[] = "unrecorded.pb";
inline constexpr char kTraceSuffix[] = ".gpt";  // p<pid>-<start>.gpt
inline constexpr char kRingSuffix[] =
    ".ring";  // p<pid>-<start>.ring, while the process lives or after it died
inline constexpr char kSegmentSuffix[] =
    ".seg";  // of a flight recorder: p<pid>-<start>.<number>.seg
inline constexpr char kSamplerPrefix[] = "gpu-";  // gpu-<pid>-<start>.gpt: hardware counters
// Made by the launcher whose sampler waits for it to be removed: by the first process that records
// and has initialised CUDA.
inline constexpr char kGpuWaitFile[] = "gpu.wait";
// Folders in the bundle of a job, each the bundle of one rank: rank-3, worker-HOST-PID.
inline constexpr char kRankPrefix[] = "rank-";
inline constexpr char kWorkerPrefix[] = "worker-";
inline constexpr char kSnapshotPrefix[] = "snapshot-";  // folders, each a bundle of its own
// <start>: CLOCK_REALTIME microseconds at which the process (or the image after exec) began, in
// hexadecimal.

inline constexpr char kInjectObject[] = "libgpuprof_inject.so";
// The thread of a process that records, has recorded, or is about to.
inline constexpr char kControlThread[] = "gpuprof-ctl";
// A process without this thread maps a page of the inject object far behind the file's end. The
// offset tells the number of the signal that wakes the process: kDormantOffset + number *
// kDormantUnit. The unit is a page or more on every machine.
inline constexpr uint64_t kDormantOffset = 0x4000'0000;
inline constexpr uint64_t kDormantUnit = 0x1'0000;
inline constexpr char kTracerObject[] = "libgpuprof_tracer.so";

// Control sockets: <runtime dir>/gpuprof-<uid>/<pid>-<start>.sock with <runtime dir> =
// $XDG_RUNTIME_DIR or /tmp; where that cannot be made, the abstract name
// "gpuprof-<uid>/<pid>-<start>". Protocol: proto/control.h.
inline constexpr char kSocketFolder[] = "gpuprof-";
inline constexpr char kSocketSuffix[] = ".sock";

// Programs that leave no trace and pay nothing unless included by name: shells, compilers, build
// tools, the small utilities that scripts run by the thousand, and those that change namespaces or
// users in ways that a process with threads may not. Compared with the base name of the executable.
// One text: a table of pointers would need a relocation for each name. An empty name ends it.
inline constexpr char kExcludedPrograms[] =
    "sh\0bash\0dash\0zsh\0fish\0ksh\0busybox\0env\0nice\0nohup\0timeout\0stdbuf\0setsid\0"
    "taskset\0numactl\0sudo\0su\0ssh\0xargs\0find\0sed\0awk\0gawk\0mawk\0grep\0egrep\0fgrep\0"
    "cat\0ls\0cp\0mv\0rm\0ln\0mkdir\0rmdir\0touch\0chmod\0chown\0date\0sleep\0echo\0printf\0"
    "expr\0test\0[\0true\0false\0tr\0cut\0sort\0uniq\0head\0tail\0wc\0tee\0uname\0hostname\0"
    "id\0whoami\0which\0basename\0dirname\0readlink\0realpath\0mktemp\0stat\0df\0du\0ps\0"
    "pgrep\0kill\0lscpu\0getconf\0ldd\0ldconfig\0ldconfig.real\0file\0tar\0gzip\0xz\0zstd\0"
    "unshare\0bwrap\0mount\0nsenter\0setpriv\0capsh\0runuser\0chroot\0make\0gmake\0ninja\0"
    "cmake\0ctest\0ccache\0git\0gcc\0g++\0cc\0c++\0cpp\0cc1\0cc1plus\0collect2\0lto1\0"
    "lto-wrapper\0as\0ld\0ld.bfd\0ld.gold\0ld.lld\0lld\0ar\0ranlib\0nm\0objdump\0strip\0"
    "clang\0clang++\0nvcc\0cicc\0ptxas\0fatbinary\0cudafe++\0nvlink\0nvidia-smi\0nvdisasm\0"
    "cuobjdump\0rustc\0cargo\0gpuprof\0gdb\0strace\0ltrace\0perf\0valgrind\0";
// Versioned names (gcc-12, x86_64-linux-gnu-g++-12) are reduced before the comparison: a target
// triplet in front and a -NUMBER behind are cut off.

}  // namespace gpuprof::proto
