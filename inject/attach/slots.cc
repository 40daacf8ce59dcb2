// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/attach/slots.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "inject/elf_symbol.h"
#include "inject/memory_map.h"
#include "inject/own_room.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/text.h"
#include "proto/contract.h"
#include "proto/ring.h"

namespace gpuprof::inject {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kGlobData = R_X86_64_GLOB_DAT;
constexpr uint32_t kPointer = R_X86_64_64;
#elif defined(__aarch64__)
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kGlobData = R_AARCH64_GLOB_DAT;
constexpr uint32_t kPointer = R_AARCH64_ABS64;
#endif

struct Slot {
  uintptr_t address;
  uintptr_t before;  // what it held, and will hold again
  uintptr_t hook;
};

// Memory straight from the kernel: it grows by moving.
struct SlotList {
  Slot* slots = nullptr;
  uint32_t count = 0;
  uint32_t room = 0;

  bool Add(const Slot& slot) {
    if (count == room && !Grow()) return false;
    slots[count++] = slot;
    return true;
  }

 private:
  bool Grow() {
    const uint32_t more = room == 0 ? 4096 : room * 2;
    const long bytes = static_cast<long>(more * sizeof(Slot));
    const long address =
        room == 0 ? raw::Call(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                  : raw::Call(SYS_mremap, raw::Arg(slots), static_cast<long>(room * sizeof(Slot)),
                              bytes, MREMAP_MAYMOVE);
    if (raw::IsError(address)) return false;
    NoteMapped(static_cast<int64_t>((more - room) * sizeof(Slot)), false);
    slots = reinterpret_cast<Slot*>(address);
    room = more;
    return true;
  }
};

constinit SlotList g_taken;
constinit SlotCounts g_counts;
unsigned long long g_loads = 0, g_unloads = 0;

struct Object {
  uintptr_t bias = 0;
  const ElfW(Phdr) * parts = nullptr;
  int part_count = 0;
  const char* name = "";

  const ElfW(Dyn) * dynamic = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * relocations = nullptr;
  size_t relocation_count = 0;
  size_t relative_count = 0;
  const ElfW(Rela) * calls = nullptr;
  size_t call_count = 0;
  uintptr_t sealed = 0, sealed_end = 0;  // what the loader makes read-only after relocation

  bool Has(uintptr_t address) const {
    for (int i = 0; i < part_count; ++i)
      if (parts[i].p_type == PT_LOAD && address - (bias + parts[i].p_vaddr) < parts[i].p_memsz)
        return true;
    return false;
  }
};

bool ReadObject(const dl_phdr_info* info, Object* object) {
  object->bias = info->dlpi_addr;
  object->parts = info->dlpi_phdr;
  object->part_count = info->dlpi_phnum;
  if (info->dlpi_name != nullptr) object->name = info->dlpi_name;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type == PT_DYNAMIC)
      object->dynamic = reinterpret_cast<const ElfW(Dyn)*>(object->bias + part.p_vaddr);
    if (part.p_type == PT_GNU_RELRO) {
      // The loader seals whole pages: it rounds both ends down.
      object->sealed = (object->bias + part.p_vaddr) & ~(proto::kPageBytes - 1);
      object->sealed_end = (object->bias + part.p_vaddr + part.p_memsz) & ~(proto::kPageBytes - 1);
    }
  }
  if (object->dynamic == nullptr) return false;
  const auto absolute = [&](uintptr_t value) {
    return value < object->bias ? object->bias + value : value;
  };
  for (const ElfW(Dyn)* entry = object->dynamic; entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB)
      object->symbols = reinterpret_cast<const ElfW(Sym)*>(absolute(value));
    if (entry->d_tag == DT_STRTAB) object->strings = reinterpret_cast<const char*>(absolute(value));
    if (entry->d_tag == DT_RELA)
      object->relocations = reinterpret_cast<const ElfW(Rela)*>(absolute(value));
    if (entry->d_tag == DT_RELASZ) object->relocation_count = value / sizeof(ElfW(Rela));
    if (entry->d_tag == DT_RELACOUNT) object->relative_count = value;
    if (entry->d_tag == DT_JMPREL)
      object->calls = reinterpret_cast<const ElfW(Rela)*>(absolute(value));
    if (entry->d_tag == DT_PLTRELSZ) object->call_count = value / sizeof(ElfW(Rela));
  }
  return object->symbols != nullptr && object->strings != nullptr;
}

