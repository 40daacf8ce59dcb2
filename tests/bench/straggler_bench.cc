// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the figures of `gpuprof stats stragglers` cost for a large job, without its recording:
// straggler_bench [RANKS STEPS]. The job is made here: each rank loads, computes forward and
// backward, reduces gradients with all others, and optimizes. One rank is slow in the second half.
// Prints seconds, memory, and the figures.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/stragglers/findings.h"
#include "analysis/stragglers/schedule.h"
#include "analysis/stragglers/simulation.h"
#include "analysis/stragglers/what_if.h"

namespace gpuprof {
namespace {

using analysis::Schedule;

// Numbers between -1 and 1, always the same ones.
class Noise {
 public:
  double Next() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<double>(static_cast<int64_t>(state_) >> 32) / 2147483648.0;
  }

 private:
  uint64_t state_ = 1;
};

Schedule MakeJob(size_t ranks, size_t steps) {
  constexpr double kTimes[] = {4e6, 10e6, 20e6, 5e6, 3e6};
  constexpr size_t kBackward = 2, kReduce = 3;
  Schedule job;
  job.types = {"input", "forward", "backward", "all-reduce", "optimizer"};
  job.replicas = ranks;
  job.is_chained = true;
  for (size_t step = 0; step < steps; ++step) job.steps.push_back(step);
  Noise noise;
  for (uint32_t i = 0; i < job.types.size(); ++i) {
    analysis::PlannedOperation& operation = job.operations.emplace_back();
    operation.type = operation.like = i;
    if (i != 0) operation.after = {i - 1};
    std::vector<double>& took = job.durations.emplace_back(ranks * steps);
    for (double& each : took) each = kTimes[i] * (1 + 0.01 * noise.Next());
  }
  job.operations[kReduce].group = 0;
  job.operations[kReduce].is_transfer = true;
  job.groups.push_back({{static_cast<uint32_t>(kReduce)}, true});
  for (size_t step = steps / 2; step < steps; ++step)
    job.durations[kBackward][step * ranks + ranks / 2] += 12e6;
  return job;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double PeakMebibytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int Main(int argc, char** argv) {
  const size_t ranks = argc == 3 ? std::strtoull(argv[1], nullptr, 10) : 1024;
  const size_t steps = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  if (ranks < 2 || steps < 2) {
    std::fprintf(stderr, "usage: straggler_bench [RANKS STEPS]\n");
    return 2;
  }
  const Schedule job = MakeJob(ranks, steps);
  std::printf("%zu ranks, %zu steps: %zu operations, made with %.0f MiB\n", ranks, steps,
              job.operations.size() * job.lanes(), PeakMebibytes());
  const auto start = std::chrono::steady_clock::now();
  const analysis::Simulation simulation(job);
  const analysis::WhatIf what_if = analysis::AskWhatIf(job, simulation);
  std::printf("what-if:  %.2f s, S %.4f, M_W %.4f\n", SecondsSince(start), what_if.slowdown,
              what_if.worker_part.value_or(0));
  const analysis::StragglerFindings findings =
      analysis::FindStragglers(job, simulation, what_if, std::vector<std::string>(ranks, "host"));
  const auto culprits = analysis::FindCulprits(job, simulation);
  std::printf("all:      %.2f s, peak %.0f MiB\n", SecondsSince(start), PeakMebibytes());
  for (const analysis::SlowWorker& slow : findings.workers)
    std::printf("rank %u is slow in %s from step %zu to %zu\n", slow.worker,
                job.types[slow.type].c_str(), slow.steps.first, slow.steps.last);
  return culprits.size() == steps ? 0 : 1;
}

}  // namespace
}  // namespace gpuprof

int main(int argc, char** argv) { return gpuprof::Main(argc, argv); }
