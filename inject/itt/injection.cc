// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// __itt_api_init: what each library of the program that has ITT in it calls at its first ITT call,
// in the object that INTEL_LIBITTNOTIFY64 names, under a lock of its own. Every slot gets our
// function or the null function, so that a call that we have no use for costs what it costs without
// a collector.
//
// A collector that the variable named before us (VTune's) keeps it: `gpuprof run` does not set the
// variable then, as two collectors cannot share handles.

#include <errno.h>
#include <string.h>

#include "inject/entry.h"
#include "inject/hook_list.h"
#include "inject/itt/abi.h"
#include "inject/itt/callbacks.h"
#include "inject/itt/handles.h"
#include "inject/ranges/ranges.h"
#include "inject/state.h"

namespace gpuprof::inject::itt {
namespace {

void Attach(Global* global) {
  const bool is_known = global != nullptr && global->version_major == kVersion &&
                        global->version_build >= kFirstBuild &&
                        memcmp(global->magic, kMagic, sizeof(kMagic)) == 0;
  if (!is_known || global->api_list == nullptr) return;
  const bool is_recorded =
      g_settings.bundle[0] != 0 && (g_settings.sources & proto::kSourceItt) != 0;
  const bool is_ready = is_recorded && ranges::PrepareRanges() && PrepareHandles();
  for (const ApiInfo* info = global->api_list; info->name != nullptr; ++info) {
    void* ours = is_ready ? CallbackOf(info->name) : nullptr;
    *info->slot = ours != nullptr ? ours : info->null_function;
  }
}

}  // namespace
}  // namespace gpuprof::inject::itt

extern "C" GPUPROF_EXPORT void __itt_api_init(gpuprof::inject::itt::Global* global, int) {
  const int saved = errno;
  gpuprof::inject::EnsureEntered();
  gpuprof::inject::itt::Attach(global);
  errno = saved;
}
