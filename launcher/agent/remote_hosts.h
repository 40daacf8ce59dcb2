// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Asks several servers at once for a capture, for `gpuprof capture`. One thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launcher/agent/addresses.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

struct RemoteOrder {
  std::vector<HostPort> hosts;
  std::chrono::milliseconds length{0};
  std::string session_id;
  std::string token;  // empty: none
  uint64_t most_answer_bytes = uint64_t{1} << 30;
};

struct RemoteAnswer {
  codec::OwnedFile file;  // without a name
  uint64_t bytes = 0;
  std::string fault;  // cause and fix; empty: the answer is whole
};

// Captures on all servers at the same time. Returns an answer of each, in their order. Ends early,
// and tells the servers so, if `end` can be read.
std::vector<RemoteAnswer> CaptureHosts(const RemoteOrder& order, int end);

}  // namespace gpuprof::launcher
