// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/observers.h"

#include <cstring>

#include "tracer/jax/sessions.h"
#include "tracer/python/frame_names.h"
#include "tracer/python/own_frames.h"
#include "tracer/python_agent/python_agent.h"
#include "tracer/samples/sampler.h"
#include "tracer/torch/torch_observer.h"

namespace gpuprof::tracer {

bool LookForFrameworks(const Host* host) {
  if (host->program_started->load(std::memory_order_acquire) == 0) return false;
  const uint32_t sources = host->settings->sources;
  if ((sources & (proto::kSourceOps | proto::kSourceTensors)) != 0) TorchTryAttach(host);
  AgentTick(host);
  const bool wants_samples = (sources & proto::kSourceSamples) != 0;
  const bool wants_stacks = host->settings->stack_depth != 0;
  if (!wants_samples && !wants_stacks) return false;
  const Interpreter* python = nullptr;
  const PythonFound found = FindInterpreter(&python);
  const bool is_ready = found == PythonFound::kReady;
  if (is_ready && wants_stacks) OwnFramesBegin(host, *python);
  if (wants_samples) SamplerTryBegin(host, is_ready ? python : nullptr);
  return found == PythonFound::kBegins;
}

const char* StateOfOps(const Host& host) {
  const char* torch = TorchState();
  if (std::strcmp(torch, "none") != 0) return torch;
  if (const char* refusal = host.tensorflow->refusal.load(std::memory_order_acquire))
    return refusal;
  const bool is_active =
      jax::IsOpen() || host.tensorflow->framework.load(std::memory_order_acquire) != nullptr;
  return is_active ? "active" : torch;
}

void EndObservers() {
  SamplerEnd();
  TorchDetach();
}

uint64_t ObserversCpuNs() { return ReadSamplerCounters().cpu_ns; }

void ObserversBeginFile() {
  TorchBeginFile();
  FrameNamesBeginFile();
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
  FrameNamesBeginFile();
  AgentAfterForkChild();
}

}  // namespace gpuprof::tracer
