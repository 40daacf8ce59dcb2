// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory pools of CUDA, from what CUPTI told of each when something was allocated from it: how much
// of what a pool took from the device it had handed out. See device_memory.h.

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/passes/device_memory.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

struct Row {
  int64_t time_ns;
  uint32_t track;
  uint32_t row;
};

std::vector<Row> RowsByTime(const Process& process) {
  std::vector<Row> rows;
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    const MemoryPoolTable& table = process.tracks[t].memory_pool;
    for (uint32_t i = 0; i < table.rows(); ++i) rows.push_back({table.time_ns[i], t, i});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& x, const Row& y) { return x.time_ns < y.time_ns; });
  return rows;
}

// One pool; its address may be another's later.
struct Pool {
  results::MemoryPool* row;
  int64_t first_ns;
};

class Pools {
 public:
  Pools(const Process& process, results::DeviceMemory* out) : process_(process), out_(out) {}

  void Add(const Row& at) {
    const Track& track = process_.tracks[at.track];
    const MemoryPoolTable& table = track.memory_pool;
    const uint32_t packed = table.operation[at.row];
    const uint32_t operation = proto::PoolOperationOf(packed);
    results::MemoryPool* row = Find(track, at, operation);
    row->set_imported(proto::PoolTypeOf(packed) == proto::kImportedPool);
    if (operation != proto::kPoolSeen) row->set_managed(proto::IsManagedPool(packed));
    if (operation == proto::kPoolCreated) row->set_created(true);
    if (operation == proto::kPoolDestroyed) row->set_destroyed(true);
    const uint64_t size = table.size[at.row], utilized = table.utilized[at.row];
    if (operation == proto::kPoolTrimmed) {
      const uint64_t before = std::max(row->reserved_end_bytes(), size);
      row->set_trim_count(row->trim_count() + 1);
      row->set_trimmed_bytes(row->trimmed_bytes() + before - size);
    }
    row->set_threshold_bytes(table.threshold[at.row]);
    row->set_utilized_end_bytes(utilized);
    row->set_reserved_end_bytes(size);
    row->set_reserved_peak_bytes(std::max(row->reserved_peak_bytes(), size));
    if (utilized <= row->utilized_peak_bytes()) return;
    row->set_utilized_peak_bytes(utilized);
    row->set_utilized_peak_time_ns(at.time_ns);
    row->set_reserved_at_peak_bytes(size);
  }

  void Count(const DeviceBlock& block) {
    const auto found = by_address_.find(block.pool);
    if (found == by_address_.end() || block.is_older) return;
    const std::vector<Pool>& pools = found->second;
    // The youngest that was there by then.
    size_t i = pools.size() - 1;
    while (i > 0 && pools[i].first_ns > block.time_ns) --i;
    results::MemoryPool* row = pools[i].row;
    row->set_count(row->count() + 1);
    row->set_allocated_bytes(row->allocated_bytes() + block.bytes);
    row->set_kind(std::string(MemoryKindName(block.kind)));
  }

 private:
  results::MemoryPool* Find(const Track& track, const Row& at, uint32_t operation) {
    const uint64_t address = track.memory_pool.pool[at.row];
    std::vector<Pool>& pools = by_address_[address];
    const bool is_new =
        pools.empty() || (operation == proto::kPoolCreated && pools.back().row->destroyed());
    if (!is_new) return pools.back().row;
    results::MemoryPool* row = out_->add_pools();
    row->set_name(PoolName(address));
    SetProcess(process_, row);
    row->set_device(track.device);
    row->set_pool_address(address);
    pools.push_back({row, at.time_ns});
    return row;
  }

  const Process& process_;
  results::DeviceMemory* out_;
  std::unordered_map<uint64_t, std::vector<Pool>> by_address_;
};

double Fragmentation(uint64_t utilized, uint64_t reserved) {
  return 1 - Ratio(std::min(utilized, reserved), reserved);
}

}  // namespace

void AddMemoryPools(const Process& process, const DeviceMemoryHistory& history,
                    results::DeviceMemory* out) {
  const int before = out->pools_size();
  Pools pools(process, out);
  for (const Row& row : RowsByTime(process)) pools.Add(row);
  for (const DeviceBlock& block : history.blocks) {
    if (block.pool != 0) pools.Count(block);
  }
  for (int i = before; i < out->pools_size(); ++i) {
    results::MemoryPool* row = out->mutable_pools(i);
    if (row->kind().empty()) row->set_kind(row->managed() ? "managed" : "device");
    if (row->reserved_at_peak_bytes() != 0) {
      row->set_fragmentation_ratio(
          Fragmentation(row->utilized_peak_bytes(), row->reserved_at_peak_bytes()));
    }
    if (row->reserved_end_bytes() != 0) {
      row->set_end_fragmentation_ratio(
          Fragmentation(row->utilized_end_bytes(), row->reserved_end_bytes()));
    }
  }
}

}  // namespace gpuprof::analysis
