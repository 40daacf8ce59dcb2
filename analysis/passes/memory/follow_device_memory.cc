// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See follow_device_memory.h.

#include "analysis/passes/memory/follow_device_memory.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gpuprof::analysis {
namespace {

struct Row {
  int64_t time_ns;
  uint32_t correlation;
  uint32_t track;
  uint32_t row;
};

// CUPTI delivers a thread's records late and in buffers of its own: rows of a track are in order
// within a chunk only.
std::vector<Row> RowsByTime(const Process& process) {
  std::vector<Row> rows;
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    const DeviceMemoryTable& table = process.tracks[t].device_memory;
    for (uint32_t i = 0; i < table.rows(); ++i)
      rows.push_back({table.time_ns[i], table.correlation[i], t, i});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& x, const Row& y) {
    return x.time_ns != y.time_ns ? x.time_ns < y.time_ns : x.correlation < y.correlation;
  });
  return rows;
}

// The program's clock and CUPTI's agree to better than this.
constexpr int64_t kClockDistance = 100'000;

struct ContextEnd {
  int64_t time_ns;
  uint32_t context;
};

// By time, of contexts in which something was allocated. Nothing happens in one that has ended, but
// to memory of pools: what seems to is before the end, and the clocks disagree.
std::vector<ContextEnd> EndsByTime(const Process& process, const std::vector<Row>& rows) {
  std::vector<ContextEnd> ends;
  std::unordered_map<uint32_t, size_t> of_context;
  for (const ContextLife& life : process.contexts) {
    if (life.end_ns == INT64_MAX) continue;
    of_context.emplace(life.id, ends.size());
    ends.push_back({life.end_ns, life.id});
  }
  if (ends.empty()) return ends;
  const std::vector<ContextEnd> told = ends;
  std::vector<bool> is_used(ends.size());
  for (const Row& row : rows) {
    const Track& track = process.tracks[row.track];
    const auto found = of_context.find(track.context);
    if (found == of_context.end() || track.device_memory.pool[row.row] != 0) continue;
    is_used[found->second] = true;
    const int64_t late = row.time_ns - told[found->second].time_ns;
    if (late > 0 && late < kClockDistance) ends[found->second].time_ns = row.time_ns;
  }
  size_t kept = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (is_used[i]) ends[kept++] = ends[i];
  }
  ends.resize(kept);
  std::stable_sort(ends.begin(), ends.end(),
                   [](const ContextEnd& x, const ContextEnd& y) { return x.time_ns < y.time_ns; });
  return ends;
}

// The number of the capture then; -1: none is known.
int CaptureAt(const Process& process, int64_t time_ns) {
  int number = -1;
  for (const CaptureWindow& window : process.captures) {
    if (window.start_ns <= time_ns) number = std::max(number, static_cast<int>(window.number));
  }
  return number;
}

// Within its last capture.
bool BecameAnotherProgram(const Process& process) {
  return process.has_end && process.exit_way == static_cast<uint32_t>(proto::ExitWay::kExec) &&
         !process.captures.empty() && process.captures.back().stop_trigger == "exit";
}

DeviceBlock BlockOf(const Track& track, uint32_t row) {
  const DeviceMemoryTable& table = track.device_memory;
  DeviceBlock block;
  block.time_ns = table.time_ns[row];
  block.address = table.address[row];
  block.bytes = table.bytes[row];
  block.pool = table.pool[row];
  block.pc = table.pc[row];
  block.device = track.device;
  block.context = track.context;
  block.stream = track.stream;
  block.kind = proto::MemoryKindOf(table.operation[row]);
  block.is_async = proto::IsAsyncMemory(table.operation[row]);
  block.origin = table.origin[row];
  block.correlation = table.correlation[row];
  return block;
}

class Follower {
 public:
  explicit Follower(const CallIndex& calls) : calls_(calls) {}

  void Allocate(const DeviceBlock& block) {
    const auto index = static_cast<uint32_t>(history_.blocks.size());
    const auto [at, is_new] = live_.try_emplace(block.address, index);
    if (!is_new) {
      // Its release is missing, or was told with a later time: a call's time is that of its
      // beginning, and the one that was given the address may have begun before the one that gave
      // it up.
      const std::optional<Call> call = calls_.Find(block.correlation);
      GivenUp& late = given_up_[block.address];
      ++late.releases;
      late.until_ns = call ? call->end_ns : block.time_ns;
      ++history_.implied_releases;
      End(at->second, block.time_ns, DeviceMemoryEvent::kRelease, 0);
      at->second = index;
    }
    history_.blocks.push_back(block);
    history_.events.push_back(
        {block.time_ns, index, DeviceMemoryEvent::kAllocation, block.correlation});
  }

