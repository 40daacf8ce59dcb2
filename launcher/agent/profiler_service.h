// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// TensorFlow's ProfilerService. Errors of this protocol do not reach people: their clients show one
// sentence for all. So what must be said goes into a small trace, which XProf shows.
//
// Begin() on one thread. Each call that takes long has a thread of its own.

#pragma once

#include <memory>
#include <string>

#include "launcher/agent/capturer.h"
#include "launcher/agent/kept_runs.h"
#include "launcher/agent/rpc_call.h"

namespace gpuprof::launcher {

class ProfilerService : public RpcService {
 public:
  static constexpr std::chrono::minutes kLongest{10};
  static constexpr uint64_t kMostAnswerBytes = uint64_t{1} << 30;

  // `host`: this machine's name. `log_folder`: keeps what was captured; empty: nothing does. The
  // capturer must outlive the service.
  ProfilerService(Capturer* capturer, const std::string& host, std::string log_folder,
                  KeepLimit keep = {});
  // Waits for all calls. Their clients must be gone.
  ~ProfilerService() override;

  void Begin(std::shared_ptr<RpcCall> call) override;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace gpuprof::launcher
