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

constexpr char kCupti[] = "libcupti.so";

struct Object {
  const ElfW(Dyn) * dynamic = nullptr;
  uint64_t bias = 0;
  const char* path = "";
};

struct Search {
  const char* wanted;  // how the library's file name begins
  uint64_t caller;
  Object object;  // that the caller lies in
  static constexpr uint32_t kMost = 4;
  Object libraries[kMost];
  uint32_t count = 0;
};

bool IsWanted(const char* path, const char* wanted) {
  const char* name = BaseName(path);
  for (uint32_t i = 0; wanted[i] != 0; ++i)
    if (name[i] != wanted[i]) return false;
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
  if (IsWanted(object.path, search->wanted) && search->count < Search::kMost)
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

CuptiFunction Find(const char* wanted, const char* name, const void* caller, bool nested) {
  Search search;
  search.wanted = wanted;
  search.caller = reinterpret_cast<uint64_t>(caller);
  dl_iterate_phdr(Look, &search);
  CuptiFunction found;
  if (!nested && search.object.dynamic != nullptr && !IsOurs(search.object)) {
    found.function = FindSymbolIn(search.object.dynamic, search.object.bias, name);
    if (found.function != nullptr) {
      if (IsWanted(search.object.path, wanted)) found.library = search.object.bias;
      return found;
    }
  }
  const Object* library = LibraryOf(search);
  if (library == nullptr) return found;
  found.function = FindSymbolIn(library->dynamic, library->bias, name);
  found.library = library->bias;
  return found;
}

// What the loader would have found, had it not been for our object.
struct Anywhere {
  const char* name;
  CuptiFunction found;
};

int LookAnywhere(dl_phdr_info* info, size_t, void* to) {
  auto* anywhere = static_cast<Anywhere*>(to);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    Object object;
    object.bias = info->dlpi_addr;
    object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.bias + info->dlpi_phdr[i].p_vaddr);
    if (IsOurs(object)) return 0;
    anywhere->found.function = FindSymbolIn(object.dynamic, object.bias, anywhere->name);
  }
  return anywhere->found.function != nullptr ? 1 : 0;
}

CuptiFunction FindAnywhere(const char* name) {
  Anywhere anywhere = {name, {}};
  dl_iterate_phdr(LookAnywhere, &anywhere);
  return anywhere.found;
}

CuptiFunction FindIn(const char* library, const char* name, const void* caller) {
  const CuptiFunction found = Find(library, name, caller, /*nested=*/false);
  return found.function == nullptr && library != kCupti ? FindAnywhere(name) : found;
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
  return FindFunctionOf(kCupti, name, caller, nested);
}

CuptiFunction FindFunctionOf(const char* library, const char* name, const void* caller,
                             bool nested) noexcept {
  if (nested) return Find(library, name, caller, nested);
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
    entry.found = FindIn(library, name, caller);
    entry.state.store(2, std::memory_order_release);
    return entry.found;
  }
  return FindIn(library, name, caller);
}

void CopyObjectName(const void* address, char* name, uint32_t room) noexcept {
  Search search;
  search.wanted = kCupti;
  search.caller = reinterpret_cast<uint64_t>(address);
  dl_iterate_phdr(Look, &search);
  Text(name, room).Add(BaseName(search.object.path));
}

void ForgetCuptiFunctions() noexcept { g_generation.fetch_add(1, std::memory_order_acq_rel); }

}  // namespace gpuprof::inject
