// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the service asks of this machine: traces of a time, and words. Behind an interface, so that
// the service can be tested without processes. Calls come from several threads, and may take long.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/profiler_messages.h"
#include "launcher/agent/rpc_call.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

// A trace that was captured, as an XSpace in a file without a name.
struct CapturedTrace {
  std::string name;  // of the data of a tool: "xplane.pb", "rank1.xplane.pb"
  std::shared_ptr<const codec::OwnedFile> file;
  uint64_t bytes = 0;
};

struct CaptureResult {
  std::vector<CapturedTrace> traces;
  SpaceWords words;  // errors if there is no trace; warnings about losses
};

class Capturer {
 public:
  virtual ~Capturer() = default;
  // Captures for this time and makes traces of it, until `export_end` at the latest. Ends early if
  // nobody waits for the call any more.
  virtual CaptureResult Capture(std::chrono::milliseconds length,
                                RpcCall::Clock::time_point export_end, const RpcCall& call) = 0;
  // Makes traces of what flight recorders hold.
  virtual CaptureResult Snapshot(RpcCall::Clock::time_point export_end, const RpcCall& call) = 0;
  // Starts the flight recorders that do not record, and stops those again. Returns empty, or cause
  // and fix.
  virtual std::string StartRecorders(const RpcCall& call) = 0;
  virtual std::string StopRecorders(const RpcCall& call) = 0;
  // Returns lines about the processes that can be captured.
  virtual std::string Describe(std::optional<uid_t> user) = 0;
};

}  // namespace gpuprof::launcher