  void Release(const DeviceBlock& block) {
    // Told of it while its context is taken apart: it has ended already.
    const auto ended = ended_.find(block.address);
    if (ended != ended_.end() && ended->second == block.context && block.pool == 0) {
      ended_.erase(ended);
      return;
    }
    const auto late = given_up_.find(block.address);
    const bool is_awaited = late != given_up_.end() && late->second.releases != 0;
    const auto at = live_.find(block.address);
    if (at != live_.end() && !(is_awaited && block.time_ns <= late->second.until_ns)) {
      End(at->second, block.time_ns, DeviceMemoryEvent::kRelease, block.correlation);
      live_.erase(at);
      return;
    }
    if (is_awaited) {
      --late->second.releases;
      --history_.implied_releases;
      return;
    }
    history_.blocks.push_back(block);
    history_.blocks.back().is_older = true;
    history_.events.push_back({block.time_ns, static_cast<uint32_t>(history_.blocks.size() - 1),
                               DeviceMemoryEvent::kOlderRelease, block.correlation});
  }

  // Memory of pools is of no context: it stays.
  void EndContext(uint32_t context, int64_t time_ns) {
    for (auto at = live_.begin(); at != live_.end();) {
      DeviceBlock& block = history_.blocks[at->second];
      if (block.context != context || block.pool != 0) {
        ++at;
        continue;
      }
      End(at->second, time_ns, DeviceMemoryEvent::kContextEnd, 0);
      block.ended_with_context = true;
      ended_[block.address] = context;
      at = live_.erase(at);
    }
  }

  // Another program took its process's place: nothing of the GPU outlives that.
  void EndProcess(int64_t time_ns) {
    for (const auto& [address, index] : live_) {
      End(index, time_ns, DeviceMemoryEvent::kContextEnd, 0);
      history_.blocks[index].ended_with_context = true;
    }
    live_.clear();
  }

  // What happens between two captures is not recorded.
  void NewCapture(int64_t time_ns) {
    for (const auto& [address, index] : live_)
      history_.events.push_back({time_ns, index, DeviceMemoryEvent::kForgotten, 0});
    live_.clear();
    given_up_.clear();
    ended_.clear();
  }

  DeviceMemoryHistory Finish() {
    for (const auto& [address, index] : live_) history_.blocks[index].is_live = true;
    return std::move(history_);
  }

 private:
  void End(uint32_t index, int64_t time_ns, DeviceMemoryEvent::What what, uint32_t correlation) {
    DeviceBlock& block = history_.blocks[index];
    block.life_ns = std::max<int64_t>(time_ns - block.time_ns, 0);
    history_.events.push_back({time_ns, index, what, correlation});
  }

  // Releases of an address that must have been before it was given out again.
  struct GivenUp {
    uint32_t releases = 0;
    int64_t until_ns = 0;  // one told of before that is such a release, and not the new block's
  };

  const CallIndex& calls_;
  DeviceMemoryHistory history_;
  std::unordered_map<uint64_t, uint32_t> live_;  // by address: the block
  std::unordered_map<uint64_t, GivenUp> given_up_;
  std::unordered_map<uint64_t, uint32_t> ended_;  // by address: the context with which a block went
};

}  // namespace

DeviceMemoryHistory FollowDeviceMemory(const Process& process, const CallIndex& calls) {
  Follower follower(calls);
  const std::vector<Row> rows = RowsByTime(process);
  const std::vector<ContextEnd> ends = EndsByTime(process, rows);
  int capture = -1;
  const auto pass_to = [&](int of_next, int64_t time_ns) {
    if (capture >= 0 && of_next != capture) follower.NewCapture(time_ns);
    capture = of_next;
  };
  auto end = ends.begin();
  const auto end_contexts = [&](int64_t before_ns) {
    for (; end != ends.end() && end->time_ns < before_ns; ++end) {
      const int of_end = CaptureAt(process, end->time_ns);
      if (of_end > capture && capture >= 0) pass_to(of_end, end->time_ns);
      follower.EndContext(end->context, end->time_ns);
    }
  };
  for (const Row& row : rows) {
    const Track& track = process.tracks[row.track];
    end_contexts(row.time_ns);
    pass_to(track.device_memory.capture[row.row], row.time_ns);
    const uint32_t operation = proto::MemoryOperationOf(track.device_memory.operation[row.row]);
    if (operation == proto::kMemoryAllocation) follower.Allocate(BlockOf(track, row.row));
    if (operation == proto::kMemoryRelease) follower.Release(BlockOf(track, row.row));
  }
  end_contexts(INT64_MAX);
  // "At the end" is that of the last capture, also where nothing was allocated in it.
  if (capture >= 0 && process.last_capture() > capture)
    pass_to(process.last_capture(), process.captures.back().start_ns);
  if (BecameAnotherProgram(process)) follower.EndProcess(process.last_ns);
  return follower.Finish();
}

bool IsOnDevice(uint32_t memory_kind) {
  constexpr uint32_t kDevice = 3, kManagedStatic = 7;
  return memory_kind >= kDevice && memory_kind <= kManagedStatic;
}

}  // namespace gpuprof::analysis
