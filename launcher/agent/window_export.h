// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Has a bundle, or a time of it, written as XSpaces by `gpuprof export` in a process of its own. So
// the agent stays small, and an export that takes too long, or too much memory, can be ended. One
// thread for a call.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/agent/rpc_call.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

struct ExportOrder {
  std::string bundle;
  // In ns of CLOCK_REALTIME; none: all.
  std::optional<std::pair<int64_t, int64_t>> window;
  // As whom the bundle is read, if the agent is root. None: as root.
  std::optional<uid_t> user;
  RpcCall::Clock::time_point end;  // the export is ended then
  uint64_t most_bytes = 0;         // of a file
};

struct ExportedFile {
  std::string stem;  // its name without ".xplane.pb"
  std::shared_ptr<const codec::OwnedFile> file;
  uint64_t bytes = 0;
};

struct ExportOutcome {
  std::vector<ExportedFile> files;
  std::vector<std::string> said;  // by the export
  std::string fault;              // cause and fix; empty: it is done
};

// Runs the export. Its files have lost their names when this returns.
ExportOutcome ExportWindow(const ExportOrder& order, const RpcCall& call);

}  // namespace gpuprof::launcher
