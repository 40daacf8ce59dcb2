// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/chained_tool.h"

#include <dlfcn.h>

#include <atomic>

#include "inject/raw_log.h"
#include "inject/settings.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

std::atomic<const char*> g_said[2];

bool IsSaid(const char* original) {
  for (std::atomic<const char*>& said : g_said) {
    const char* none = nullptr;
    if (said.compare_exchange_strong(none, original)) return false;
    if (none == original) return true;
  }
  return true;
}

}  // namespace

void* ChainedEntry(const char* chained, const char* original, const char* entry) noexcept {
  const char* path = Variable(chained);
  if (path == nullptr || *path == 0) return nullptr;
  void* object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* function = object != nullptr ? dlsym(object, entry) : nullptr;
  if (function != nullptr || IsSaid(original)) return function;
  char line[900];
  Text(line, sizeof(line))
      .Add(original)
      .Add(" named ")
      .Add(path)
      .Add(", which cannot be loaded as a tool; the program runs on without that tool");
  Say(line);
  return nullptr;
}

void* OptionalChainedEntry(const char* chained, const char* entry, bool* has_object) noexcept {
  const char* path = Variable(chained);
  void* object = path != nullptr && *path != 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  *has_object = object != nullptr;
  return object != nullptr ? dlsym(object, entry) : nullptr;
}

}  // namespace gpuprof::inject
