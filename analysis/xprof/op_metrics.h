// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Times, counts and costs of operations, of a host or of its devices. Plain data; functions are
// pure, any thread. Source: XProf 2.24.0.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/xprof/hlo_programs.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

inline constexpr std::string_view kIdle = "IDLE";

struct OpMetrics {
  uint64_t program_id = 0;  // or the number of a stage
  std::string name, category;
  std::string provenance;  // the operation of the framework
  bool is_eager = false;
  uint32_t occurrences = 0;
  uint64_t time_ps = 0, self_time_ps = 0;
  double flops = 0, model_flops = 0;
  uint64_t bytes = 0;
  uint64_t read = 0, written = 0;  // of the device's memory; both 0: not divided
  // Instructions of compiled programs have these.
  std::string expression, shared_name, source_file, stack;
  int32_t source_line = -1;

  bool IsIdle() const { return category == kIdle; }
  uint64_t hbm_bytes() const { return read + written != 0 ? read + written : bytes; }
  void AddCosts(const OpMetrics& from) {
    flops += from.flops;
    model_flops += from.model_flops;
    bytes += from.bytes;
    read += from.read;
    written += from.written;
  }
};

struct OpMetricsDb {
  std::deque<OpMetrics> ops;  // in the order of their first events
  uint64_t total_time_ps = 0, op_time_ps = 0;
  uint64_t enqueue_ps = 0, enqueue_begins_ps = 0;  // of the infeed's enqueues

  // Returns the operation, which it adds if it is new.
  OpMetrics& Find(uint64_t program_id, std::string_view name);
  // Ends the collection: `span_ps` is from the first event to the last. Adds the idle time.
  void Close(uint64_t span_ps);
  void Combine(const OpMetricsDb& other);

 private:
  struct Key {
    uint64_t program_id;
    std::string name;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string>()(key.name) ^ (key.program_id * 0x9e3779b97f4a7c15);
    }
  };
  std::unordered_map<Key, size_t, Hash> index_;
};

// Returns the operations, those with the most time of their own first; at most `most`.
std::vector<const OpMetrics*> SortedOps(const OpMetricsDb& db, size_t most = SIZE_MAX);

// Collects the operations of the host's threads.
OpMetricsDb OpsOfHost(const Plane& host);
// Collects the operations of a GPU: of compiled programs, or those that annotations name.
OpMetricsDb OpsOfGpu(const Plane& gpu, const HloPrograms& programs);
// Groups operations of devices by the framework's operations.
OpMetricsDb FrameworkOps(const OpMetricsDb& devices, bool with_idle);

}  // namespace gpuprof::analysis::xprof
