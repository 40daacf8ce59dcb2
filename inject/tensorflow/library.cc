// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/tensorflow/library.h"

#include <elf.h>
#include <link.h>

#include "inject/cupti_functions.h"
#include "inject/elf_symbol.h"
#include "inject/text.h"

namespace gpuprof::inject::tensorflow {
namespace {

constexpr char kFramework[] = "libtensorflow_framework.so";
constexpr char kVersion[] = "TF_Version";
// Looks at a library whose calls lead elsewhere before that is believed: the loader fills the slots
// of an object after the object is in its list.
constexpr uint32_t kMostLooks = 100;

#if defined(__x86_64__)
constexpr uint32_t kJumpSlot = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
constexpr uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT;
#endif

enum class Calls : uint8_t {
  kNone,       // there is no slot for calls of the function
  kElsewhere,  // the slot leads to another function, as yet
  kReachHook,  // it leads to the hook, or will: its first call is still to come
};

struct Object {
  uintptr_t bias = 0;
  const ElfW(Dyn) * dynamic = nullptr;
  uintptr_t begin = 0, end = 0;
};

constinit std::atomic<std::atomic<int32_t>*> g_level{nullptr};
constinit tracer::TensorflowFacts g_facts = {};
char g_framework[32];
char g_refusal[160];
bool g_is_settled = false;
uint32_t g_looks = 0;
unsigned long long g_objects = 0;

bool IsFramework(const char* path) {
  const char* name = BaseName(path);
  for (uint32_t i = 0; kFramework[i] != 0; ++i)
    if (name[i] != kFramework[i]) return false;
  return true;
}

Calls CallsOf(const Object& object, const char* wanted) {
  const ElfW(Sym)* symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela)* calls = nullptr;
  size_t count = 0;
  const auto absolute = [&](uintptr_t value) {
    return value < object.bias ? object.bias + value : value;
  };
  for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(absolute(value));
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(absolute(value));
    if (entry->d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(absolute(value));
    if (entry->d_tag == DT_PLTRELSZ) count = value / sizeof(ElfW(Rela));
  }
  if (symbols == nullptr || strings == nullptr || calls == nullptr) return Calls::kNone;
  const auto hook = reinterpret_cast<uintptr_t>(FindSymbolIn(_DYNAMIC, OwnBias(), wanted));
  const auto own = reinterpret_cast<uintptr_t>(FindSymbolIn(object.dynamic, object.bias, wanted));
  for (size_t i = 0; i < count; ++i) {
    if (ELF64_R_TYPE(calls[i].r_info) != kJumpSlot) continue;
    if (!Equal(strings + symbols[ELF64_R_SYM(calls[i].r_info)].st_name, wanted)) continue;
    const uintptr_t value = __atomic_load_n(
        reinterpret_cast<const uintptr_t*>(object.bias + calls[i].r_offset), __ATOMIC_RELAXED);
    const bool is_unbound = value != own && value >= object.begin && value < object.end;
    return value == hook || is_unbound ? Calls::kReachHook : Calls::kElsewhere;
  }
  return Calls::kNone;
}

struct Look {
  bool has_changed = false;
  bool is_there = false;
  Calls calls = Calls::kNone;
  void* level = nullptr;
  bool has_functions = false;
};

int LookAt(dl_phdr_info* info, size_t, void* to) {
  auto* look = static_cast<Look*>(to);
  const unsigned long long objects = info->dlpi_adds + info->dlpi_subs;
  look->has_changed = look->has_changed || objects != g_objects;
  if (!look->has_changed) return 1;
  g_objects = objects;
  if (info->dlpi_name == nullptr || !IsFramework(info->dlpi_name)) return 0;
  Object object;
  object.bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const uintptr_t address = object.bias + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC) object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(address);
    if (part.p_type != PT_LOAD) continue;
    if (object.begin == 0 || address < object.begin) object.begin = address;
    if (address + part.p_memsz > object.end) object.end = address + part.p_memsz;
  }
  if (object.dynamic == nullptr) return 0;
  const auto find = [&](const char* name) {
    return FindSymbolIn(object.dynamic, object.bias, name);
  };
  look->is_there = true;
  look->level = find(kLevel);
  look->has_functions = find(kRecord) != nullptr && find(kStop) != nullptr &&
                        (find(kStart) != nullptr || find(kStartFiltered) != nullptr);
  look->calls = CallsOf(object, kRecord);
  return 1;
}

// "TensorFlow 2.21", or "TensorFlow" if the library does not say.
void NameFramework() {
  using VersionFunction = const char* (*)();
  Text name(g_framework, sizeof(g_framework));
  name.Add("TensorFlow");
  const auto version = reinterpret_cast<VersionFunction>(Own(kVersion));
  const char* text = version != nullptr ? version() : nullptr;
  if (text == nullptr || *text < '0' || *text > '9') return;
  size_t bytes = 0;
  for (int dots = 0; text[bytes] != 0 && bytes < 12; ++bytes)
    if (text[bytes] == '.' && ++dots == 2) break;
  name.Add(" ").Add(text, bytes);
}

bool Refuse(const char* why) {
  g_is_settled = true;
  Text(g_refusal, sizeof(g_refusal))
      .Add(g_framework)
      .Add(": its marks cannot be recorded: ")
      .Add(why);
  g_facts.refusal.store(g_refusal, std::memory_order_release);
  return false;
}

}  // namespace

void* Own(const char* name) noexcept {
  // As if from a nested call, so that no definition of a caller counts.
  return FindFunctionOf(kFramework, name, nullptr, /*nested=*/false).function;
}

bool LookForLibrary() noexcept {
  if (g_is_settled) return Level() != nullptr;
  Look look;
  // A library that is not bound yet is looked at again, although no object came.
  look.has_changed = g_looks != 0;
  dl_iterate_phdr(LookAt, &look);
  if (!look.is_there) return false;
  const bool is_known = look.level != nullptr && look.has_functions;
  if (is_known && look.calls == Calls::kElsewhere && ++g_looks < kMostLooks) return false;
  NameFramework();
  g_facts.framework.store(g_framework, std::memory_order_release);
  if (!is_known) return Refuse("this version does not export its recorder");
  if (look.calls == Calls::kNone) return Refuse("its calls do not leave its library");
  if (look.calls == Calls::kElsewhere) return Refuse("its calls lead to another library");
  g_is_settled = true;
  g_level.store(static_cast<std::atomic<int32_t>*>(look.level), std::memory_order_release);
  return true;
}

std::atomic<int32_t>* Level() noexcept { return g_level.load(std::memory_order_acquire); }

const tracer::TensorflowFacts* Facts() noexcept { return &g_facts; }

}  // namespace gpuprof::inject::tensorflow
