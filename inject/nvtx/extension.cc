// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// InitializeInjectionNvtxExtension: what each library of the program that uses an extension of NVTX
// calls at its first call of that, once NVTX itself is there (injection.cc). Any thread, several at
// the same time.
//
// Of the extensions the one of payloads is taken; counters and memory are the chained tool's alone.
// A tool is asked first, as in injection.cc. Where nothing is recorded and no tool takes the
// extension, the program sees what it would see without us: functions that do nothing, and
// nvtxDomainIsEnabled says 1 where a tool is there that has never heard of extensions, else 0.

#include <errno.h>

#include "inject/chained_tool.h"
#include "inject/entry.h"
#include "inject/hook_list.h"
#include "inject/nvtx/callbacks.h"
#include "inject/nvtx/payload_abi.h"
#include "inject/nvtx/payload_callbacks.h"
#include "inject/ranges/ranges.h"
#include "inject/state.h"

namespace gpuprof::inject::nvtx {
namespace {

using Initialize = int (*)(ModuleInfo*);

// Null: the module has none.
intptr_t* SlotOf(const ModuleInfo& module, unsigned id) {
  if (module.segment_count == 0 || module.segments == nullptr) return nullptr;
  const ModuleSegment& segment = module.segments[0];
  return segment.slots != nullptr && id < segment.slot_count ? &segment.slots[id] : nullptr;
}

// What a tool that failed has put there: nobody had taken a slot before it.
void ClearSlots(const ModuleInfo& module) {
  for (size_t i = 0; module.segments != nullptr && i < module.segment_count; ++i) {
    const ModuleSegment& segment = module.segments[i];
    for (size_t slot = 0; segment.slots != nullptr && slot < segment.slot_count; ++slot) {
      segment.slots[slot] = kFreshSlot;
    }
  }
}

bool IsPayload(const ModuleInfo& module) {
  return module.module_id == kPayloadModule && module.compat_id >= kOldestPayloadCompat &&
         module.compat_id <= kNewestPayloadCompat;
}

bool Attach(ModuleInfo* module) {
  bool has_object = false;
  const auto tool = reinterpret_cast<Initialize>(OptionalChainedEntry(
      proto::kEnvChainedNvtx, "InitializeInjectionNvtxExtension", &has_object));
  const bool has_tool = tool != nullptr && tool(module) != 0;
  if (module == nullptr || module->struct_size < sizeof(ModuleInfo)) return has_tool;
  if (!has_tool) ClearSlots(*module);
  if (!IsPayload(*module)) return has_tool;
  const bool is_taken = IsRecorded() && ranges::PrepareRanges();
  if (!is_taken && (tool != nullptr || !has_object)) return has_tool;
  for (unsigned id = is_taken ? 0u : kDomainIsEnabled; id < kPayloadIds; ++id) {
    intptr_t* slot = SlotOf(*module, id);
    if (slot == nullptr) continue;
    if (*slot != kFreshSlot && *slot != kDisabledSlot) SetChainedPayload(id, *slot);
    *slot = PayloadCallback(id);
  }
  return true;
}

}  // namespace
}  // namespace gpuprof::inject::nvtx

extern "C" GPUPROF_EXPORT int InitializeInjectionNvtxExtension(
    gpuprof::inject::nvtx::ModuleInfo* module) {
  const int saved = errno;
  gpuprof::inject::EnsureEntered();
  const bool attached = gpuprof::inject::nvtx::Attach(module);
  errno = saved;
  return attached ? 1 : 0;
}
