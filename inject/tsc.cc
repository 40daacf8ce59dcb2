// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/tsc.h"

#include <fcntl.h>

#include "inject/raw_syscall.h"
#include "inject/text.h"
#include "proto/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gpuprof::inject {
namespace {

// A hypervisor that traps the instruction makes it dearer than a system call.
constexpr uint64_t kMostReadNs = 250;

bool KernelTrustsCounter() {
  char name[32] = {};
  const long fd =
      raw::Call(SYS_openat, AT_FDCWD,
                raw::Arg("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
                O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;  // no sysfs in this container: CPUID decides
  const long n = raw::Call(SYS_read, fd, raw::Arg(name), sizeof(name) - 1);
  raw::Call(SYS_close, fd);
  if (n <= 0) return true;
  if (name[n - 1] == '\n') name[n - 1] = 0;
  return Equal(name, "tsc") || Equal(name, "kvm-clock") || Equal(name, "arch_sys_counter") ||
         Equal(name, "hyperv_clocksource_tsc_page") || Equal(name, "xen");
}

bool ReadIsCheap() {
  constexpr int kReads = 8;
  const uint64_t start = proto::ReadClockNs(CLOCK_MONOTONIC);
  uint64_t sum = 0;
  for (int i = 0; i < kReads; ++i) sum += proto::ReadCounter();
  asm volatile("" : : "r"(sum));
  return proto::ReadClockNs(CLOCK_MONOTONIC) - start < kReads * kMostReadNs;
}

}  // namespace

bool TscIsFit() noexcept {
#if defined(__x86_64__)
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) return false;
#endif
  // One slow reading may be a preemption; two are the instruction.
  return KernelTrustsCounter() && (ReadIsCheap() || ReadIsCheap());
}

uint64_t TicksPerSecond(uint64_t ticks, uint64_t ns) noexcept {
  if (ns == 0) return 0;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(ticks) * 1'000'000'000u / ns);
}

}  // namespace gpuprof::inject
