// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the hardware counters of all GPUs of this machine while a command runs: the loop in the
// sampler's process. See sampler_process.h for why it is a process.
//
// Where no log was asked for, neither NVML nor CUPTI is even loaded, and nothing is said or
// written, before kGpuWaitFile has gone: the first process of the program that has initialised CUDA
// removes it.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launcher/gpu/counter_trace.h"
#include "launcher/gpu/device_reader.h"
#include "launcher/gpu/gpu_log.h"
#include "launcher/gpu/nvml_library.h"
#include "launcher/gpu/pm_sampling.h"

namespace gpuprof::launcher {

struct SamplerOptions {
  std::string bundle;         // absolute
  uint64_t period_ns = 0;     // between two readings of NVML and GPM; 0: none
  uint64_t pm_period_ns = 0;  // of PM sampling, into the trace; 0: none
  bool to_trace = false;      // a trace file in the bundle, from the program's first use of CUDA on
};

// What a sampler is at: a line of two characters in its report. Opening and closing end when the
// driver has done its part.
inline constexpr char kPhaseMark = '\1';
inline constexpr char kPhaseOpening = 'o', kPhaseReading = 'r', kPhaseClosing = 'c';

class Sampler {
 public:
  // `stop`: a descriptor at whose end of file it is over. `report`: receives lines of words for the
  // user and phases, each ends in a newline.
  Sampler(const SamplerOptions& options, GpuLog* log, int stop, int report);

  // Returns when it is over.
  void Run();

 private:
  bool HasCuda() const;
  void WaitForCuda();
  // NVML and its devices, where they can be had.
  void Open();
  // Begins the trace if it is time.
  void OpenTrace();
  // Begins PM sampling where it is wanted and the trace has begun.
  void OpenPm();
  std::vector<DeviceIdentity> KnownDevices();
  void TellPhase(char phase);
  void Loop();
  void ReadAll(uint64_t now_ns);
  void ReadProcesses(DeviceReader* reader, std::vector<Reading>* readings);
  bool IsOfProgram(int32_t pid);
  void NoteRefusals(DeviceReader* reader);
  // What the user should know: `what` is missing, and why. Told once, and kept in the trace.
  void Tell(const std::string& what, const std::string& why);
  void Keep(const std::string& text);
  // Waits; true: it is over.
  bool IsOver(uint64_t wait_ns, int also = -1) const;

  SamplerOptions options_;
  GpuLog* log_;
  int stop_;
  int report_;
  // Before what uses it: devices end before the library.
  NvmlLibrary library_;
  std::vector<std::unique_ptr<DeviceReader>> readers_;
  CounterTrace trace_;
  PmSampling pm_;
  bool is_pm_tried_ = false;
  std::map<int32_t, bool> of_program_;  // pids seen on a GPU, and whether they are recorded ones
  std::vector<std::string> told_;
  unsigned slow_turn_ = 0;
  uint64_t flushed_ns_ = 0;
  uint64_t processes_ns_ = 0;
};

}  // namespace gpuprof::launcher
