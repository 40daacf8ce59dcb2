// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One connection of a client that calls by gRPC over HTTP/2 in the clear, without its socket: bytes
// that came go in, bytes to be sent come out. nghttp2 does HTTP/2. The limits are ours: a client
// may be anybody. One thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/agent/body.h"
#include "launcher/agent/grpc_frames.h"

namespace gpuprof::launcher {

struct RpcRequest {
  std::string method;         // "/tensorflow.ProfilerService/Profile"
  std::string authorization;  // the header; empty: it is missing
  std::optional<std::chrono::nanoseconds> timeout;
  std::string message;
};

struct RpcAnswer {
  GrpcStatus status = GrpcStatus::kOk;
  std::string words;  // of a status that is not kOk
  Body body;          // the message, without its head
};

// Who answers calls.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  // A call is there, whole. The answer may come later: Http2Session::Answer().
  virtual void OnCall(int32_t stream, RpcRequest request) = 0;
  // The client of a call has gone, before it got an answer.
  virtual void OnGone(int32_t stream) = 0;
};

class Http2Session {
 public:
  static constexpr uint32_t kMostCalls = 16;
  static constexpr uint64_t kMostMessageBytes = uint64_t{1} << 20;
  static constexpr size_t kMostHeaderBytes = 16 << 10;
  // Calls that a client may give up before its connection ends.
  static constexpr int kMostResets = 200;

  // The handler must outlive the session. It is called by Receive() alone.
  explicit Http2Session(CallHandler* handler);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // Takes bytes that came. Returns false if the connection must end.
  bool Receive(std::string_view bytes);
  // Adds bytes to be sent, until there are about `most`. Returns false if the connection must end.
  bool Send(std::string* bytes, size_t most);
  // Answers a call. Nothing happens if its client has gone.
  void Answer(int32_t stream, RpcAnswer answer);
  // Returns whether nothing is to come and nothing is to be sent.
  bool IsOver() const;
  // Returns the number of calls that are not answered to their end.
  size_t OpenCalls() const;
  // Returns whether a whole call has ever come.
  bool HasCalled() const;
  // Tells the client that no more calls are taken.
  void Close();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace gpuprof::launcher
