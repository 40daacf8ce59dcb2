// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/module.h"

#include <cstring>
#include <functional>
#include <set>

#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu {
namespace {

struct State {
  std::mutex mutex;
  std::set<std::string> names;
  uint32_t last_module = 0;
};

State& TheState() {
  static State* const state = new State;
  return *state;
}

template <typename T>
T Load(const char* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

struct Image {
  const char* data = nullptr;
  size_t size = 0;
};

// In a fat binary: a header, then entries of (kind, header size, payload size). The first device
// code that is not compressed, or the whole.
Image FindCode(const char* fat) {
  const size_t header = Load<uint16_t>(fat + 6);
  const Image whole{fat, header + Load<uint64_t>(fat + 8)};
  for (size_t at = header; at + 16 < whole.size;) {
    const size_t entry_header = Load<uint32_t>(fat + at + 4);
    const size_t payload = Load<uint64_t>(fat + at + 8);
    if (entry_header == 0 || payload > whole.size) break;
    const char* code = fat + at + entry_header;
    if (memcmp(code, "\177ELF", 4) == 0) return {code, payload};
    at += entry_header + payload;
  }
  return whole;
}

constexpr uint32_t kWrapper = 0x466243b1;
constexpr uint32_t kFatBinary = 0xba55ed50;

Image ImageOf(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (bytes == nullptr) return {};
  if (Load<uint32_t>(bytes) == kWrapper) bytes = Load<const char*>(bytes + 8);
  if (Load<uint32_t>(bytes) == kFatBinary) return FindCode(bytes);
  // An ELF file's section table is its end; anything else is text.
  if (memcmp(bytes, "\177ELF", 4) == 0) {
    return {bytes, Load<uint64_t>(bytes + 40) +
                       uint64_t{Load<uint16_t>(bytes + 58)} * Load<uint16_t>(bytes + 60)};
  }
  return {bytes, strlen(bytes)};
}

}  // namespace

const char* Intern(const char* name) {
  const std::lock_guard lock(TheState().mutex);
  return TheState().names.insert(name).first->c_str();
}

CUmodule LoadModule(const void* image, CUcontext context) {
  auto* module = new CUmod_st;
  const Image code = ImageOf(image);
  module->image = code.data;
  module->image_size = code.size;
  {
    const std::lock_guard lock(TheState().mutex);
    module->id = ++TheState().last_module;
  }
  TruthLine("{\"t\":\"module\",\"id\":%u,\"bytes\":%zu}", module->id, module->image_size);
  TellSink({.event = ObjectEvent::kModuleLoaded, .context = context, .module = module});
  return module;
}

void UnloadModule(CUmodule module, CUcontext context) {
  TellSink({.event = ObjectEvent::kModuleUnloadStarting, .context = context, .module = module});
}

CUfunction FunctionOf(CUmodule module, const char* name) {
  const char* interned = Intern(name);
  const std::lock_guard lock(TheState().mutex);
  CUfunction& function = module->functions[name];
  if (function == nullptr) {
    auto* kernel = new CUkern_st;
    function = &kernel->function;
    function->name = interned;
    function->module = module;
    function->duration = KernelDuration(name);
    const int scripted = TheScript().registers;
    const auto hash = std::hash<std::string>()(name);
    function->registers = scripted != 0 ? scripted : 16 + static_cast<int>(hash % 32) * 2;
  }
  return function;
}

}  // namespace fake_gpu
