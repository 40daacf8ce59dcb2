// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One call of a client, as the service sees it. The server makes it and hands it over; the client
// may leave at any moment. Any thread.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "launcher/agent/http2_session.h"

namespace gpuprof::launcher {

class RpcCall {
 public:
  using Clock = std::chrono::steady_clock;
  // `user`: whose processes the client may see; none: all of the agent's. `answer`: takes the
  // answer, on the thread that gives it.
  RpcCall(RpcRequest request, std::optional<uid_t> user, std::function<void(RpcAnswer)> answer);

  const RpcRequest& request() const { return request_; }
  std::optional<uid_t> user() const { return user_; }
  // Returns when the client stops waiting; none: it waits for ever.
  std::optional<Clock::time_point> deadline() const { return deadline_; }

  // Returns whether nobody waits for the answer any more.
  bool IsGone() const;
  // Waits. Returns false as soon as nobody waits for the answer any more.
  bool WaitUntil(Clock::time_point time) const;
  // Answers. The first answer counts, and none after the client has gone.
  void Answer(RpcAnswer answer);
  void Fail(GrpcStatus status, std::string words);
  // Says that nobody waits any more.
  void Leave();

 private:
  RpcRequest request_;
  std::optional<uid_t> user_;
  std::optional<Clock::time_point> deadline_;
  std::function<void(RpcAnswer)> answer_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool is_gone_ = false;
  bool is_answered_ = false;
};

// Who carries calls out.
class RpcService {
 public:
  virtual ~RpcService() = default;
  // Begins a call. Must not wait: all clients do meanwhile.
  virtual void Begin(std::shared_ptr<RpcCall> call) = 0;
};

}  // namespace gpuprof::launcher