// The loader's own calls, the kernel's object and gpuprof's objects stay as they are.
bool IsLeftAlone(const Object& object) {
  return object.dynamic == _DYNAMIC || object.bias == getauxval(AT_BASE) ||
         object.Has(getauxval(AT_SYSINFO_EHDR)) ||
         Equal(BaseName(object.name), proto::kTracerObject);
}

// Most of a large library's names are C++ names, and few of those are hooked.
bool MayBeHooked(const char* name) {
  return name[0] != '_' || name[1] != 'Z' || __builtin_strncmp(name, "_ZN3c10", 7) == 0 ||
         __builtin_strncmp(name, "_ZN3tsl8profiler15TraceMeRecorder", 33) == 0;
}

// Called by other libraries' code on its own terms, never interposed.
bool IsEntry(const char* name) {
  return __builtin_strncmp(name, "gpuprof_", 8) == 0 ||
         __builtin_strncmp(name, "InitializeInjection", 19) == 0 || Equal(name, "__itt_api_init") ||
         Equal(name, "__libc_start_main");
}

// The function that the slot has to hold now, if calls of `name` are to be gpuprof's.
void* FunctionOf(const char* name) {
  if (void* real_function = RealFunction(name)) return real_function;
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (object->l_ld == _DYNAMIC) continue;
    if (void* function = FindSymbolIn(object->l_ld, object->l_addr, name)) return function;
  }
  return nullptr;
}

// A slot of a call that was not made yet leads to the object's own code, which asks the loader.
bool IsUnbound(const Object& object, uint32_t kind, uintptr_t value, const char* name) {
  return kind == kJumpSlot && object.Has(value) &&
         FindSymbolIn(object.dynamic, object.bias, name) == nullptr;
}

// The parts of the address space, read at the first object of a walk and valid until its end: the
// loader's lock keeps others from loading.
struct Walk {
  bool gives_back = false;
  SlotCounts counts;
  MemoryMap map;
};

// Makes what the loader has sealed writable while it lives. A part that is not sealed yet is the
// loader's to write at this moment.
class Unsealed {
 public:
  Unsealed(const Object& object, const MemoryMap& map) : object_(object) {
    is_sealed_ = object.sealed_end > object.sealed && !map.IsWritable(object.sealed);
  }
  ~Unsealed() {
    if (is_open_) Protect(PROT_READ);
  }
  Unsealed(const Unsealed&) = delete;
  Unsealed& operator=(const Unsealed&) = delete;

  // Returns whether the slot can be written now.
  bool Open(uintptr_t slot, const MemoryMap& map) {
    const bool is_inside = slot >= object_.sealed && slot < object_.sealed_end;
    if (!is_inside) return map.IsWritable(slot);
    if (!is_sealed_) return false;
    if (!is_open_) is_open_ = Protect(PROT_READ | PROT_WRITE);
    return is_open_;
  }

 private:
  bool Protect(int how) const {
    return raw::Call(SYS_mprotect, static_cast<long>(object_.sealed),
                     static_cast<long>(object_.sealed_end - object_.sealed), how) == 0;
  }

  const Object& object_;
  bool is_sealed_ = false;
  bool is_open_ = false;
};

