// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// glibc 2.35 and later answer without a lock (_dl_find_object, made for unwinders). Before that, a
// list kept here is used, which the control thread brings up to date every tick: code younger than
// that is unknown for so long.

#include "tracer/stack/modules.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "proto/contract.h"

namespace gpuprof::tracer {
namespace {

constexpr uint32_t kMostModules = 4096;
constexpr uint32_t kOwnObjects = 2;

// As <dlfcn.h> of glibc 2.35 lays it out; reserved words included.
struct FoundObject {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  void* link_map;
  void* eh_frame_hdr;
  unsigned long long reserved[8];
};
using FindObjectFunction = int (*)(void* address, FoundObject* result);

// A slot is in use while lo is not 0; its other fields change only while it is 0.
struct Slot {
  std::atomic<uint64_t> lo;
  std::atomic<uint64_t> hi;
  std::atomic<uint64_t> eh_frame_hdr;
  bool seen;  // control thread only
};

struct Range {
  std::atomic<uint64_t> lo;
  std::atomic<uint64_t> hi;
  bool seen;  // control thread only
};

Slot slots[kMostModules];
std::atomic<uint32_t> slots_used;
Range own[kOwnObjects];
std::atomic<FindObjectFunction> find_object;
bool find_object_sought;
unsigned long long adds_seen;
unsigned long long subs_seen;

bool EndsWith(const char* path, const char* name) {
  const char* slash = std::strrchr(path, '/');
  return std::strcmp(slash != nullptr ? slash + 1 : path, name) == 0;
}

CodeObject ExtentOf(const dl_phdr_info* info) {
  CodeObject object;
  for (uint32_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) object.eh_frame_hdr = begin;
    if (segment.p_type != PT_LOAD) continue;
    if (object.hi == 0 || begin < object.lo) object.lo = begin;
    if (begin + segment.p_memsz > object.hi) object.hi = begin + segment.p_memsz;
  }
  return object;
}

void Keep(const CodeObject& object) {
  const uint32_t used = slots_used.load(std::memory_order_relaxed);
  Slot* free_slot = nullptr;
  for (uint32_t i = 0; i < used; ++i) {
    Slot& slot = slots[i];
    const uint64_t lo = slot.lo.load(std::memory_order_relaxed);
    if (lo == 0) {
      free_slot = &slot;
    } else if (lo == object.lo && slot.hi.load(std::memory_order_relaxed) == object.hi &&
               slot.eh_frame_hdr.load(std::memory_order_relaxed) == object.eh_frame_hdr) {
      slot.seen = true;
      return;
    }
  }
  if (free_slot == nullptr) {
    if (used == kMostModules) return;
    free_slot = &slots[used];
    slots_used.store(used + 1, std::memory_order_release);
  }
  free_slot->hi.store(object.hi, std::memory_order_relaxed);
  free_slot->eh_frame_hdr.store(object.eh_frame_hdr, std::memory_order_relaxed);
  free_slot->lo.store(object.lo, std::memory_order_release);
  free_slot->seen = true;
}

int VisitModule(dl_phdr_info* info, size_t size, void*) {
  if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
    adds_seen = info->dlpi_adds;
    subs_seen = info->dlpi_subs;
  }
  const CodeObject object = ExtentOf(info);
  if (object.hi == 0) return 0;
  Keep(object);
  const char* names[kOwnObjects] = {proto::kInjectObject, proto::kTracerObject};
  for (uint32_t i = 0; i < kOwnObjects; ++i) {
    if (info->dlpi_name == nullptr || !EndsWith(info->dlpi_name, names[i])) continue;
    own[i].lo.store(object.lo, std::memory_order_relaxed);
    own[i].hi.store(object.hi, std::memory_order_relaxed);
    own[i].seen = true;
  }
  return 0;
}

// The counters are the same for every module: the first is enough.
int VisitCounters(dl_phdr_info* info, size_t size, void* data) {
  if (size < offsetof(dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) return 1;
  ModulesDelta* delta = static_cast<ModulesDelta*>(data);
  delta->came = info->dlpi_adds != adds_seen;
  delta->went = info->dlpi_subs != subs_seen;
  return 1;
}

}  // namespace

void ModulesRefresh() {
  if (!find_object_sought) {
    find_object_sought = true;
    find_object = reinterpret_cast<FindObjectFunction>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  }
  const uint32_t used = slots_used.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < used; ++i) slots[i].seen = false;
  for (Range& range : own) range.seen = false;
  dl_iterate_phdr(VisitModule, nullptr);
  for (uint32_t i = 0; i < used; ++i) {
    if (!slots[i].seen) slots[i].lo.store(0, std::memory_order_release);
  }
  for (Range& range : own) {
    if (!range.seen) range.hi.store(0, std::memory_order_relaxed);
  }
}

ModulesDelta ModulesSince() {
  ModulesDelta delta = {false, false};
  dl_iterate_phdr(VisitCounters, &delta);
  return delta;
}

bool FindCode(uint64_t address, CodeObject* object) noexcept {
  if (const FindObjectFunction find = find_object.load(std::memory_order_relaxed)) {
    FoundObject found = {};
    if (find(reinterpret_cast<void*>(address), &found) != 0) return false;
    *object = {reinterpret_cast<uint64_t>(found.map_start),
               reinterpret_cast<uint64_t>(found.map_end),
               reinterpret_cast<uint64_t>(found.eh_frame_hdr)};
    return true;
  }
  const uint32_t used = slots_used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used; ++i) {
    const uint64_t lo = slots[i].lo.load(std::memory_order_acquire);
    const uint64_t hi = slots[i].hi.load(std::memory_order_relaxed);
    if (lo == 0 || address < lo || address >= hi) continue;
    *object = {lo, hi, slots[i].eh_frame_hdr.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    if (slots[i].lo.load(std::memory_order_relaxed) == lo) return true;
  }
  return false;
}

bool IsOwnCode(uint64_t address) noexcept {
  for (const Range& range : own) {
    if (address >= range.lo.load(std::memory_order_relaxed) &&
        address < range.hi.load(std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void ModulesUseOwnList(bool only) {
  find_object =
      only ? nullptr : reinterpret_cast<FindObjectFunction>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

}  // namespace gpuprof::tracer
