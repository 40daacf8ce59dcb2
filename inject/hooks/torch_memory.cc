// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// c10::memoryProfilingEnabled() and c10::reportMemoryUsageToProfiler(). libc10 calls both through
// its PLT, so these definitions win although the framework is loaded with RTLD_LOCAL. The first is
// asked before each CPU report: it says yes while we capture, else whatever the framework's own
// says, so that its profiler works with us and without us.

#include "inject/hooks/torch_memory.h"

#include <atomic>

#include "inject/elf_symbol.h"
#include "inject/hook_list.h"
#include "inject/recorder.h"

namespace gpuprof::inject {
namespace {

// c10::Device: two bytes, passed in a register.
struct Device {
  int8_t type;
  int8_t index;
};
static_assert(sizeof(Device) == 2);

constexpr char kEnabledName[] = "_ZN3c1022memoryProfilingEnabledEv";
constexpr char kReportName[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";

using EnabledFunction = bool (*)();
using ReportFunction = void (*)(void*, int64_t, uint64_t, uint64_t, Device);

// CPU blocks exist that libc10 has not entered into its table, because nobody wanted reports when
// they were made. When one of them is given back while reports are on, libc10 prints a warning into
// the program's stderr: so from then on we ask for none (the allocators of devices report all the
// same).
constinit std::atomic<uint32_t> g_unreported{0};
constinit std::atomic<uint32_t> g_left_out{0};

std::atomic<EnabledFunction> g_enabled{nullptr};
std::atomic<ReportFunction> g_report{nullptr};

// libc10 is not in our lookup scope: its own definition is read from the object that called us,
// found by the return address.
template <typename Function>
Function Own(std::atomic<Function>* cached, const char* name, const void* caller) {
  Function function = cached->load(std::memory_order_acquire);
  if (__builtin_expect(function != nullptr, 1)) return function;
  function = reinterpret_cast<Function>(FindSymbolInObjectOf(caller, name));
  if (function != nullptr) cached->store(function, std::memory_order_release);
  return function;
}

void Record(void* block, int64_t bytes, uint64_t allocated, uint64_t reserved, Device device) {
  Recorder recorder(proto::kSourceTensors);
  if (!recorder.active()) return;
  const uint64_t now = recorder.Now();
  const proto::Record event = {now,
                               0,
                               static_cast<uint8_t>(proto::RecordKind::kTensor),
                               0,
                               static_cast<uint16_t>(static_cast<uint8_t>(device.type) << 8 |
                                                     static_cast<uint8_t>(device.index)),
                               reinterpret_cast<uint64_t>(block),
                               static_cast<uint64_t>(bytes)};
  if (allocated == 0 && reserved == 0) return recorder.Write(event);
  const proto::Record group[2] = {
      {now, 0, static_cast<uint8_t>(proto::RecordKind::kTensorTotals), 0, 0, allocated, reserved},
      event};
  proto::RingWriteGroup(recorder.ring(), group, 2, 1, WakeDrain());
}

}  // namespace

const std::atomic<uint32_t>* TorchCpuTensorsLeftOut() { return &g_left_out; }

void SetTorchMemoryFunctions(void* is_enabled, void* report) {
  g_enabled.store(reinterpret_cast<EnabledFunction>(is_enabled), std::memory_order_release);
  g_report.store(reinterpret_cast<ReportFunction>(report), std::memory_order_release);
}

}  // namespace gpuprof::inject

using namespace gpuprof;
using namespace gpuprof::inject;

extern "C" {

GPUPROF_EXPORT bool gpuprof_c10_memory_enabled(void) asm("_ZN3c1022memoryProfilingEnabledEv");
GPUPROF_EXPORT bool gpuprof_c10_memory_enabled(void) {
  if (Recording(proto::kSourceTensors)) {
    if (g_unreported.load(std::memory_order_relaxed) == 0) return true;
    if (g_left_out.load(std::memory_order_relaxed) == 0) {
      g_left_out.store(1, std::memory_order_relaxed);
    }
  } else if (g_unreported.load(std::memory_order_relaxed) == 0) {
    g_unreported.store(1, std::memory_order_relaxed);
  }
  const EnabledFunction own = Own(&g_enabled, kEnabledName, __builtin_return_address(0));
  return own != nullptr && own();
}

// Totals as size_t (since 2.0) and as int64_t before are the same registers.
GPUPROF_EXPORT void gpuprof_c10_memory_report(
    void* block, int64_t bytes, uint64_t allocated, uint64_t reserved,
    Device device) asm("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
GPUPROF_EXPORT void gpuprof_c10_memory_report(void* block, int64_t bytes, uint64_t allocated,
                                              uint64_t reserved, Device device) {
  if (Recording(proto::kSourceTensors)) Record(block, bytes, allocated, reserved, device);
  const ReportFunction own = Own(&g_report, kReportName, __builtin_return_address(0));
  if (own != nullptr) own(block, bytes, allocated, reserved, device);
}

GPUPROF_EXPORT void gpuprof_c10_memory_report_signed(
    void* block, int64_t bytes, int64_t allocated, int64_t reserved,
    Device device) asm("_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE");
GPUPROF_EXPORT void gpuprof_c10_memory_report_signed(void* block, int64_t bytes, int64_t allocated,
                                                     int64_t reserved, Device device) {
  if (Recording(proto::kSourceTensors)) {
    Record(block, bytes, static_cast<uint64_t>(allocated), static_cast<uint64_t>(reserved), device);
  }
  static std::atomic<ReportFunction> found{nullptr};
  const ReportFunction own = Own(&found, "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE",
                                 __builtin_return_address(0));
  if (own != nullptr)
    own(block, bytes, static_cast<uint64_t>(allocated), static_cast<uint64_t>(reserved), device);
}

}  // extern "C"
