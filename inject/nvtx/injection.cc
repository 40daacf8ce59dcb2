// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// InitializeInjectionNvtx2: what each library of the program that has NVTX in it calls at its first
// NVTX call, in the object that NVTX_INJECTION64_PATH names. Our functions then take the slots of
// that library's instance. Any thread, several at the same time.
//
// A tool that the variable named before us is initialised first, with the same tables, so that it
// fills the slots as if it were alone; what it put there is what ours call. Slots that we have no
// use for (resources, synchronisation objects, OpenCL) stay as it left them: handles are the tool's
// own, so that nothing needs translating. A tool is expected to give every instance the same
// functions.
//
// Extensions of NVTX come in through extension.cc.

#include <errno.h>

#include "inject/chained_tool.h"
#include "inject/entry.h"
#include "inject/hook_list.h"
#include "inject/nvtx/abi.h"
#include "inject/nvtx/callbacks.h"
#include "inject/ranges/ranges.h"
#include "inject/state.h"

namespace gpuprof::inject::nvtx {
namespace {

using Initialize = int (*)(GetExportTable);

// The slots of one instance, by module; what is not there is null.
struct Instance {
  Function** table[kModules];
  unsigned size[kModules];
  Function before[kModules][kMostIds];

  Function* Slot(int module, unsigned id) const {
    return id < size[module] ? table[module][id] : nullptr;
  }
};

bool FindSlots(GetExportTable get_table, Instance* instance) {
  const auto* callbacks = static_cast<const CallbacksTable*>(get_table(kCallbacksTable));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(CallbacksTable)) return false;
  for (int module = kCore; module < kModules; ++module) {
    unsigned size = 0;
    Function** table = nullptr;
    const bool is_there =
        callbacks->get_module_function_table(module, &table, &size) != 0 && table != nullptr;
    instance->table[module] = table;
    instance->size[module] = !is_there ? 0 : size < kMostIds ? size : kMostIds;
    for (unsigned id = 1; id < kMostIds; ++id) {
      const Function* slot = instance->Slot(module, id);
      instance->before[module][id] = slot != nullptr ? *slot : nullptr;
    }
  }
  return true;
}

// Whether the tool there was before us has attached. One that failed leaves nothing behind.
bool AttachTool(GetExportTable get_table, const Instance& instance) {
  const auto initialize = reinterpret_cast<Initialize>(
      ChainedEntry(proto::kEnvChainedNvtx, "NVTX_INJECTION64_PATH", "InitializeInjectionNvtx2"));
  if (initialize == nullptr) return false;
  if (initialize(get_table) != 0) return true;
  for (int module = kCore; module < kModules; ++module) {
    for (unsigned id = 1; id < kMostIds; ++id) {
      Function* slot = instance.Slot(module, id);
      if (slot != nullptr) *slot = instance.before[module][id];
    }
  }
  return false;
}

void TakeSlot(void* context, int module, unsigned id, Function ours) {
  const auto& instance = *static_cast<const Instance*>(context);
  Function* slot = instance.Slot(module, id);
  if (slot == nullptr) return;
  if (*slot != instance.before[module][id]) SetChained(module, id, *slot);
  *slot = ours;
}

bool Attach(GetExportTable get_table) {
  Instance instance = {};
  if (get_table == nullptr || !FindSlots(get_table, &instance)) return false;
  const bool has_tool = AttachTool(get_table, instance);
  if (!IsRecorded() || !ranges::PrepareRanges()) return has_tool;
  if (has_tool) SetTool();
  ForEachCallback(TakeSlot, &instance);
  return true;
}

}  // namespace
}  // namespace gpuprof::inject::nvtx

extern "C" GPUPROF_EXPORT int InitializeInjectionNvtx2(
    gpuprof::inject::nvtx::GetExportTable get_table) {
  const int saved = errno;
  gpuprof::inject::EnsureEntered();
  const bool attached = gpuprof::inject::nvtx::Attach(get_table);
  errno = saved;
  return attached ? 1 : 0;
}
