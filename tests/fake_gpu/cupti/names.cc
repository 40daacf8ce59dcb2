// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/cupti/names.h"

namespace fake_gpu_cupti {
namespace {

struct Name {
  uint32_t id;
  const char* text;
};

constexpr Name kDriver[] = {
#include <driver_names.inc>
};
constexpr Name kRuntime[] = {
#include <runtime_names.inc>
};
constexpr Name kResults[] = {
#include <result_names.inc>
};

template <typename Names>
const char* Find(const Names& names, uint32_t id) {
  for (const Name& name : names) {
    if (name.id == id) return name.text;
  }
  return nullptr;
}

}  // namespace

const char* CallbackName(uint32_t domain, uint32_t id) {
  if (domain == 1) return Find(kDriver, id);
  return domain == 2 ? Find(kRuntime, id) : nullptr;
}

const char* ResultName(uint32_t result) { return Find(kResults, result); }

}  // namespace fake_gpu_cupti
