// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/real_symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "inject/bootstrap_arena.h"
#include "inject/elf_symbol.h"
#include "inject/entry.h"
#include "inject/raw_syscall.h"
#include "inject/text.h"
#include "proto/watching_tools.h"

namespace gpuprof::inject {
namespace {

// 0 not yet, 1 under way, 2 done. Resolution happens on the process's first thread, before it can
// have made another.
int g_resolved = 0;
bool g_heap_is_ours = true;
bool g_c11_is_libcs = false;
bool g_is_sanitized = false;

// The program's own, where it is not the hook.
void (*g_programs_free)(void*) = nullptr;
void* (*g_programs_realloc)(void*, size_t) = nullptr;

// Never a dlsym that fails: it would allocate what it has to say by the program's malloc and free
// it in the next dlsym. Where the program's functions look up ours by dlsym first, that has no end.
void* FindFrom(void* handle, const char* name) {
#if defined(__x86_64__)
  // These exist in two layouts; mixing them corrupts condition variables, and old loaders hand out
  // the oldest first.
  if (Equal(name, "pthread_cond_wait") || Equal(name, "pthread_cond_timedwait") ||
      Equal(name, "pthread_cond_signal") || Equal(name, "pthread_cond_broadcast"))
    return dlvsym(handle, name, "GLIBC_2.3.2");
#endif
  return dlsym(handle, name);
}

void* Find(const link_map* behind, const char* name) {
  return MayBeDefinedFrom(behind, name) ? FindFrom(RTLD_NEXT, name) : nullptr;
}

// Names one behind the other, in the order of RealSymbols: a loop over them is a fraction of the
// code of a call each.
#define GPUPROF_NAME(result, name, parameters, arguments) #name "\0"
constexpr char kNames[] = GPUPROF_HOOKS(GPUPROF_NAME) GPUPROF_NEEDED_SYMBOLS(GPUPROF_NAME);
#undef GPUPROF_NAME
#define GPUPROF_COUNT(result, name, parameters, arguments) +sizeof(void*)
constexpr size_t kLockBytes = GPUPROF_LOCK_HOOKS(GPUPROF_COUNT);
#undef GPUPROF_COUNT

// What calls of `name` reach in the program, by the loader's list: what was there first comes
// first.
void* FindInProgram(const char* name) {
  for (link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (object->l_ld == _DYNAMIC || FindSymbolIn(object->l_ld, object->l_addr, name) == nullptr)
      continue;
    if (object == _r_debug.r_map) return FindFrom(object, name);
    // An object that was loaded with the program is no handle until it is asked for.
    void* handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* function = FindFrom(handle, name);
    dlclose(handle);
    return function;
  }
  return nullptr;
}

void FindAllInProgram(RealSymbols* found) {
  char* slot = reinterpret_cast<char*>(found);
  for (const char* name = kNames; *name != 0; ++name) {
    void* symbol = FindInProgram(name);
    __builtin_memcpy(slot, &symbol, sizeof(symbol));
    slot += sizeof(symbol);
    while (*name != 0) ++name;
  }
}

void FindAll(RealSymbols* found) {
  // Of an object that was loaded later (LD_PRELOAD is gone, an injection variable is not) the next
  // definition is one that stands before it in the loader's list.
  const link_map* behind = ObjectBehindOurs();
  if (!MayBeDefinedFrom(behind, "malloc")) behind = _r_debug.r_map;
  char* slot = reinterpret_cast<char*>(found);
  for (const char* name = kNames; *name != 0; ++name) {
    void* symbol = Find(behind, name);
    __builtin_memcpy(slot, &symbol, sizeof(symbol));
    slot += sizeof(symbol);
    // Locks first and at once: an allocator that comes before ours takes them when dlsym needs
    // memory.
    if (slot == reinterpret_cast<char*>(found) + kLockBytes)
      __builtin_memcpy(&real, found, kLockBytes);
    while (*name != 0) ++name;
  }
}

// Where an object's parts lie.
struct ObjectRange {
  uintptr_t begin = 0, end = 0;
  bool Has(void* function) const {
    const auto address = reinterpret_cast<uintptr_t>(function);
    return address >= begin && address < end;
  }
};

// Returns the range of the library that has the function; empty: no library has it. dladdr() would
// read the library's whole table of symbols, and dl_iterate_phdr() may be a sanitizer's, which does
// not work yet.
ObjectRange RangeOf(void* function) {
  const auto address = reinterpret_cast<uintptr_t>(function);
  uintptr_t base = 0;
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (object->l_addr <= address && object->l_addr > base) base = object->l_addr;
  }
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  if (base == 0 || __builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto* part = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  ObjectRange range = {base, base};
  for (int i = 0; i < header->e_phnum; ++i) {
    const uintptr_t end = base + part[i].p_vaddr + part[i].p_memsz;
    if (part[i].p_type == PT_LOAD && end > range.end) range.end = end;
  }
  return range;
}

bool AllC11IsOfObjectOf(void* function_of_libc, const RealSymbols& found) {
  void* const functions[] = {
#define GPUPROF_C11(name) reinterpret_cast<void*>(found.name)
      GPUPROF_C11(mtx_lock),   GPUPROF_C11(mtx_timedlock), GPUPROF_C11(mtx_trylock),
      GPUPROF_C11(cnd_wait),   GPUPROF_C11(cnd_timedwait), GPUPROF_C11(thrd_join),
      GPUPROF_C11(thrd_create)
#undef GPUPROF_C11
  };
  const ObjectRange libc = RangeOf(function_of_libc);
  for (void* function : functions) {
    if (!libc.Has(function)) return false;
  }
  return true;
}

// The function of this name that the program itself gets; null: it is `ours`. An executable's own
// table entry for a function that lies elsewhere may answer to the name: it is no definition.
void* FindBefore(void* program, const char* name, void* ours) {
  void* first = dlsym(program, name);
  if (first == nullptr || first == ours) return nullptr;
  return FindSymbolInObjectOf(first, name) == first ? first : nullptr;
}

// What dlopen(nullptr) would return: not called, as thread sanitizer has a dlopen of its own that
// does not work yet. Nor RTLD_DEFAULT: for an object that is linked to itself first (-Bsymbolic)
// that is its own.
void* Program() { return _r_debug.r_map; }

// Notes a heap that comes before ours. What it calls as the next malloc in line is our hook, so
// `real` stays with the one behind.
void FindHeapBefore() {
  void* program = Program();
#define GPUPROF_FIND_BEFORE(name) FindBefore(program, #name, reinterpret_cast<void*>(&::name))
  void* const free = GPUPROF_FIND_BEFORE(free);
  void* const realloc = GPUPROF_FIND_BEFORE(realloc);
  g_heap_is_ours = free == nullptr && realloc == nullptr &&
                   GPUPROF_FIND_BEFORE(malloc) == nullptr && GPUPROF_FIND_BEFORE(calloc) == nullptr;
#undef GPUPROF_FIND_BEFORE
  g_programs_free = free != nullptr ? reinterpret_cast<void (*)(void*)>(free) : real.free;
  g_programs_realloc =
      realloc != nullptr ? reinterpret_cast<void* (*)(void*, size_t)>(realloc) : real.realloc;
}

// Stubs: what `real` holds until resolution. Inside the resolution the heap lives in the bootstrap
// arena; behind it the hook begins once more, as recording may have begun.
namespace stub {

void* malloc(size_t size) {
  return ResolveRealSymbols() ? ::malloc(size) : bootstrap::Allocate(size, 16);
}
void* calloc(size_t count, size_t size) {
  return ResolveRealSymbols() ? ::calloc(count, size) : bootstrap::Allocate(count * size, 16);
}
void* realloc(void* block, size_t size) {
  return ResolveRealSymbols() ? ::realloc(block, size) : bootstrap::Allocate(size, 16);
}
void free(void* block) {
  if (ResolveRealSymbols()) real.free(block);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  if (ResolveRealSymbols()) return ::posix_memalign(out, alignment, size);
  *out = bootstrap::Allocate(size, alignment);
  return *out == nullptr ? ENOMEM : 0;
}
void* aligned_alloc(size_t alignment, size_t size) {
  return ResolveRealSymbols() ? ::aligned_alloc(alignment, size)
                              : bootstrap::Allocate(size, alignment);
}
void* memalign(size_t alignment, size_t size) {
  return ResolveRealSymbols() ? ::memalign(alignment, size) : bootstrap::Allocate(size, alignment);
}

// An allocator that comes before ours maps its first memory under its own lock: resolution, which
// may need memory of it, must not begin there. Nor is it needed: nothing is recorded yet.
void* Result(long result) {
  if (!raw::IsError(result)) return reinterpret_cast<void*>(result);
  errno = static_cast<int>(-result);
  return reinterpret_cast<void*>(-1);
}
void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (g_resolved == 2) return real.mmap(address, bytes, protection, flags, fd, offset);
  return Result(raw::Call(SYS_mmap, raw::Arg(address), static_cast<long>(bytes), protection, flags,
                          fd, offset));
}
void* mmap64(void* address, size_t bytes, int protection, int flags, int fd, off64_t offset) {
  return mmap(address, bytes, protection, flags, fd, offset);
}
int munmap(void* address, size_t bytes) {
  if (g_resolved == 2) return real.munmap(address, bytes);
  return Result(raw::Call(SYS_munmap, raw::Arg(address), static_cast<long>(bytes))) == nullptr ? 0
                                                                                               : -1;
}
void* shmat(int id, const void* address, int flags) {
  if (g_resolved == 2) return real.shmat(id, address, flags);
  return Result(raw::Call(SYS_shmat, id, raw::Arg(static_cast<const char*>(address)), flags));
}
int shmdt(const void* address) {
  if (g_resolved == 2) return real.shmdt(address);
  return Result(raw::Call(SYS_shmdt, raw::Arg(static_cast<const char*>(address)))) == nullptr ? 0
                                                                                              : -1;
}
void* mremap(void* old, size_t old_bytes, size_t bytes, int flags, void* to) {
  if (g_resolved == 2) return real.mremap(old, old_bytes, bytes, flags, to);
  return Result(raw::Call(SYS_mremap, raw::Arg(old), static_cast<long>(old_bytes),
                          static_cast<long>(bytes), flags, raw::Arg(to)));
}

// The same goes for calls that such an allocator makes as it begins.
long Number(long result) {
  if (!raw::IsError(result)) return result;
  errno = static_cast<int>(-result);
  return -1;
}
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (g_resolved == 2) return real.prctl(option, a, b, c, d);
  const auto word = [](unsigned long argument) { return static_cast<long>(argument); };
  return static_cast<int>(Number(raw::Call(SYS_prctl, option, word(a), word(b), word(c), word(d))));
}
long syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (g_resolved == 2) return real.syscall(number, a, b, c, d, e, f);
  return Number(raw::Call(number, a, b, c, d, e, f));
}
ssize_t read(int file, void* buffer, size_t bytes) {
  if (g_resolved == 2) return real.read(file, buffer, bytes);
  return Number(
      raw::Call(SYS_read, file, raw::Arg(static_cast<char*>(buffer)), static_cast<long>(bytes)));
}
int close(int descriptor) {
  if (g_resolved == 2) return real.close(descriptor);
  return static_cast<int>(Number(raw::Call(SYS_close, descriptor)));
}

