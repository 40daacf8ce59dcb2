// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One call to a server by gRPC over HTTP/2, without its socket: bytes that came go in, bytes to be
// sent come out. The server may be anybody. One thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gpuprof::launcher {

struct RemoteRequest {
  std::string authority;  // HOST:PORT
  std::string method;
  std::string message;
  std::string token;  // empty: none
  std::chrono::milliseconds timeout{0};
  uint64_t most_answer_bytes = 0;
  // Takes a piece of the answer. Returns false to get no more.
  std::function<bool(std::string_view piece)> sink;
};

class RemoteCall {
 public:
  explicit RemoteCall(RemoteRequest request);
  ~RemoteCall();
  RemoteCall(const RemoteCall&) = delete;
  RemoteCall& operator=(const RemoteCall&) = delete;

  // Takes bytes that came.
  void Receive(std::string_view bytes);
  // Adds bytes to be sent.
  void Send(std::string* bytes);
  // Tells that no more bytes will come.
  void EndOfConnection();
  // Gives the call up: the server is told.
  void Cancel();

  bool is_done() const;
  // Returns what went wrong; empty: the answer is whole.
  const std::string& fault() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace gpuprof::launcher
