// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much faster a job would be if all ranks did their operations alike, and which operations,
// ranks and stages make the difference. Pure, any thread.
//
// The figures are those of "Understanding Stragglers in Large Model Training Using What-if
// Analysis" (OSDI 2025):
//   T         all operations take the time that they took; nothing but peers is waited for
//   T_ideal   each operation takes the mean of its like, and a transfer takes the median
//   S         T / T_ideal
//   S_t, S_w  the operations of one type, or of one worker, take their own time, and all others the
//             ideal time; divided by T_ideal. For a worker of a pipeline the lesser of the figures
//             of its replica and of its stage counts.
//   M_W, M_S  the part of T - T_ideal that vanishes if the slowest 3 % of the workers, or the
//             workers of the last stage, take the ideal time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/stragglers/schedule.h"
#include "analysis/stragglers/simulation.h"

namespace gpuprof::analysis {

// Groups are compared only if the job is so much slower than the ideal one.
inline constexpr double kLeastSlowdown = 1.03;

// A group of operations: of a type, a worker, a stage.
struct GroupEffect {
  double slowdown = 1;  // S of the group
  // T, if the group took the ideal time. None: not computed.
  std::optional<double> without_ns;
};

struct WorkerEffect : GroupEffect {
  uint32_t replica = 0, stage = 0;
};

struct WhatIf {
  double real_ns = 0, ideal_ns = 0;       // T, T_ideal: sums over the steps
  double observed_ns = 0, played_ns = 0;  // as it was, and as the schedule gives it back
  double slowdown = 1;                    // S
  std::vector<double> real_steps, ideal_steps;
  bool has_groups = false;  // S was large enough, and the next four are there
  std::vector<GroupEffect> types, stages;
  std::vector<WorkerEffect> workers;              // by replica * stages + stage
  std::vector<uint32_t> slowest;                  // workers of M_W, the slowest first
  std::optional<double> worker_part, stage_part;  // M_W, M_S; without stages there is no M_S

  // Returns the part of T - T_ideal that vanishes without a group.
  double PartOf(double without_ns) const {
    return real_ns == ideal_ns ? 0 : (real_ns - without_ns) / (real_ns - ideal_ns);
  }
  // Returns |simulated - observed| / observed.
  double Error() const;
};

// Returns the figures of a schedule that can be played.
WhatIf AskWhatIf(const Schedule& schedule, const Simulation& simulation);

// Returns T if these workers took the ideal time.
double TimeWithout(const Schedule& schedule, const Simulation& simulation,
                   const std::vector<uint32_t>& workers);

}  // namespace gpuprof::analysis