// Everything else is not called by dlsym itself.
#define GPUPROF_STUB(result, name, parameters, arguments) \
  result name parameters {                                \
    ResolveRealSymbols();                                 \
    return real.name arguments;                           \
  }
GPUPROF_STUB(void*, valloc, (size_t size), (size))
GPUPROF_STUB(void*, pvalloc, (size_t size), (size))
GPUPROF_STUB(void*, reallocarray, (void* block, size_t count, size_t size), (block, count, size))
GPUPROF_STUB(void, free_sized, (void* block, size_t size), (block, size))
GPUPROF_STUB(void, free_aligned_sized, (void* block, size_t alignment, size_t size),
             (block, alignment, size))
GPUPROF_LATE_HOOKS(GPUPROF_STUB)
GPUPROF_NEEDED_SYMBOLS(GPUPROF_STUB)
#undef GPUPROF_STUB

}  // namespace stub

// C23 and BSD additions may be missing in libc; the program can then only have got them from us.
void FreeSized(void* block, size_t) { g_programs_free(block); }
void FreeAlignedSized(void* block, size_t, size_t) { g_programs_free(block); }
void* ReallocArray(void* block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return g_programs_realloc(block, bytes);
}

}  // namespace

RealSymbols real = {
#define GPUPROF_INIT_REAL(result, name, parameters, arguments) stub::name,
    GPUPROF_HOOKS(GPUPROF_INIT_REAL) GPUPROF_NEEDED_SYMBOLS(GPUPROF_INIT_REAL)
#undef GPUPROF_INIT_REAL
};

