// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How a process ended. See passes.h.

#include <algorithm>

#include "analysis/base/units.h"
#include "analysis/passes/passes.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

std::string EndOf(const Process& process) {
  if (process.alive) return "still running";
  if (!process.has_end) return kNoEndRecorded;
  const std::string status = std::to_string(process.exit_status);
  switch (static_cast<proto::ExitWay>(process.exit_way)) {
    case proto::ExitWay::kReturn:
      return "exit " + status;
    case proto::ExitWay::kUnderscore:
      return "_exit " + status;
    case proto::ExitWay::kQuick:
      return "quick_exit " + status;
    case proto::ExitWay::kAbort:
      return "abort";
    case proto::ExitWay::kExec:
      return "became another program";
    case proto::ExitWay::kSnapshot:
      return "snapshot";
    case proto::ExitWay::kFiltered:
      return "went on unrecorded in a sandbox (seccomp)";
    case proto::ExitWay::kAlone:
      return "went on unrecorded: it needs a single thread";
    case proto::ExitWay::kRights:
      return "went on unrecorded after it gave rights up";
    case proto::ExitWay::kLimits:
      return "went on unrecorded: a limit left it too little memory or threads";
    case proto::ExitWay::kDetached:
      return "went on after gpuprof detach";
    case proto::ExitWay::kUnknown:
      break;
  }
  constexpr int32_t kBySignal = 128;
  // By the system call alone, as libc's own daemon() ends the parent.
  if (process.exit_status >= 0 && process.exit_status <= kBySignal) return "_exit " + status;
  const std::string how =
      process.exit_status > kBySignal
          ? "killed by signal " + std::to_string(process.exit_status - kBySignal)
          : "killed, or a raw exit";
  return process.recovered ? how + "; trace recovered" : how;
}

}  // namespace gpuprof::analysis
