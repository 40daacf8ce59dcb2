// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Captures processes of this machine, for `gpuprof agent`: as `gpuprof ctl start` and `stop` do,
// then `gpuprof export`. Any thread.

#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "launcher/agent/capture_group.h"
#include "launcher/agent/capture_guard.h"
#include "launcher/agent/capturer.h"
#include "launcher/agent/window_export.h"

namespace gpuprof::launcher {

class LocalCapture : public Capturer {
 public:
  // `choice`: without a user. The guard must outlive this.
  LocalCapture(ProcessChoice choice, CaptureGuard* guard)
      : choice_(std::move(choice)), guard_(guard) {}

  CaptureResult Capture(std::chrono::milliseconds length, RpcCall::Clock::time_point export_end,
                        const RpcCall& call) override;
  CaptureResult Snapshot(RpcCall::Clock::time_point export_end, const RpcCall& call) override;
  std::string StartRecorders(const RpcCall& call) override;
  std::string StopRecorders(const RpcCall& call) override;
  std::string Describe(std::optional<uid_t> user) override;
  // Stops the flight recorders that are still running for a client.
  void StopAll();

 private:
  ProcessChoice ChoiceOf(std::optional<uid_t> user) const;

  // Start and stop processes, and tell the guard.
  void Start(CaptureGroup* group, bool only_recorders);
  void Stop(CaptureGroup* group);

  ProcessChoice choice_;
  CaptureGuard* guard_;
  std::mutex mutex_;
  CaptureGroup recorders_;  // that StartRecorders() started
};

}  // namespace gpuprof::launcher
