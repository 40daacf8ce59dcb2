// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ranges/named.h"

#include <atomic>

#include "inject/ranges/ranges.h"
#include "inject/state.h"

namespace gpuprof::inject::ranges {
namespace {

constexpr uint32_t kMostNamed = 1024;

struct Entry {
  std::atomic<uint32_t> ready;
  proto::RangeKind kind;
  Text* domain;
  uint64_t number;
  std::atomic<Text*> name;
};
Entry g_named[kMostNamed];
std::atomic<uint32_t> g_count{0};
std::atomic<uint32_t> g_told{0};  // number of the capture

uint32_t Count() {
  const uint32_t count = g_count.load(std::memory_order_acquire);
  return count < kMostNamed ? count : kMostNamed;
}

void Keep(proto::RangeKind kind, Text* domain, uint64_t number, Text* name) {
  for (uint32_t i = 0; i < Count(); ++i) {
    Entry& entry = g_named[i];
    if (entry.ready.load(std::memory_order_acquire) == 0 || entry.kind != kind ||
        entry.domain != domain || entry.number != number)
      continue;
    entry.name.store(name, std::memory_order_release);
    return;
  }
  if (g_count.load(std::memory_order_relaxed) >= kMostNamed) return CountNameLost();
  const uint32_t place = g_count.fetch_add(1, std::memory_order_acq_rel);
  if (place >= kMostNamed) return CountNameLost();
  Entry& entry = g_named[place];
  entry.kind = kind;
  entry.domain = domain;
  entry.number = number;
  entry.name.store(name, std::memory_order_relaxed);
  entry.ready.store(1, std::memory_order_release);
}

}  // namespace

void Name(proto::RangeKind kind, Text* domain, uint64_t number, const Message& message) noexcept {
  Text* name = Intern(message);
  if (name == nullptr) return;
  if (Recording(kSources)) WriteName(kind, domain, number, name);
  Keep(kind, domain, number, name);
}

void TellNames(uint32_t capture, proto::RingHeader* ring, uint64_t now) noexcept {
  if (g_told.exchange(capture, std::memory_order_acq_rel) == capture) return;
  for (uint32_t i = 0; i < Count(); ++i) {
    const Entry& entry = g_named[i];
    if (entry.ready.load(std::memory_order_acquire) == 0) continue;
    WriteNamed(
        ring, now,
        {entry.kind, entry.domain, entry.number, entry.name.load(std::memory_order_acquire)});
  }
}

}  // namespace gpuprof::inject::ranges
