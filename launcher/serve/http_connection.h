// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One connection of the HTTP server: what has come, and how an answer goes out. One thread at a
// time.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/serve/http_messages.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

using HttpClock = std::chrono::steady_clock;

class HttpConnection : public HttpWriter {
 public:
  // Most bytes of a request: its first line and its headers.
  static constexpr size_t kHeadBytes = 16 << 10;

  // Takes a descriptor `stop` that becomes readable when the server stops.
  HttpConnection(codec::OwnedFile socket, int stop);

  int fd() const { return socket_.fd(); }

  // Takes what has come, without waiting. Returns false if nothing more will come.
  bool Take();
  // Returns the whole head of the next request, or "". Valid until DropHead.
  std::string_view Head() const { return {input_.data(), head_bytes_}; }
  // Returns whether the head has more bytes than a head may have.
  bool IsTooLong() const { return head_bytes_ == 0 && input_.size() >= kHeadBytes; }
  bool HasInput() const { return !input_.empty(); }
  // Goes over to the next request.
  void DropHead();

  // Begins an answer: from now on its time counts.
  void BeginAnswer();
  // Waits for a slow client as long as it takes bytes.
  bool Write(std::string_view bytes) override;
  bool IsGone() override;
  // Sends what fits at once, and says that nothing follows. What still comes is thrown away:
  // closing at once would destroy the answer on its way.
  void End(std::string_view last);
  bool is_ending() const { return is_ending_; }

  int requests = 0;                // that were answered
  HttpClock::time_point deadline;  // while it waits for a head, or for its end

 private:
  bool AwaitRoom();

  codec::OwnedFile socket_;
  const int stop_;
  std::string input_;
  size_t head_bytes_ = 0;
  bool is_ending_ = false;
  HttpClock::time_point answer_begin_;
  uint64_t written_ = 0;  // of an answer
};

}  // namespace gpuprof::launcher
