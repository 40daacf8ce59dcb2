// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rates of an operation and which resource it uses most, by XProf's arithmetic. Pure, any thread.

#pragma once

#include <string>
#include <string_view>

#include "analysis/xprof/op_stats.h"

namespace gpuprof::analysis::xprof {

struct OpRates {
  double flop_rate = 0, model_flop_rate = 0;  // GFLOP/s
  double memory_rate = 0, hbm_rate = 0;       // GiB/s
  double intensity = 0, hbm_intensity = 0, bottleneck_intensity = 0;
  std::string_view bound_by = "Unknown";
};
OpRates RatesOf(const OpMetrics& op, const OpStats& stats);

// Returns the source of an operation as a cell of a page.
std::string SourceCell(const OpMetrics& op);

}  // namespace gpuprof::analysis::xprof
