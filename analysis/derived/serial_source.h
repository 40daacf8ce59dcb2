// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether what several workers wait for serves them one at a time: a disk's arm, a server with one
// thread, a limit of requests. Pure, any thread.
//
// A source of this kind ends requests at the same rate, however many are outstanding, and often at
// even distances. A source that serves all at once ends the more of them, the more are outstanding.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

struct SourceUse {
  bool is_serial = false;
  // Waits that were outstanding on average when another began, itself among them.
  double outstanding = 0;
  // How the rate of ends grows with the number outstanding: 0 not at all, 1 in proportion.
  double growth = 0;
  double growth_error = 0;  // standard error
  double evenness = 0;      // short distances of ends by usual ones: 1 all are equal
  int64_t served_ns = 0;    // the median distance of ends while something was outstanding
  int64_t busy_ns = 0;      // at least one was outstanding
};

// Judges waits of all workers, in any order. Those far shorter than the others do not count: they
// found data that was there already.
SourceUse JudgeSource(std::vector<Interval> waits);

}  // namespace gpuprof::analysis
