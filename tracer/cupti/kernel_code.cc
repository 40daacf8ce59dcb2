// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/kernel_code.h"

#include <string.h>

#include "proto/matrix_ops.h"
#include "tracer/cupti/matrix_opcodes.h"

namespace gpuprof::tracer::cupti {
namespace {

// Beside the bits of proto::MatrixOp. Facts are only ever added, so that their order is of no
// matter.
constexpr uint32_t kHasNone = 1u << 30;  // a function of this name has no such instruction
constexpr uint32_t kMayCall = 1u << 31;  // but what it may call has
constexpr uint32_t kOps = (2u << proto::kLastMatrixOp) - 2;
static_assert((kOps & (kHasNone | kMayCall | proto::kCodeLookedAt)) == 0);

constexpr size_t kMostNameBytes = 64 << 10;

uint64_t KeyOf(const char* name, size_t bytes) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  uint64_t hash = bytes;
  for (; bytes != 0;) {
    uint64_t word = 0;
    const size_t part = bytes < sizeof(word) ? bytes : sizeof(word);
    memcpy(&word, name, part);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
    name += part;
    bytes -= part;
  }
  // The last word's upper bits have not come down to those that choose a slot.
  hash *= kMultiplier;
  hash ^= hash >> 32;
  return hash != 0 ? hash : 1;
}

}  // namespace

void KernelCode::Add(const char* name, size_t bytes, uint32_t facts) {
  const uint64_t key = KeyOf(name, bytes);
  for (uint32_t i = 0; i < kSlots; ++i) {
    Slot& slot = slots_[(key + i) % kSlots];
    uint64_t held = slot.key.load(std::memory_order_relaxed);
    if (held == 0) {
      if (used_.load(std::memory_order_relaxed) >= kMost) return;
      // Where another thread was here first, `held` is its key.
      if (slot.key.compare_exchange_strong(held, key, std::memory_order_relaxed)) {
        used_.fetch_add(1, std::memory_order_relaxed);
        held = key;
      }
    }
    if (held != key) continue;
    slot.facts.fetch_or(facts, std::memory_order_release);
    return;
  }
}

const KernelCode::Slot* KernelCode::Find(uint64_t key) const {
  for (uint32_t i = 0; i < kSlots; ++i) {
    const Slot& slot = slots_[(key + i) % kSlots];
    const uint64_t held = slot.key.load(std::memory_order_relaxed);
    if (held == key) return &slot;
    if (held == 0) return nullptr;
  }
  return nullptr;
}

// `callable`: what occurs in functions that are no kernels. False: not all of them were read.
bool KernelCode::AddFunctions(const Cubin& cubin, uint32_t* callable) {
  const MatrixOpcodes opcodes(cubin.sm());
  if (!opcodes.is_known()) return false;
  uint64_t code_bytes = 0;
  CubinFunction function;
  for (uint32_t section = 0; section < cubin.sections(); ++section) {
    if (!cubin.ReadFunction(section, &function)) continue;
    code_bytes += function.code_bytes;
    if (code_bytes > kMostCodeBytes) return false;
    const uint32_t ops = opcodes.FindIn(function.code, function.code_bytes);
    if (!function.is_kernel) *callable |= ops;
    Add(function.name, function.name_bytes, ops != 0 ? ops : kHasNone);
  }
  return true;
}

// Kernels cannot be launched before they are loaded: nobody asks for this module's between the two
// passes.
void KernelCode::AddModule(const void* bytes, size_t size) {
  const Cubin cubin(bytes, size);
  uint32_t callable = 0;
  const bool is_whole = AddFunctions(cubin, &callable);
  if (callable == 0 && is_whole) return;
  CubinFunction function;
  for (uint32_t section = 0; section < cubin.sections(); ++section) {
    if (cubin.ReadFunction(section, &function)) Add(function.name, function.name_bytes, kMayCall);
  }
}

uint32_t KernelCode::MatrixOps(const char* name) const {
  if (name == nullptr) return 0;
  const Slot* slot = Find(KeyOf(name, strnlen(name, kMostNameBytes)));
  if (slot == nullptr) return 0;
  const uint32_t facts = slot->facts.load(std::memory_order_acquire);
  const uint32_t ops = facts & kOps;
  if ((facts & kHasNone) == 0) return ops != 0 ? ops | proto::kCodeLookedAt : 0;
  if (ops != 0) return ops;
  return (facts & kMayCall) != 0 ? 0 : proto::kCodeLookedAt;
}

}  // namespace gpuprof::tracer::cupti
