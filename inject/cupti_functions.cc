// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cupti_functions.h.

#include "inject/cupti_functions.h"

#include <link.h>

#include <atomic>

#include "inject/elf_symbol.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

constexpr char kBeginning[] = "libcupti.so";

struct Object {
  const ElfW(Dyn) * dynamic = nullptr;
  uint64_t bias = 0;
  const char* path = "";
};

struct Search {
  uint64_t caller;
  Object object;  // that the caller lies in
  static constexpr uint32_t kMost = 4;
  Object libraries[kMost];
  uint32_t count = 0;
};

bool IsCupti(const char* path) {
  const char* name = BaseName(path);
  for (uint32_t i = 0; kBeginning[i] != 0; ++i)
    if (name[i] != kBeginning[i]) return false;
  return true;
}

// The loader holds a lock here that it does not hold while it runs constructors.
int Look(dl_phdr_info* info, size_t, void* to) {
  auto* search = static_cast<Search*>(to);
  Object object;
  object.bias = info->dlpi_addr;
  object.path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  bool is_callers = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type == PT_DYNAMIC)
      object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.bias + part.p_vaddr);
    is_callers |=
        part.p_type == PT_LOAD && search->caller - (object.bias + part.p_vaddr) < part.p_memsz;
  }
  if (object.dynamic == nullptr) return 0;
  if (is_callers) search->object = object;
  if (IsCupti(object.path) && search->count < Search::kMost)
    search->libraries[search->count++] = object;
  return 0;
}

const char* StringsOf(const Object& object) {
  for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_STRTAB) continue;
    const uint64_t at = entry->d_un.d_ptr;
    return reinterpret_cast<const char*>(at < object.bias ? at + object.bias : at);
  }
  return nullptr;
}

// The soname is what the library was looked for by, and so most often its file's name.
bool Needs(const Object& object, const Object& library) {
  const char* strings = object.dynamic != nullptr ? StringsOf(object) : nullptr;
  if (strings == nullptr) return false;
  for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && Equal(BaseName(library.path), strings + entry->d_un.d_val))
      return true;
  }
  return false;
}

const Object* LibraryOf(const Search& search) {
  for (uint32_t i = 0; i < search.count; ++i)
    if (Needs(search.object, search.libraries[i])) return &search.libraries[i];
  return search.count != 0 ? &search.libraries[0] : nullptr;
}

bool IsOurs(const Object& object) { return object.dynamic == _DYNAMIC; }

CuptiFunction Find(const char* name, const void* caller, bool nested) {
  Search search;
  search.caller = reinterpret_cast<uint64_t>(caller);
  dl_iterate_phdr(Look, &search);
  CuptiFunction found;
  if (!nested && search.object.dynamic != nullptr && !IsOurs(search.object)) {
    found.function = FindSymbolIn(search.object.dynamic, search.object.bias, name);
    if (found.function != nullptr) {
      if (IsCupti(search.object.path)) found.library = search.object.bias;
      return found;
    }
  }
  const Object* library = LibraryOf(search);
  if (library == nullptr) return found;
  found.function = FindSymbolIn(library->dynamic, library->bias, name);
  found.library = library->bias;
  return found;
}

// One for each place that calls, and function: a wrapper that ends with its call (`jmp`) shares the
// place of its own caller with others. Written once: a place that is looked up again after
// something was unloaded has another entry. `state` 1: being written.
struct Entry {
  std::atomic<uint32_t> state;
  uint32_t generation;
  const char* name;
  const void* caller;
  CuptiFunction found;
};
constexpr uint32_t kEntries = 128;
Entry g_entries[kEntries];
std::atomic<uint32_t> g_generation{0};

}  // namespace

CuptiFunction FindCuptiFunction(const char* name, const void* caller, bool nested) noexcept {
  if (nested) return Find(name, caller, nested);
  const uint32_t generation = g_generation.load(std::memory_order_acquire);
  for (Entry& entry : g_entries) {
    uint32_t state = entry.state.load(std::memory_order_acquire);
    if (state == 2 && entry.generation == generation && entry.caller == caller &&
        Equal(entry.name, name))
      return entry.found;
    if (state != 0 || !entry.state.compare_exchange_strong(state, 1)) continue;
    entry.generation = generation;
    entry.name = name;
    entry.caller = caller;
    entry.found = Find(name, caller, nested);
    entry.state.store(2, std::memory_order_release);
    return entry.found;
  }
  return Find(name, caller, nested);
}

void CopyObjectName(const void* address, char* name, uint32_t room) noexcept {
  Search search;
  search.caller = reinterpret_cast<uint64_t>(address);
  dl_iterate_phdr(Look, &search);
  Text(name, room).Add(BaseName(search.object.path));
}

void ForgetCuptiFunctions() noexcept { g_generation.fetch_add(1, std::memory_order_acq_rel); }

}  // namespace gpuprof::inject
