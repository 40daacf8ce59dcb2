// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `overhead`: sums over what CUDA and CUPTI spent on themselves, by kind or thread.

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/model/names.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "proto/results/overhead.pb.h"

namespace gpuprof::analysis {
namespace {

// CUpti_ActivityOverheadKind: a buffer is handed over, code is instrumented, resources, a buffer is
// asked for, unified memory's counters begin. All others are CUDA's own work.
constexpr uint32_t kOfCupti[] = {
    proto::OverheadOperation(1 << 16), proto::OverheadOperation(2 << 16),
    proto::OverheadOperation(3 << 16), proto::OverheadOperation(7 << 16),
    proto::OverheadOperation(8 << 16)};

struct Key {
  size_t owner;        // process
  uint32_t operation;  // of a thread: 0
  int32_t tid;         // of a kind: 0
  bool is_recorder;
  auto operator<=>(const Key&) const = default;
};

struct Sums {
  uint64_t count = 0, cache_bytes = 0;
  int64_t total_ns = 0, max_ns = -1, max_start_ns = 0;
};

using Groups = std::map<Key, Sums>;

bool IsOfCupti(uint32_t operation) {
  return std::find(std::begin(kOfCupti), std::end(kOfCupti), operation) != std::end(kOfCupti);
}

std::string KindOf(uint32_t operation) {
  const std::string_view name = OverheadName(operation);
  return name.empty() ? "kind " + std::to_string(operation) : std::string(name);
}

void AddProcess(size_t owner, const Process& process, bool by_thread, Groups* groups,
                results::Overheads* out) {
  for (const Track& track : process.tracks) {
    const OverheadTable& table = track.overhead;
    for (size_t i = 0; i < table.rows(); ++i) {
      const uint32_t operation = table.operation[i];
      const bool is_recorder = IsOfCupti(operation);
      const int64_t duration = table.duration_ns[i];
      const int32_t tid = by_thread && !track.is_stream ? track.tid : 0;
      Sums& sums = (*groups)[{owner, by_thread ? 0 : operation, tid, is_recorder}];
      ++sums.count;
      sums.total_ns += duration;
      sums.cache_bytes = std::max(sums.cache_bytes, table.bytes[i]);
      if (duration > sums.max_ns) {
        sums.max_ns = duration;
        sums.max_start_ns = table.end_ns[i] - duration - process.first_ns;
      }
      out->set_count(out->count() + 1);
      if (is_recorder) {
        out->set_cupti_ns(out->cupti_ns() + duration);
      } else {
        out->set_cuda_ns(out->cuda_ns() + duration);
      }
    }
  }
}

void FillRow(bool by_thread, const Key& key, const Process& process, const Sums& sums,
             results::Overhead* row) {
  SetProcess(process, row);
  if (by_thread) {
    row->set_name(key.tid == 0 ? "no thread" : ThreadName(process, key.tid));
    row->set_tid(key.tid);
  } else {
    row->set_name(KindOf(key.operation));
  }
  row->set_count(sums.count);
  row->set_total_ns(sums.total_ns);
  row->set_mean_ns(sums.total_ns / static_cast<int64_t>(sums.count));
  row->set_max_ns(sums.max_ns);
  row->set_max_start_ns(sums.max_start_ns);
  row->set_is_recorder(key.is_recorder);
  row->set_cache_bytes(sums.cache_bytes);
}

}  // namespace

Error RunOverhead(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Overheads>();
  const std::string by = context.By("kind");
  const bool by_thread = by == "thread";
  Groups groups;
  std::map<size_t, const Process*> processes;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const size_t owner = context.Owner(index);
    processes[owner] = &process;
    AddProcess(owner, process, by_thread, &groups, out.get());
  }
  for (const auto& [key, sums] : groups)
    FillRow(by_thread, key, *processes[key.owner], sums, out->add_overheads());
  SortByTotal(out->mutable_overheads());
  out->set_by(by);
  context.FillCountMeta("overhead", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
