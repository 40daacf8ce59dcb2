// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/memory/heap_order.h"

#include <algorithm>

namespace gpuprof::analysis {
namespace {

// The recorder refreshes the coarse clock each millisecond. A recorder that was killed may not have
// told of the last step.
constexpr int64_t kLeastReachNs = 5'000'000;

bool IsOver(const HeapOrder::Event& event, int64_t now, int64_t reach_ns) {
  return event.time_ns < now - reach_ns;
}

}  // namespace

void HeapOrder::Queue::Push(const Event& event) {
  Waiting& waiting = at[event.address];
  with_hash[Hash(event.address)] += waiting.count == 0;
  waiting = {event, waiting.count + 1};
  in_order.push_back(event);
}

bool HeapOrder::Queue::TakeWaiting(const Event& event, int64_t reach_ns) {
  const auto found = at.find(event.address);
  if (found == at.end()) return false;
  const Event& other = found->second.last;
  if (IsOver(other, event.time_ns, reach_ns) || other.track == event.track) return false;
  if (!other.is_coarse && !event.is_coarse) return false;
  if (--found->second.count == 0) {
    --with_hash[Hash(event.address)];
    at.erase(found);
  }
  return true;
}

uint64_t HeapOrder::Queue::Expire(int64_t now, int64_t reach_ns) {
  uint64_t count = 0;
  for (; !in_order.empty() && IsOver(in_order.front(), now, reach_ns); in_order.pop_front()) {
    const auto found = at.find(in_order.front().address);
    if (found == at.end() || !IsOver(found->second.last, now, reach_ns)) continue;
    count += found->second.count;
    --with_hash[Hash(found->first)];
    at.erase(found);
  }
  return count;
}

HeapOrder::HeapOrder(LiveMemory* memory, int64_t coarse_step_ns)
    : memory_(memory), reach_ns_(std::max(coarse_step_ns, kLeastReachNs)) {}

void HeapOrder::ExpireWaiting(int64_t now) {
  reused_.Expire(now, reach_ns_);
  for (uint64_t count = early_frees_.Expire(now, reach_ns_); count > 0; --count)
    memory_->CountUnmatchedFree();
  oldest_ns_ = std::numeric_limits<int64_t>::max();
  for (const Queue* queue : {&reused_, &early_frees_}) {
    if (!queue->in_order.empty())
      oldest_ns_ = std::min(oldest_ns_, queue->in_order.front().time_ns);
  }
}

void HeapOrder::Flush() { Expire(INT64_MAX); }

}  // namespace gpuprof::analysis
