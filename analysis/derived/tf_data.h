// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pipelines of tf.data: their iterators, and for which of them the program waited. TensorFlow marks
// each call of an iterator by the names of all iterators above it: "Iterator::Root::Prefetch::Map".
// Pure, any thread.
//
// The program waits while it is in a call of the outermost iterator. That time is divided: it
// belongs to the innermost iterator that was called meanwhile, on whatever thread. So an iterator
// that hands its work to other threads does not count as the cause. The parts add up to the wait.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// What an iterator does: what helps depends on it.
enum class IteratorClass {
  kSource,     // reads files or records
  kPython,     // calls a generator of Python
  kService,    // asks another process
  kTransform,  // Map, Interleave and others that have a parallel form
  kParallel,   // these parallel forms
  kBatch,      // Batch, Filter and others without a parallel form
  kShuffle,    // fills a buffer before it gives the first element
  kPrefetch,   // works ahead
  kCache,
  kOther,
};

// Returns the class of an iterator by its name. Source: XProf 2.24's classes of bottlenecks, and
// the datasets of TensorFlow 2.21.
IteratorClass ClassOfIterator(std::string_view iterator);

// Returns whether an iterator hands its work to other threads: time in it alone is a wait for them.
bool IsAsynchronous(std::string_view iterator);

struct DataIterator {
  std::string name;              // "MapAndBatch"
  std::string path;              // "Iterator::Root::Prefetch::MapAndBatch", without numbers
  std::optional<size_t> parent;  // index of the iterator that asks it
  size_t depth = 0;              // below the outermost
  uint64_t count = 0;            // calls
  int64_t total_ns = 0;          // in calls, summed over threads
  int64_t self_ns = 0;           // without the iterators that the same thread called in it
  int64_t max_ns = 0, max_start_ns = 0;
  int32_t max_tid = 0;
  size_t threads = 0;
  int64_t waited_ns = 0;  // the program waited, and this was the innermost iterator at work
};

struct DataPipeline {
  // Parents before children; the first is the outermost. Children by what was waited for them.
  std::vector<DataIterator> iterators;
  std::vector<Interval> waits;    // calls of the outermost; sorted, disjoint
  std::vector<int64_t> waits_ns;  // their durations, sorted
  int64_t waited_ns = 0;          // the program was in a call of the outermost
  int64_t window_ns = 0;          // from the begin of its first call to the end of its last
  int64_t python_ns = 0;          // the program waited, and a Python function of tf.data ran
  double python_at_once = 0;      // while one of them ran; 0: none ran
  size_t blamed = 0;              // the iterator that the program waited for most
  // A shuffle that asks the blamed iterator, and filled its buffer in the longest wait.
  std::optional<size_t> filled;
};

// Returns the pipelines of a process, the longest wait first.
std::vector<DataPipeline> FindDataPipelines(const Process& process);

// Returns the least number of calls that make up nine tenths of the wait; 0 if they are more than a
// tenth of all calls. A call in which a buffer fills is one of them.
size_t CountOfLongWaits(const DataPipeline& pipeline);

}  // namespace gpuprof::analysis
