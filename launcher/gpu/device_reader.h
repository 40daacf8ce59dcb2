// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the counters of one device through NVML and, where the device has it, GPM. What a device
// does not offer is never asked for again and is absent from what it gives, never 0. One thread, in
// the sampler's process.
//
// nvmlDeviceGetPcieThroughput waits 20 ms in each call: it is asked only where GPM does not tell
// traffic, and one direction a time. NVML's own byte counts of PCIe are 32 bits wide, less than a
// tenth of a second of a fast link, and are not used.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launcher/gpu/counters.h"
#include "launcher/gpu/nvml_library.h"

namespace gpuprof::launcher {

struct DeviceIdentity {
  unsigned index = 0;  // NVML's
  std::string name;
  std::string uuid;  // "GPU-..."
  bool has_gpm = false;
  bool is_mig = false;
  // The most that device and machine can do together; 0: not told.
  unsigned pcie_generation = 0;
  unsigned pcie_width = 0;  // lanes
};

struct ProcessUse {
  int32_t pid;
  uint64_t bytes;
};

class DeviceReader {
 public:
  DeviceReader(const NvmlLibrary& library, unsigned index);
  ~DeviceReader();
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;

  // Whether there is such a device at all.
  bool is_open() const { return device_ != nullptr; }
  const DeviceIdentity& identity() const { return identity_; }

  // Appends what there is, in the order of CounterTable. `now_ns`: CLOCK_MONOTONIC. `ask_slow`:
  // calls that wait may be made.
  void Read(uint64_t now_ns, bool ask_slow, std::vector<Reading>* readings);
  // Memory by process, of all processes on the device; pids as this namespace has them, or the
  // host's.
  void ReadProcesses(std::vector<ProcessUse>* uses);

  // Calls that were refused since the last time, with their results; each once.
  std::map<std::string, int> TakeRefusals();

 private:
  // Makes the call unless it was refused for good; notes a refusal. True: it gave a value.
  template <typename Function, typename... Arguments>
  bool Ask(const char* name, Function function, Arguments... arguments);
  void NoteResult(const char* name, int result);
  bool IsRefused(const char* name) const { return refused_.count(name) != 0; }
  void ReadLoad(std::vector<Reading>* readings);
  void ReadClocks(std::vector<Reading>* readings);
  void ReadFields(uint64_t now_ns, std::vector<Reading>* readings);
  void ReadPcie(std::vector<Reading>* readings);
  bool ReadGpm(uint64_t now_ns, std::vector<Reading>* readings);
  void OpenGpm();

  const nvml::Functions& functions_;
  nvml::Device device_ = nullptr;
  DeviceIdentity identity_;
  std::map<std::string, int> refused_;  // not asked again
  std::map<std::string, int> told_;     // results already handed out
  std::map<std::string, int> fresh_;
  nvml::GpmSample samples_[2] = {};
  int newest_ = 0;  // of samples_
  uint64_t sampled_ns_ = 0;
  bool has_sample_ = false;
  bool has_gpm_traffic_ = false;
  int pcie_turn_ = 0;
  uint64_t fields_ns_ = 0;  // when the running sums were read
  uint64_t nvlink_kib_[2] = {};
  bool has_nvlink_[2] = {};
};

}  // namespace gpuprof::launcher
