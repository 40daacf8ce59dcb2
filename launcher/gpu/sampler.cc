// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See sampler.h.

#include "launcher/gpu/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/record/bundle.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMillisecond;
// Where the kernel has no watch left for us.
constexpr uint64_t kLookPause = 250 * kMillisecond;
constexpr unsigned kMostDevices = 64;
constexpr char kNothing[] = "no hardware counters";

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

// "nvmlDeviceGetClockInfo:sm" by what it would have told.
std::string WhatIsMissing(const std::string& function) {
  struct Row {
    const char* function;
    const char* what;
  };
  constexpr Row kRows[] = {
      {"nvmlDeviceGetUtilizationRates", "gpu_utilization, memory_utilization"},
      {"nvmlDeviceGetMemoryInfo", "memory_used"},
      {"nvmlDeviceGetTemperature", "temperature"},
      {"nvmlDeviceGetPowerUsage", "power"},
      {"nvmlDeviceGetClockInfo:sm", "sm_clock"},
      {"nvmlDeviceGetClockInfo:memory", "memory_clock"},
      {"nvmlDeviceGetCurrentClocksEventReasons", "clocks_event_reasons"},
      {"nvmlDeviceGetPcieThroughput:tx", "pcie_tx"},
      {"nvmlDeviceGetPcieThroughput:rx", "pcie_rx"},
      {"nvmlDeviceGetFieldValues", "power_instant, nvlink_tx, nvlink_rx"},
      {"nvmlDeviceGetComputeRunningProcesses_v3", "process_memory_used"},
  };
  for (const Row& row : kRows) {
    if (function == row.function) return row.what;
  }
  if (function.rfind("nvmlGpm", 0) == 0)
    return "SM, tensor and DRAM activity (GPM, on Hopper and later GPUs)";
  return function;
}

}  // namespace

Sampler::Sampler(const SamplerOptions& options, GpuLog* log, int stop, int report)
    : options_(options),
      log_(log),
      stop_(stop),
      report_(report),
      pm_(
          options.pm_period_ns,
          [this](const std::string& what, const std::string& why) { Tell(what, why); },
          [this](const std::string& text) { Keep(text); }) {}

bool Sampler::IsOver(uint64_t wait_ns, int also) const {
  const auto wait_ms = static_cast<int>((wait_ns + kMillisecond - 1) / kMillisecond);
  pollfd waits[2] = {{stop_, POLLIN, 0}, {also, POLLIN, 0}};
  if (poll(waits, 2, wait_ns == UINT64_MAX ? -1 : wait_ms) <= 0) return false;
  return waits[0].revents != 0;
}

bool Sampler::HasCuda() const {
  return access(options_.bundle.c_str(), F_OK) == 0 &&
         access((options_.bundle + "/" + proto::kGpuWaitFile).c_str(), F_OK) != 0;
}

// Until HasCuda(), or until it is over.
void Sampler::WaitForCuda() {
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  const bool is_watched = watch >= 0 && inotify_add_watch(watch, options_.bundle.c_str(),
                                                          IN_DELETE | IN_MOVED_FROM) >= 0;
  while (!HasCuda() && !IsOver(is_watched ? UINT64_MAX : kLookPause, is_watched ? watch : -1)) {
    char events[4096];
    while (is_watched && read(watch, events, sizeof events) > 0) {}
  }
  if (watch >= 0) close(watch);
}

void Sampler::Keep(const std::string& text) { trace_.AddNote("gpu counters", text); }

void Sampler::Tell(const std::string& what, const std::string& why) {
  const std::string line = what + ": " + why + "\n";
  if (std::find(told_.begin(), told_.end(), line) != told_.end()) return;
  told_.push_back(line);
  Keep(what == kNothing ? why : what + ": " + why);
  [[maybe_unused]] const ssize_t written = write(report_, line.data(), line.size());
}

void Sampler::Open() {
  const std::string fault = library_.Open();
  if (!fault.empty()) {
    Tell(kNothing, fault);
    return;
  }
  unsigned count = 0;
  const int result = library_.functions().device_count(&count);
  if (result != nvml::kSuccess) {
    Tell(kNothing, ExplainNvml("nvmlDeviceGetCount_v2", result));
    return;
  }
  for (unsigned i = 0; i < std::min(count, kMostDevices); ++i) {
    auto reader = std::make_unique<DeviceReader>(library_, i);
    NoteRefusals(reader.get());
    if (!reader->is_open()) continue;
    trace_.AddDevice(reader->identity());
    readers_.push_back(std::move(reader));
  }
  if (readers_.empty())
    Tell(kNothing, count == 0
                       ? "NVML finds no GPU here; start a container with its GPUs (docker run "
                         "--gpus all)"
                       : "no GPU may be read");
}

void Sampler::OpenTrace() {
  if (!options_.to_trace || trace_.is_open() || !HasCuda()) return;
  const std::string fault = trace_.Create(options_.bundle);
  if (fault.empty()) return;
  options_.to_trace = false;
  Tell("hardware counters are not recorded", fault);
}

// What a device does not offer is kept in the trace; what it refuses is worth a word.
void Sampler::NoteRefusals(DeviceReader* reader) {
  std::string absent;
  for (const auto& [function, result] : reader->TakeRefusals()) {
    if (!IsAbsence(result)) {
      Tell("no hardware counter " + WhatIsMissing(function), ExplainNvml(function, result));
      continue;
    }
    const std::string what = WhatIsMissing(function);
    if (absent.find(what) == std::string::npos) absent += (absent.empty() ? "" : "; ") + what;
  }
  if (absent.empty()) return;
  Keep("GPU " + std::to_string(reader->identity().index) + " (" + reader->identity().name +
       ") does not offer: " + absent +
       (reader->identity().is_mig ? ". MIG is on, so counters of the whole GPU are off" : ""));
}

