// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/itt/handles.h"
#include "inject/own_room.h"

#include <sys/mman.h>

#include <atomic>

#include "inject/raw_syscall.h"

namespace gpuprof::inject::itt {
namespace {

using ranges::Text;

// By the text's id. Pages that nobody uses are never touched.
struct Handles {
  Domain domain[proto::kMostNames];
  StringHandle string[proto::kMostNames];
};
std::atomic<Handles*> g_handles{nullptr};

constinit Domain g_no_domain = {1, "", nullptr, 0, nullptr, nullptr};
constinit StringHandle g_no_string = {"", nullptr, 0, nullptr, nullptr};

uint32_t IndexOf(const Text* text) { return text->id - proto::kFirstRangeName; }

// Null also for the few names that threads may add at once beyond the most.
Text* InternName(const char* name) {
  Text* text = ranges::Intern(ranges::Ascii(name));
  return text != nullptr && IndexOf(text) < proto::kMostNames ? text : nullptr;
}

// Several threads may fill in the same one: with the same.
template <typename Handle>
Handle* Fill(Handle* handle, Text* text) {
  if (__atomic_load_n(&handle->extra2, __ATOMIC_ACQUIRE) == nullptr)
    __atomic_store_n(&handle->extra2, static_cast<void*>(text), __ATOMIC_RELEASE);
  return handle;
}

// `name`: of one that is not ours, and not bound yet.
template <typename Handle>
Text* Bound(Handle* handle, const char* name) {
  if (void* text = __atomic_load_n(&handle->extra2, __ATOMIC_ACQUIRE); text != nullptr)
    return static_cast<Text*>(text);
  Text* text = InternName(name);
  if (text != nullptr) Fill(handle, text);
  return text;
}

}  // namespace

bool PrepareHandles() noexcept {
  if (g_handles.load(std::memory_order_acquire) != nullptr) return true;
  void* mapped = MapPages(sizeof(Handles), MAP_NORESERVE);
  if (mapped == nullptr) return false;
  Handles* none = nullptr;
  if (!g_handles.compare_exchange_strong(none, static_cast<Handles*>(mapped)))
    UnmapPages(mapped, sizeof(Handles));
  return true;
}

Domain* DomainOf(const char* name) noexcept {
  Text* text = InternName(name);
  if (text == nullptr) return &g_no_domain;
  Domain* domain = &g_handles.load(std::memory_order_acquire)->domain[IndexOf(text)];
  __atomic_store_n(&domain->name, &text->chars[0], __ATOMIC_RELAXED);
  // The program may have turned it off since.
  if (__atomic_load_n(&domain->extra2, __ATOMIC_ACQUIRE) == nullptr)
    __atomic_store_n(&domain->flags, 1, __ATOMIC_RELAXED);
  return Fill(domain, text);
}

StringHandle* StringOf(const char* text) noexcept {
  Text* interned = InternName(text);
  if (interned == nullptr) return &g_no_string;
  StringHandle* string = &g_handles.load(std::memory_order_acquire)->string[IndexOf(interned)];
  __atomic_store_n(&string->text, &interned->chars[0], __ATOMIC_RELAXED);
  return Fill(string, interned);
}

Text* TextOf(Domain* domain) noexcept {
  return domain == nullptr ? nullptr : Bound(domain, domain->name);
}

Text* TextOf(StringHandle* string) noexcept {
  return string == nullptr ? nullptr : Bound(string, string->text);
}

int EventOf(Text* text) noexcept {
  if (text == nullptr || IndexOf(text) >= proto::kMostNames) return 0;
  const uint32_t index = IndexOf(text);
  Fill(&g_handles.load(std::memory_order_acquire)->string[index], text);
  return static_cast<int>(index) + 1;
}

Text* TextOfEvent(int event) noexcept {
  if (event <= 0 || static_cast<uint32_t>(event) > proto::kMostNames) return nullptr;
  const StringHandle& string = g_handles.load(std::memory_order_acquire)->string[event - 1];
  return static_cast<Text*>(__atomic_load_n(&string.extra2, __ATOMIC_ACQUIRE));
}

}  // namespace gpuprof::inject::itt
