// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/interrupted_code.h"

#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/ucontext.h>

#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"

extern "C" void* __tls_get_addr(void*);

namespace gpuprof::inject {
namespace {

// The C library, its library of threads (one with it since glibc 2.34), the loader, this object.
constexpr int kObjects = 4;
struct Object {
  uintptr_t inside;
  uintptr_t begin;
  uintptr_t end;
};
constinit Object g_objects[kObjects] = {};

int FindObject(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    const uintptr_t end = begin + segment.p_memsz;
    for (Object& object : g_objects) {
      if (object.inside < begin || object.inside >= end) continue;
      object.begin = begin;
      object.end = end;
    }
  }
  return 0;
}

template <typename T>
uintptr_t AddressOf(T* function) {
  return reinterpret_cast<uintptr_t>(function);
}

bool IsKnown() {
  for (const Object& object : g_objects)
    if (object.end == 0) return false;
  return true;
}

bool IsInLibc(uintptr_t counter) {
  for (const Object& object : g_objects)
    if (counter >= object.begin && counter < object.end) return true;
  return false;
}

struct Registers {
  uintptr_t counter;
  uintptr_t stack;
  long number;  // of the system call; on x86-64 the result is in its place after the call
  long result;
  uintptr_t first;  // arguments of the call
  uintptr_t second;
};

#if defined(__x86_64__)
constexpr uintptr_t kCallBytes = 2;
bool IsCall(uintptr_t at) {
  const auto* code = reinterpret_cast<const unsigned char*>(at);
  return code[0] == 0x0f && code[1] == 0x05;
}
Registers Read(const void* context) {
  const auto& all = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const auto word = [&](int i) { return static_cast<uintptr_t>(all[i]); };
  return {word(REG_RIP),
          word(REG_RSP),
          static_cast<long>(all[REG_RAX]),
          static_cast<long>(all[REG_RAX]),
          word(REG_RDI),
          word(REG_RSI)};
}
#else
constexpr uintptr_t kCallBytes = 4;
bool IsCall(uintptr_t at) { return *reinterpret_cast<const uint32_t*>(at) == 0xd4000001; }
Registers Read(const void* context) {
  const auto& all = static_cast<const ucontext_t*>(context)->uc_mcontext;
  return {all.pc,      all.sp,     static_cast<long>(all.regs[8]), static_cast<long>(all.regs[0]),
          all.regs[0], all.regs[1]};
}
#endif

// Calls that the kernel begins again after the handler, and that wait long.
bool Waits(long number, bool with_locks) {
  switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_wait4:
    case SYS_waitid:
      return true;
    case SYS_futex:
      return with_locks;
    default:
      return false;
  }
}

// setuid() and its relatives hold the lock of all stacks while they wait for the other threads, on
// a word of their own stack.
bool MayBeSetid(const Registers& registers) {
  constexpr uintptr_t kNear = 64 * 1024;
  return registers.second == (FUTEX_WAIT | FUTEX_PRIVATE_FLAG) &&
         registers.first - registers.stack < kNear;
}

bool IsInWait(const Registers& registers) {
  if (IsCall(registers.counter))
    return Waits(registers.number, HeapIsOurs()) && !MayBeSetid(registers);
  // Interrupted for good. Of the calls that may be made with a lock held none ends so.
  return IsCall(registers.counter - kCallBytes) && registers.result == -EINTR &&
         !MayBeSetid(registers);
}

}  // namespace

void LocateLibc() noexcept {
  g_objects[0].inside = AddressOf(real.abort);
  g_objects[1].inside = AddressOf(real.pthread_key_create);
  g_objects[2].inside = AddressOf(&__tls_get_addr);
  g_objects[3].inside = AddressOf(&LocateLibc);
  dl_iterate_phdr(FindObject, nullptr);
}

bool MayCreateThread(const void* context) noexcept {
  const Registers registers = Read(context);
  if (!IsKnown()) return false;
  if (!IsInLibc(registers.counter) && HeapIsOurs()) return true;
  // Code outside these objects may be unreadable next to where it runs.
  if (IsInLibc(registers.counter) && IsInLibc(registers.counter - kCallBytes))
    return IsInWait(registers);
  return false;
}

}  // namespace gpuprof::inject
