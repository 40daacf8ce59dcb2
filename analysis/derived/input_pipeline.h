// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The account of a loader of batches: how long steps wait for data, which stage is at fault, and
// how many workers would suffice. The one definition, for the pass `input_pipeline` and for advice.
// Pure, any thread.
//
// A step goes from one call for the next batch to the following one. The first step of an epoch is
// apart: it waits for workers that start. The last one does not count, for it has no end.
//
// What the workers do while a step waits is known from samples of their threads. A worker that is
// idle then has ready batches that were not taken, for another one comes first: that time is lost
// to the order. If all workers are idle, a ready batch is being passed on.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/derived/serial_source.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// What a thread of a loader does.
enum class LoaderWork : uint8_t { kIdle, kSample, kCollate, kTransfer };
inline constexpr size_t kLoaderWorks = 4;

struct LoaderStretch {
  Interval span;
  LoaderWork work;
};

struct LoaderWorker {
  int32_t pid = 0;
  Interval life;
  std::vector<LoaderStretch> stretches;  // sorted, disjoint; empty: no samples
  std::vector<Interval> reads;           // waits for files, sockets and pipes while reading samples
  std::vector<int64_t> puts_ns;          // when it handed batches over, sorted; few if not known
  int64_t lock_ns = 0;                   // waits for locks while reading samples
  double cpu_ratio = -1;                 // of its life on a processor; negative: not known
};

struct LoaderRecord {
  struct Next {
    Interval span;
    bool is_first = false;
    int64_t begin_ns = 0;  // the epoch's iterator was made, or span.start
  };
  std::string name;                 // "_MultiProcessingDataLoaderIter"
  std::vector<Next> nexts;          // in order of time: calls that gave a batch
  std::vector<LoaderStretch> main;  // the calling thread's in these calls, if there are no workers
  double main_cpu_ratio = -1;       // of its time in these calls on a processor
  std::vector<LoaderWorker> workers;
  uint32_t processors = 0;  // 0: not known
};

// What is known of one batch's way through a worker.
struct BatchLife {
  size_t batch = 0;      // index in LoaderRecord::nexts
  int32_t pid = 0;       // of the worker
  int64_t begin_ns = 0;  // 0: not known
  int64_t ready_ns = 0;
};

// What holds up the steps.
enum class InputStage : uint8_t {
  kNone,      // steps hardly wait
  kUnknown,   // they wait, and no samples say for what
  kSample,    // reading samples
  kSource,    // reading samples from something that serves one worker at a time
  kLock,      // workers wait for each other's locks
  kCollate,   // making one batch of samples
  kOrder,     // one late batch, while later ones are ready
  kTransfer,  // passing batches on
};

// A worker's time in which it lived and steps were made.
struct WorkerAccount {
  int32_t pid = 0;
  int64_t time_ns = 0;
  int64_t work_ns[kLoaderWorks] = {};
};

struct InputAccount {
  std::string loader;
  std::vector<LoaderRecord::Next> nexts;  // the record's
  uint64_t batches = 0, epochs = 0, steps = 0;
  int64_t step_ns = 0, wait_ns = 0;  // means of the steady steps
  int64_t rest_ns = 0;               // of a step with a ready batch, which is passed on
  double wait_ratio = 0;             // waits of all steady steps by their time
  std::vector<int64_t> waits_ns;     // of steady steps, sorted
  std::vector<int64_t> firsts_ns;    // the wait for the first batch of each epoch, in order
  uint64_t long_count = 0;           // so many waits make up nine tenths; 0: more than a fifth
  int64_t max_wait_ns = 0, max_wait_start_ns = 0;

  uint32_t worker_count = 0;  // at the same time; 0: the calling thread loads
  bool has_work = false;      // samples tell what workers did
  // Parts of the waits of all steady steps. They add up to the waits.
  int64_t waited_for_ns[kLoaderWorks] = {};  // kIdle: a batch was passed on, or nothing is known
  int64_t order_ns = 0;
  // Means of a batch. 0: not known.
  int64_t work_ns[kLoaderWorks] = {};  // kIdle: not used
  int64_t service_ns = 0;              // all work on a batch
  int64_t cpu_ns = 0;
  std::vector<WorkerAccount> workers;
  std::vector<BatchLife> lives;      // those that are known
  std::vector<int64_t> services_ns;  // of these batches, sorted
  std::vector<int64_t> margins_ns;   // ready so long before the step asked, sorted; steady steps

  bool is_bound = false;
  InputStage stage = InputStage::kNone;
  SourceUse source;
  int64_t source_ns = 0;  // that a batch takes of the source, if it serves one at a time
  // The number that hides loading behind the rest of a step. None: not known, or no number does.
  std::optional<uint32_t> suffice;
  bool limited_by_processors = false;  // fewer than would hide all: processors are not enough
};

// Returns the greatest number of intervals that overlap at one time.
uint32_t MostAtOnce(const std::vector<Interval>& lives);

InputAccount AccountOf(const LoaderRecord& record);

// Returns whether steps wait for the first batch of an epoch, and hardly for any other. The first
// epoch does not count.
bool WaitsForEpochs(const InputAccount& account);

// Returns what a change of the input surely wins of the mean step (ns). The batches say so: workers
// that suffice hide loading, batches that are ready are taken, or epochs after the first one begin
// like other steps. 0: not known.
int64_t SureGainNs(const InputAccount& account);

}  // namespace gpuprof::analysis
