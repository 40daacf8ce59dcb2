// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Who read the values of a counter of an imported file (proto::Counter::source).

#pragma once

namespace gpuprof::analysis {

// Nsight Systems: a value is of the time since the one before, as of gpuprof's own counters.
// Values of other sources stand until the next one.
inline constexpr char kNsysCounters[] = "nsys";

}  // namespace gpuprof::analysis
