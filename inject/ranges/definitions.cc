// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ranges/definitions.h"

#include <string.h>

#include <atomic>

namespace gpuprof::inject::ranges {
namespace {

using proto::nvtx::DefinitionHeader;

constexpr uint32_t kSlots = 4096;
constexpr uint32_t kMostProbes = 64;

std::atomic<Text*> g_slots[kSlots];
std::atomic<uint32_t> g_count{0};
std::atomic<uint32_t> g_reported{0};  // number of the capture

std::atomic<Text*>& SlotOf(uint32_t domain, uint64_t id, uint32_t probe) {
  const uint64_t mixed = (id ^ uint64_t{domain} << 32) * 0x9e3779b97f4a7c15u;
  return g_slots[((mixed >> 40) + probe) & (kSlots - 1)];
}

bool IsOf(const Text& definition, uint32_t domain, uint64_t id) {
  const DefinitionHeader header = HeaderOf(definition);
  return header.domain == domain && header.id == id;
}

}  // namespace

DefinitionHeader HeaderOf(const Text& definition) noexcept {
  DefinitionHeader header;
  memcpy(&header, definition.chars, sizeof(header));
  return header;
}

[[gnu::cold]] void KeepDefinition(const char* bytes, uint32_t size) noexcept {
  Text* text = InternDefinition(bytes, size);
  if (text == nullptr) return;
  const DefinitionHeader header = HeaderOf(*text);
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    std::atomic<Text*>& slot = SlotOf(header.domain, header.id, probe);
    Text* found = slot.load(std::memory_order_acquire);
    while (found == nullptr || IsOf(*found, header.domain, header.id)) {
      if (!slot.compare_exchange_strong(found, text, std::memory_order_acq_rel)) continue;
      g_count.fetch_add(1, std::memory_order_relaxed);
      g_reported.store(0, std::memory_order_release);
      return;
    }
  }
}

Text* FindDefinition(const Text* domain, uint64_t id) noexcept {
  const uint32_t domain_id = domain != nullptr ? domain->id : 0;
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    Text* found = SlotOf(domain_id, id, probe).load(std::memory_order_acquire);
    if (found == nullptr || IsOf(*found, domain_id, id)) return found;
  }
  return nullptr;
}

[[gnu::cold]] void ReportDefinitions(uint32_t capture, proto::RingHeader* ring) noexcept {
  if (g_reported.exchange(capture, std::memory_order_acq_rel) == capture) return;
  if (g_count.load(std::memory_order_relaxed) == 0) return;
  for (std::atomic<Text*>& slot : g_slots) {
    Text* text = slot.load(std::memory_order_acquire);
    // A definition without room in the ring is reported with the next payload.
    if (text != nullptr && !Define(ring, text)) g_reported.store(0, std::memory_order_release);
  }
}

}  // namespace gpuprof::inject::ranges
