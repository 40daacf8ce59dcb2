// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What rules look at: facts of the host, of the input, of a run without steps, and of a device.
// Values. Rules see no model: the files of this folder find the facts.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/advice/facts/device_facts.h"
#include "analysis/advice/facts/pieces.h"
#include "analysis/advice/facts/rank_facts.h"
#include "analysis/advice/facts/sample_facts.h"
#include "analysis/advice/thresholds.h"
#include "proto/results/heap.pb.h"
#include "proto/results/locks.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

struct InputAccount;  // derived/input_pipeline.h

// Waits of one kind and call stack.
struct RunWait {
  std::string kind;
  std::string caller;  // "": not known
  uint64_t count = 0;
  int64_t total_ns = 0;
};

// Iterations of a server of language models (analysis/passes/device/served_iterations.h).
struct ServingFacts {
  // Times from an iteration that makes tokens to the next one, and those in which prompts were
  // read, too.
  uint64_t gaps = 0, prompt_gaps = 0;
  int64_t p99_ns = 0;        // of all
  int64_t plain_p99_ns = 0;  // of those without prompts
  Instance longest;          // with prompts
};

// What else the host did in steps.
struct HostFacts {
  // Python's garbage collector, in steps. In a run without steps the whole run counts. These are
  // its pauses if they were recorded, else its calls in steps, as far as they were traced.
  Pieces collections;
  bool has_pauses = false;
  Pieces outputs;                // results and checkpoints that the thread of the steps writes
  int64_t between_steps_ns = 0;  // of the mean step: from the end of a step to the next
  double clock_error_ns = 0;     // of the times of GPUs against those of the host, at most
  int64_t first_work_ns = 0;     // from the start of the process to a device's first work; 0: none
  // Pages of managed memory that were missing on a device or moved, in steps: their union.
  Pieces page_faults;
  // Steps of median length, the longest of those that count, and the longest of the warm-up.
  // A step without a duration was not found.
  Instance typical_step, longest_step, longest_warm_up;
  Instance longest_between;  // two steps
  Instance start;            // the time of first_work_ns
  ServingFacts serving;
};

// What the leading thread of a recording without steps did.
struct RunAccount {
  std::string process;  // its name and pid; "": it is the only one
  std::string name;
  int32_t tid = 0;
  int64_t life_ns = 0;  // as long as it was measured
  int64_t cpu_ns = 0;
  int64_t runqueue_wait_ns = 0;
  int64_t waiting_ns = 0;
  double busy_cores = 0;       // by all threads of its process; 0: not measured
  std::vector<RunWait> waits;  // the longest first, a few
  // Waits of its process for the next element of tf.data.
  uint64_t data_wait_count = 0;
  int64_t data_wait_ns = 0;
  Instance longest_wait, longest_data_wait;
};

// Reads of files in steps. 0: not recorded, or too few.
struct ReadFacts {
  double first_ns_per_mib = 0;  // in the first third of the steps
  double last_ns_per_mib = 0;
  int64_t last_step_ns = 0;  // the mean step of the last third
};

// Calls of tf.data's iterators, as their profiler tells them.
struct IteratorFacts {
  uint64_t count = 0;  // of the outermost
  int64_t mean_ns = 0, total_ns = 0;
  int64_t window_ns = 0;  // of the recording
  std::string root;
  // The iterator that the program waited for most, and its part of the wait.
  std::string blamed;
  double blamed_ratio = 0;
  // What worked longest during these calls, on all threads: an iterator
  // ("Iterator::Root::TFRecord") or the type of an operation ("PyFunc"). Empty: nothing that was
  // recorded.
  std::string busiest;
  int64_t busiest_ns = 0;
  bool has_prefetch = false;
  bool has_serial_map = false;
  // A shuffle that fills its buffer in the first call of each epoch. Empty: the program waits for
  // other calls, too.
  std::string filled;
  int64_t first_ns = 0, other_ns = 0;  // the longest of these calls, and the mean of all others
  int64_t sure_gain_ns = 0;            // of the mean step, see SureGainNs(); 0: not known
  Instance longest;                    // call of the outermost
};

// The way of data into the steps.
struct InputFacts {
  std::optional<double> read_ratio;     // of loading: in reads of files; none: no reads recorded
  Instance longest_read, longest_load;  // the latter: of the loader's next batch
  std::optional<double> hottest_ratio;  // processor time of the busiest worker over the mean
  int32_t hottest_pid = 0;
  // Time a step in the loader's next batch without waiting. None: waits were not recorded, or the
  // loader has no workers.
  std::optional<int64_t> main_thread_ns;
  ReadFacts reads;
  IteratorFacts iterators;
  const InputAccount* loader = nullptr;  // null: no DataLoader was asked for a batch
};

// What rules look at. The overview has no findings yet.
struct AdviceFacts {
  Thresholds limits;
  const results::Overview* overview = nullptr;
  const results::Ops* ops = nullptr;
  const results::Locks* locks = nullptr;
  const results::HeapProcess* heap = nullptr;  // of the stepping process; null: none
  // Time a step in which no operation was open on its thread and the thread did not wait.
  int64_t bare_step_ns = 0;
  // Time a step that optimizers spent between their operations, without closures.
  int64_t optimizer_python_ns = 0;
  // The time in steps that their thread was ready but had no processor, and the time over which
  // this was measured.
  std::optional<int64_t> step_runqueue_wait_ns;
  int64_t step_measured_ns = 0;
  // Processors that all processes together kept busy within steps.
  std::optional<double> busy_cores;
  double noise_ratio = 0;  // as in DeviceFacts, of the host's steps
  InputFacts input;
  HostFacts host;
  // Only without steps.
  std::optional<RunAccount> run;
  std::optional<SampleFacts> samples;
  std::optional<LateRank> late_rank;  // none: no rank is late at collectives
  std::optional<DeviceFacts> device;  // none: no work of a device was recorded
};

}  // namespace gpuprof::analysis
