// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rpc_call.h.

#include "launcher/agent/rpc_call.h"

#include <algorithm>

namespace gpuprof::launcher {

RpcCall::RpcCall(RpcRequest request, std::optional<uid_t> user,
                 std::function<void(RpcAnswer)> answer)
    : request_(std::move(request)), user_(user), answer_(std::move(answer)) {
  // A longer wait than a day is one for ever.
  constexpr auto kMost = std::chrono::hours(24);
  if (request_.timeout && *request_.timeout < kMost) deadline_ = Clock::now() + *request_.timeout;
}

bool RpcCall::IsGone() const {
  const std::lock_guard lock(mutex_);
  return is_gone_;
}

bool RpcCall::WaitUntil(Clock::time_point time) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, time, [this] { return is_gone_; });
  return !is_gone_;
}

void RpcCall::Answer(RpcAnswer answer) {
  {
    const std::lock_guard lock(mutex_);
    if (is_gone_ || is_answered_) return;
    is_answered_ = true;
  }
  answer_(std::move(answer));
}

void RpcCall::Fail(GrpcStatus status, std::string words) {
  RpcAnswer answer;
  answer.status = status;
  answer.words = std::move(words);
  Answer(std::move(answer));
}

void RpcCall::Leave() {
  const std::lock_guard lock(mutex_);
  is_gone_ = true;
  changed_.notify_all();
}

}  // namespace gpuprof::launcher