bool Sampler::IsOfProgram(int32_t pid) {
  const auto known = of_program_.find(pid);
  if (known != of_program_.end()) return known->second;
  bool is_ours = false;
  for (const ProcessFiles& process : ListProcesses(options_.bundle))
    is_ours = is_ours || process.pid == pid;
  return of_program_[pid] = is_ours;
}

void Sampler::ReadProcesses(DeviceReader* reader, std::vector<Reading>* readings) {
  std::vector<ProcessUse> uses;
  reader->ReadProcesses(&uses);
  for (const ProcessUse& use : uses) {
    if (IsOfProgram(use.pid))
      readings->push_back({trace_.CounterOfProcess(use.pid), static_cast<int64_t>(use.bytes)});
  }
}

void Sampler::ReadAll(uint64_t now_ns) {
  const bool with_processes = trace_.is_open() && now_ns - processes_ns_ >= kSecond;
  if (with_processes) {
    processes_ns_ = now_ns;
    of_program_.clear();
  }
  const size_t turn = slow_turn_++ % readers_.size();
  for (size_t i = 0; i < readers_.size(); ++i) {
    DeviceReader* reader = readers_[i].get();
    std::vector<Reading> readings;
    reader->Read(Now(), i == turn, &readings);
    const uint64_t read_ns = Now();
    const auto realtime = static_cast<int64_t>(proto::ReadClockNs(CLOCK_REALTIME));
    if (log_->is_open() && !log_->WriteLine(reader->identity(), realtime, readings)) {
      Tell("--gpu-log stops before the command ends",
           std::string("its file cannot be written: ") + strerror(errno));
      log_->Close();
    }
    if (with_processes) ReadProcesses(reader, &readings);
    trace_.AddRows(reader->identity().index, read_ns, readings);
    NoteRefusals(reader);
  }
}

void Sampler::OpenPm() {
  if (options_.pm_period_ns == 0 || is_pm_tried_ || !trace_.is_open()) return;
  is_pm_tried_ = true;
  std::vector<int> pids;
  for (const ProcessFiles& process : ListProcesses(options_.bundle)) pids.push_back(process.pid);
  // It takes a second or more, and the command may end meanwhile.
  trace_.Flush();
  TellPhase(kPhaseOpening);
  pm_.Open(pids, KnownDevices(), &trace_, [this] { return IsOver(0); });
  TellPhase(kPhaseReading);
}

// As NVML numbers them, also where nothing of it is read.
std::vector<DeviceIdentity> Sampler::KnownDevices() {
  std::vector<DeviceIdentity> known;
  for (const std::unique_ptr<DeviceReader>& reader : readers_) known.push_back(reader->identity());
  unsigned count = 0;
  if (!known.empty() || (options_.period_ns == 0 && !library_.Open().empty()) ||
      library_.functions().device_count == nullptr ||
      library_.functions().device_count(&count) != nvml::kSuccess)
    return known;
  for (unsigned i = 0; i < std::min(count, kMostDevices); ++i) {
    const DeviceReader reader(library_, i);
    if (reader.is_open()) known.push_back(reader.identity());
  }
  return known;
}

void Sampler::TellPhase(char phase) {
  const char line[] = {kPhaseMark, phase, '\n'};
  [[maybe_unused]] const ssize_t written = write(report_, line, sizeof line);
}

void Sampler::Loop() {
  uint64_t read_ns = 0, decode_ns = 0;  // when each is due
  bool is_over = false;
  while (true) {
    const uint64_t begin = Now();
    OpenTrace();
    if (!readers_.empty() && (begin >= read_ns || is_over)) {
      ReadAll(begin);
      read_ns = begin + options_.period_ns;
    }
    OpenPm();
    if (pm_.is_open() && (begin >= decode_ns || is_over)) {
      pm_.Decode(&trace_);
      decode_ns = begin + kPmDecodeNs;
    }
    if (begin - flushed_ns_ >= kSecond || is_over) {
      trace_.Flush();
      flushed_ns_ = begin;
    }
    // The last reading is of the moment of the end.
    if (is_over) return;
    const bool has_begun = !options_.to_trace || trace_.is_open();
    if (readers_.empty() && !pm_.is_open()) {
      // A log is written from the start; that NVML has nothing for it is no reason against CUPTI.
      if (has_begun || options_.pm_period_ns == 0) return;
      WaitForCuda();
      is_over = !HasCuda();
      continue;
    }
    uint64_t due = readers_.empty() ? decode_ns : read_ns;
    if (pm_.is_open()) due = std::min(due, decode_ns);
    const uint64_t now = Now();
    if (!has_begun) due = std::min(due, now + kLookPause);
    is_over = IsOver(now < due ? due - now : 0);
  }
}

void Sampler::Run() {
  if (log_->is_open()) {
    log_->WriteHeader();
  } else {
    WaitForCuda();
    if (!HasCuda()) return;
  }
  if (options_.period_ns != 0) Open();
  // An empty line: those who wait for the first words need not any more.
  [[maybe_unused]] const ssize_t written = write(report_, "\n", 1);
  if (!readers_.empty() || options_.pm_period_ns != 0) Loop();
  // Where nothing could be read, the trace says why.
  OpenTrace();
  pm_.Conclude(&trace_);
  trace_.Finish();
  // The driver may take its time for it, and the trace is whole.
  TellPhase(kPhaseClosing);
  pm_.Close();
}

}  // namespace gpuprof::launcher
