// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// c10::memoryProfilingEnabled(), c10::reportMemoryUsageToProfiler(), and New and Delete of
// c10::ProfiledCPUMemoryReporter. libc10 calls all of them through its PLT, so these definitions
// win although the framework is loaded with RTLD_LOCAL. The first is asked before each CPU report:
// it says yes while we capture, else whatever the framework's own says, so that its profiler works
// with us and without us.

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
constexpr char kSignedReportName[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE";

using EnabledFunction = bool (*)();
using ReportFunction = void (*)(void*, int64_t, uint64_t, uint64_t, Device);
using NewFunction = void (*)(void*, void*, size_t);
using DeleteFunction = void (*)(void*, void*);
constexpr char kNewName[] = "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm";
constexpr char kDeleteName[] = "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv";

// CPU blocks exist that libc10 has not entered into its table, because nobody wanted reports when
// they were made. When one of them is given back while reports are on, libc10 prints a warning into
// the program's stderr: so from then on we ask for none (the allocators of devices report all the
// same), and record CPU blocks where libc10 would enter them and take them out. How large a block
// that is given back was stands in its table alone.
constinit std::atomic<uint32_t> g_unreported{0};
constinit std::atomic<uint32_t> g_left_out{0};

// libc10 was seen to call New or Delete here.
constinit std::atomic<uint32_t> g_sees_cpu_blocks{0};
constexpr Device kCpu = {0, -1};

std::atomic<EnabledFunction> g_enabled{nullptr};
std::atomic<ReportFunction> g_report{nullptr};
std::atomic<NewFunction> g_new{nullptr};
std::atomic<DeleteFunction> g_delete{nullptr};

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

// libc10 itself asks before it reports; others of the framework's libraries (libc10_cuda) report
// without asking, and have no definition that could be read from them. So all are looked up as
// libc10 asks first, which it does for its first CPU block.
EnabledFunction OwnEnabled(const void* libc10) {
  if (const EnabledFunction known = g_enabled.load(std::memory_order_acquire)) return known;
  if (Own(&g_report, kReportName, libc10) == nullptr) Own(&g_report, kSignedReportName, libc10);
  return Own(&g_enabled, kEnabledName, libc10);
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

// A CPU block that libc10 is not asked to report.
void RecordCpu(void* block, int64_t bytes) {
  if (g_sees_cpu_blocks.load(std::memory_order_relaxed) == 0) {
    g_sees_cpu_blocks.store(1, std::memory_order_relaxed);
  }
  if (!Recording(proto::kSourceTensors)) return;
  if (g_unreported.load(std::memory_order_relaxed) == 0) return;
  Record(block, bytes, 0, 0, kCpu);
}

// The program's own profiler has libc10 report CPU blocks that were recorded already.
bool IsRecorded(Device device) {
  return device.type == kCpu.type && g_unreported.load(std::memory_order_relaxed) != 0 &&
         g_sees_cpu_blocks.load(std::memory_order_relaxed) != 0;
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
    if (g_left_out.load(std::memory_order_relaxed) == 0 &&
        g_sees_cpu_blocks.load(std::memory_order_relaxed) == 0) {
      g_left_out.store(1, std::memory_order_relaxed);
    }
  } else if (g_unreported.load(std::memory_order_relaxed) == 0) {
    g_unreported.store(1, std::memory_order_relaxed);
  }
  const EnabledFunction own = OwnEnabled(__builtin_return_address(0));
  return own != nullptr && own();
}

// Totals as size_t (since 2.0) and as int64_t before are the same registers.
GPUPROF_EXPORT void gpuprof_c10_memory_report(
    void* block, int64_t bytes, uint64_t allocated, uint64_t reserved,
    Device device) asm("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
GPUPROF_EXPORT void gpuprof_c10_memory_report(void* block, int64_t bytes, uint64_t allocated,
                                              uint64_t reserved, Device device) {
  if (Recording(proto::kSourceTensors) && !IsRecorded(device)) {
    Record(block, bytes, allocated, reserved, device);
  }
  const ReportFunction own = g_report.load(std::memory_order_acquire);
  if (own != nullptr) own(block, bytes, allocated, reserved, device);
}

GPUPROF_EXPORT void gpuprof_c10_memory_report_signed(
    void* block, int64_t bytes, int64_t allocated, int64_t reserved,
    Device device) asm("_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE");
GPUPROF_EXPORT void gpuprof_c10_memory_report_signed(void* block, int64_t bytes, int64_t allocated,
                                                     int64_t reserved, Device device) {
  if (Recording(proto::kSourceTensors) && !IsRecorded(device)) {
    Record(block, bytes, static_cast<uint64_t>(allocated), static_cast<uint64_t>(reserved), device);
  }
  const ReportFunction own = g_report.load(std::memory_order_acquire);
  if (own != nullptr)
    own(block, bytes, static_cast<uint64_t>(allocated), static_cast<uint64_t>(reserved), device);
}

GPUPROF_EXPORT void gpuprof_c10_cpu_new(void* reporter, void* block, size_t bytes) asm(
    "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm");
GPUPROF_EXPORT void gpuprof_c10_cpu_new(void* reporter, void* block, size_t bytes) {
  if (bytes != 0) RecordCpu(block, static_cast<int64_t>(bytes));
  const NewFunction own = Own(&g_new, kNewName, __builtin_return_address(0));
  if (own != nullptr) own(reporter, block, bytes);
}

// Before the block is given back: nobody else has its address yet.
GPUPROF_EXPORT void gpuprof_c10_cpu_delete(void* reporter, void* block) asm(
    "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv");
GPUPROF_EXPORT void gpuprof_c10_cpu_delete(void* reporter, void* block) {
  if (block != nullptr) RecordCpu(block, proto::kReturnedOfUnknownSize);
  const DeleteFunction own = Own(&g_delete, kDeleteName, __builtin_return_address(0));
  if (own != nullptr) own(reporter, block);
}

}  // extern "C"