namespace {

void FillGaps(RealSymbols* found) {
  if (found->free_sized == nullptr) found->free_sized = FreeSized;
  if (found->free_aligned_sized == nullptr) found->free_aligned_sized = FreeAlignedSized;
  if (found->reallocarray == nullptr) found->reallocarray = ReallocArray;
}

}  // namespace

void ResolveInProgram() noexcept {
  RealSymbols found;
  FindAllInProgram(&found);
  FillGaps(&found);
  real = found;
  WhileLoaderRests([&found] {
    g_c11_is_libcs =
        AllC11IsOfObjectOf(reinterpret_cast<void*>(found.pthread_mutex_trylock), found);
  });
  g_programs_free = real.free;
  g_programs_realloc = real.realloc;
  g_heap_is_ours = true;
}

void* RealFunction(const char* name) noexcept {
  const char* slot = reinterpret_cast<const char*>(&real);
  for (const char* known = kNames; *known != 0; ++known) {
    if (Equal(known, name)) {
      void* function;
      __builtin_memcpy(&function, slot, sizeof(function));
      return function;
    }
    slot += sizeof(void*);
    while (*known != 0) ++known;
  }
  return nullptr;
}

bool ResolveRealSymbols() noexcept {
  if (g_resolved == 2) return true;
  if (g_resolved == 1) return false;
  g_resolved = 1;
  RealSymbols found;
  FindAll(&found);
  FillGaps(&found);
  for (const char* name : proto::kWatchingFunctions)
    g_is_sanitized |= MayBeDefinedFrom(_r_debug.r_map, name) && dlsym(Program(), name) != nullptr;
  g_c11_is_libcs = AllC11IsOfObjectOf(reinterpret_cast<void*>(found.pthread_mutex_trylock), found);
  real = found;
  FindHeapBefore();
  g_resolved = 2;
  EnterEarly();
  return true;
}

bool C11IsLibcs() noexcept { return g_c11_is_libcs; }

bool HeapIsOurs() noexcept { return g_heap_is_ours; }

bool IsSanitized() noexcept { return g_is_sanitized; }

}  // namespace gpuprof::inject