void TakeOne(const Object& object, const ElfW(Rela) & relocation, Unsealed* unsealed, Walk* walk) {
  const auto kind = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
  const auto index = static_cast<uint32_t>(ELF64_R_SYM(relocation.r_info));
  const bool is_known =
      kind == kJumpSlot || kind == kGlobData || (kind == kPointer && relocation.r_addend == 0);
  if (index == 0 || !is_known) return;
  const char* name = object.strings + object.symbols[index].st_name;
  if (!MayBeHooked(name)) return;
  const void* hook = FindSymbolIn(_DYNAMIC, OwnBias(), name);
  if (hook == nullptr || IsEntry(name)) return;
  const Slot slot = {object.bias + relocation.r_offset, 0, reinterpret_cast<uintptr_t>(hook)};
  auto* place = reinterpret_cast<uintptr_t*>(slot.address);
  uintptr_t value = __atomic_load_n(place, __ATOMIC_RELAXED);
  if (value == slot.hook) return void(++walk->counts.taken);
  const void* function = FunctionOf(name);
  if (function == nullptr) return;
  if (value != reinterpret_cast<uintptr_t>(function) && !IsUnbound(object, kind, value, name)) {
    // Not bound at all: a weak reference to what was not there.
    if (value != 0) ++walk->counts.left;
    return;
  }
  if (!unsealed->Open(slot.address, walk->map)) return;
  // First the note, so that no slot is ever without one.
  if (!g_taken.Add({slot.address, value, slot.hook})) return;
  if (__atomic_compare_exchange_n(place, &value, slot.hook, false, __ATOMIC_RELEASE,
                                  __ATOMIC_RELAXED)) {
    ++walk->counts.taken;
  } else {
    --g_taken.count;  // bound this moment; the next walk finds it
  }
}

void TakeOf(const Object& object, Walk* walk) {
  Unsealed unsealed(object, walk->map);
  for (size_t i = object.relative_count; i < object.relocation_count; ++i)
    TakeOne(object, object.relocations[i], &unsealed, walk);
  for (size_t i = 0; i < object.call_count; ++i) TakeOne(object, object.calls[i], &unsealed, walk);
}

void GiveBackTo(const Object& object, const MemoryMap& map) {
  Unsealed unsealed(object, map);
  for (uint32_t i = 0; i < g_taken.count; ++i) {
    const Slot& slot = g_taken.slots[i];
    if (!object.Has(slot.address)) continue;
    auto* place = reinterpret_cast<uintptr_t*>(slot.address);
    uintptr_t hook = slot.hook;
    if (__atomic_load_n(place, __ATOMIC_RELAXED) != hook || !unsealed.Open(slot.address, map))
      continue;
    __atomic_compare_exchange_n(place, &hook, slot.before, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
  }
}

int Look(dl_phdr_info* info, size_t, void* to) {
  auto* walk = static_cast<Walk*>(to);
  if (walk->map.is_empty() && !walk->map.Read()) return 1;
  g_loads = info->dlpi_adds;
  g_unloads = info->dlpi_subs;
  Object object;
  if (!ReadObject(info, &object) || IsLeftAlone(object)) return 0;
  ++walk->counts.objects;
  walk->gives_back ? GiveBackTo(object, walk->map) : TakeOf(object, walk);
  return 0;
}

int Count(dl_phdr_info* info, size_t, void* to) {
  *static_cast<bool*>(to) = info->dlpi_adds != g_loads || info->dlpi_subs != g_unloads;
  return 1;
}

}  // namespace

SlotCounts TakeSlots() noexcept {
  Walk walk;
  dl_iterate_phdr(Look, &walk);
  return g_counts = walk.counts;
}

bool ObjectsChanged() noexcept {
  bool has_changed = false;
  dl_iterate_phdr(Count, &has_changed);
  return has_changed;
}

void GiveSlotsBack() noexcept {
  Walk walk;
  walk.gives_back = true;
  dl_iterate_phdr(Look, &walk);
  g_taken.count = 0;
}

}  // namespace gpuprof::inject
