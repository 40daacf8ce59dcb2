// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/inductor/generated_modules.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "proto/ring.h"
#include "tracer/base/map_table.h"

namespace gpuprof::tracer::inductor {
namespace {

constexpr uint64_t kMostBytes = 16u << 20;

struct Head {
  uint32_t line, bytes;
};

}  // namespace

GeneratedModule* GeneratedModule::Make(std::string_view path, uint64_t lines,
                                       uint64_t text_bytes) noexcept {
  constexpr uint64_t kPage = proto::kPageBytes;
  if (path.size() > kMostBytes || lines > kMostBytes || text_bytes > kMostBytes) return nullptr;
  const uint64_t room = path.size() + lines * sizeof(Head) + text_bytes;
  if (room > kMostBytes) return nullptr;
  const uint64_t mapped = (sizeof(GeneratedModule) + room + kPage - 1) / kPage * kPage;
  NoteMapped(static_cast<int64_t>(mapped));
  void* pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    NoteMapped(-static_cast<int64_t>(mapped));
    return nullptr;
  }
  auto* module = new (pages) GeneratedModule;
  module->mapped_ = mapped;
  module->room_ = room;
  module->path_bytes_ = static_cast<uint32_t>(path.size());
  module->used_ = path.size();
  memcpy(module->bytes(), path.data(), path.size());
  return module;
}

void GeneratedModule::Release(GeneratedModule* module) noexcept {
  const uint64_t mapped = module->mapped_;
  munmap(module, mapped);
  NoteMapped(-static_cast<int64_t>(mapped));
}

void GeneratedModule::Add(uint32_t line, std::string_view stack) noexcept {
  if (stack.size() > room_ || used_ + sizeof(Head) + stack.size() > room_) return;
  const Head head = {line, static_cast<uint32_t>(stack.size())};
  memcpy(bytes() + used_, &head, sizeof head);
  if (!stack.empty()) memcpy(bytes() + used_ + sizeof head, stack.data(), stack.size());
  used_ += sizeof head + stack.size();
}

bool GeneratedModule::Next(uint64_t* at, uint32_t* line, std::string_view* stack) const noexcept {
  if (*at == 0) *at = path_bytes_;
  if (*at + sizeof(Head) > used_) return false;
  Head head;
  memcpy(&head, bytes() + *at, sizeof head);
  *line = head.line;
  *stack = {bytes() + *at + sizeof head, head.bytes};
  *at += sizeof head + head.bytes;
  return true;
}

void GeneratedModules::HandOver(GeneratedModule* module) noexcept {
  module->next = waiting_.load(std::memory_order_relaxed);
  while (!waiting_.compare_exchange_weak(module->next, module, std::memory_order_release)) {}
}

void GeneratedModules::AfterForkChild() noexcept {
  for (GeneratedModule* module = Take(); module != nullptr;) {
    GeneratedModule* const next = module->next;
    GeneratedModule::Release(module);
    module = next;
  }
}

GeneratedModules& WaitingModules() {
  static constinit GeneratedModules modules;
  return modules;
}

}  // namespace gpuprof::tracer::inductor
