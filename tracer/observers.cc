// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/observers.h"

#include <string.h>

#include "tracer/samples/sampler.h"
#include "tracer/torch/torch_observer.h"

namespace gpuprof::tracer {

bool LookForFrameworks(const Host* host) {
  if (host->program_started->load(std::memory_order_acquire) == 0) return false;
  const uint32_t sources = host->settings->sources;
  if ((sources & (proto::kSourceOps | proto::kSourceTensors)) != 0) TorchTryAttach(host);
  return (sources & proto::kSourceSamples) != 0 && SamplerTryBegin(host);
}

const char* StateOfOps(const Host& host) {
  const char* torch = TorchState();
  if (strcmp(torch, "none") != 0) return torch;
  if (const char* refusal = host.tensorflow->refusal.load(std::memory_order_acquire))
    return refusal;
  return host.tensorflow->framework.load(std::memory_order_acquire) != nullptr ? "active" : torch;
}

void EndObservers() {
  SamplerEnd();
  TorchDetach();
}

uint64_t ObserversCpuNs() { return ReadSamplerCounters().cpu_ns; }

void ObserversBeginFile() {
  TorchBeginFile();
  SamplerBeginFile();
}

void ObserversBeforeFork() {
  TorchBeforeFork();
  SamplerBeforeFork();
}

void ObserversAfterForkParent() {
  SamplerAfterForkParent();
  TorchAfterForkParent();
}

void ObserversAfterForkChild() {
  TorchAfterForkChild();
  SamplerAfterForkChild();
}

}  // namespace gpuprof::tracer
