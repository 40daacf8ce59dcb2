// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a test tells the simulation, in the environment variable FAKE_GPU_SCRIPT: the path of a
// file, or the statements themselves. One a line or between semicolons; '#' begins a comment. Read
// once.
//
//   kernel TEXT NS          kernels whose mangled name contains TEXT take NS nanoseconds
//   kernel_ns NS            all others (5000)
//   copy_gbps N             speed of copies and sets (20); copy_ns N adds to each (2000)
//   host_ns NS              of each function that a stream runs on the host (10000)
//   launch_ns NS            from the call to the earliest start on the device (2000)
//   record_ns NS            what each call costs its thread while a tool records it (0); 1160 for a
//                           launch on an H200 (docs/cost.md)
//   queue N                 launches that a stream holds before a call blocks (1024, at most that)
//   stream_handles new|again   a new stream has a handle that no other had (new), or that of the
//                           context's stream that was destroyed last
//   context_releases on|off what goes with its context has records of its release (off); the
//                           documentation does not say
//   registers N             of every kernel; without it a number made of the name
//   devices N               (1); 0: no device
//   memory BYTES            of each device (80 GiB)
//   driver_version N        (13000)
//   fail NAME CODE [SKIP [TIMES]]   the function returns CODE, after SKIP good calls, TIMES times
//                           (always). NAME of cuptiActivityEnable may be cuptiActivityEnable:KIND,
//                           likewise that of cuptiActivityConfigureUnifiedMemoryCounter
//   hang NAME [SKIP]        the function of CUPTI's never returns, after SKIP good calls
//   subscriber NAME         who holds CUPTI when cuptiSubscribe_v2 is scripted to fail with 39
//   lose_times N            every Nth record of device work has start and end 0
//   drop N                  every Nth record is dropped, and counted
//   clock_step NS AFTER_NS  CUPTI's clock jumps by NS, AFTER_NS from the beginning
//   gpu_drift PPM           of the device's times against the host's
//   gpu_records split|mixed in buffers of their own (split), or in those of the launching thread
//   shuffle on|off          the order within a buffer (on)
//   seed N                  of the shuffle (1)
//   correlation api|always  ids while RUNTIME or DRIVER is enabled (api), or always
//   launch_cbid N           what __cudaLaunchKernel is reported as (505, its own)
//   exit_flush CODE         cuptiActivityFlushAll after the driver's exit handler returns CODE
//   exit_read CODE          likewise cuptiActivityGetNextRecord: the real one of 13.3 and later was
//                           seen to answer 999 where there is no driver
//   nvml WHAT DEVICE VALUE...   what NVML tells of a device (nvml/state.h names it), call by call;
//   the
//                           last value stays, none at all: not supported
//   gpm METRIC DEVICE VALUE...   likewise of GPM, by pairs of samples; a device without such a line
//   has
//                           no GPM, a metric without is not supported
//   nvml_hang NAME, nvml_crash NAME   the function never returns, or aborts
//   mig on|off              (off)
//   pm on|off               whether CUPTI's PM sampling is permitted (off)
//   pm_samples METRIC DEVICE VALUE...   what it tells of a device, by samples since the start; the
//                           last value stays; "nan" is no number. A metric without any is not
//                           offered
//   pm_two_passes METRIC    needs a second pass; pm_one_pass N: more than N metrics do (0: never)
//   pm_overflow N           at the Nth decoding half of the samples that wait are lost (0: never)
//   pm_trigger any|sysclk   what samples may be triggered by (any)
//   pm_crash NAME           the function aborts
//   pm_slow NAME FILE       the function returns once FILE exists, or after a minute

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fake_gpu {

struct Failure {
  std::string function;
  int code = 0;
  uint64_t skip = 0;
  uint64_t times = UINT64_MAX;
  // Calls seen so far; counted with an atomic builtin.
  uint64_t seen = 0;
};

struct Script {
  std::vector<std::pair<std::string, uint64_t>> kernels;
  uint64_t kernel_ns = 5000;
  double copy_gbps = 20;
  uint64_t copy_ns = 2000;
  uint64_t host_ns = 10'000;
  uint64_t launch_ns = 2000;
  uint64_t record_ns = 0;
  uint64_t queue = 1024;
  bool reuse_streams = false;
  bool context_releases = false;
  int registers = 0;
  int devices = 1;
  uint64_t memory = uint64_t{80} << 30;
  int driver_version = 13000;
  std::vector<Failure> failures, hangs;
  std::string subscriber = "another profiler";
  uint64_t lose_times = 0;
  uint64_t drop = 0;
  int64_t clock_step = 0;
  uint64_t clock_step_after = 0;
  double gpu_drift_ppm = 0;
  bool mixed = false;
  bool shuffle = true;
  uint64_t seed = 1;
  bool correlation_always = false;
  uint32_t launch_cbid = 505;
  int exit_flush = 0;
  int exit_read = 0;
  std::map<std::pair<std::string, int>, std::vector<double>> nvml_values;
  std::map<std::pair<int, int>, std::vector<double>> gpm_values;
  std::vector<std::string> nvml_hangs, nvml_crashes;
  bool mig = false;
  bool pm = false;
  std::map<std::pair<std::string, int>, std::vector<double>> pm_values;
  std::vector<std::string> pm_two_passes, pm_crashes;
  std::vector<std::pair<std::string, std::string>> pm_slow;
  size_t pm_one_pass = 0;
  uint64_t pm_overflow = 0;
  bool pm_sysclk_only = false;
};

// Read at the first use.
const Script& TheScript();

// The scripted result of this call of the function, or 0.
int ScriptedFailure(const char* function);
// Does not return where that is scripted.
void ScriptedHang(const char* function);

}  // namespace fake_gpu
