// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// gRPC on top of HTTP/2: a message with its head of five bytes, the limit of a call's time, and the
// words of a status. Any thread; an object on one.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::launcher {

// What a call ended with: the codes of gRPC that are used here.
enum class GrpcStatus : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kUnauthenticated = 16,
};
// Returns the code's name: "UNAVAILABLE".
std::string GrpcStatusName(int status);

inline constexpr size_t kGrpcHeadBytes = 5;
// Returns the head of a message of this length.
std::string GrpcHead(uint32_t length);

// Takes the one message of a direction of a call, piece by piece.
class GrpcMessageReader {
 public:
  // Takes a piece of the message. Returns false to get no more.
  using Sink = std::function<bool(std::string_view piece)>;
  GrpcMessageReader(uint64_t most_bytes, Sink sink) : most_(most_bytes), sink_(std::move(sink)) {}

  // Takes what came. kOk: go on. Otherwise words() says what is wrong.
  GrpcStatus Feed(std::string_view bytes);
  // Returns whether the message is there, whole.
  bool IsWhole() const { return head_.size() == kGrpcHeadBytes && left_ == 0 && words_.empty(); }
  const std::string& words() const { return words_; }

 private:
  GrpcStatus Fail(GrpcStatus status, std::string words);

  uint64_t most_;
  Sink sink_;
  std::string head_;
  uint64_t left_ = 0;
  std::string words_;
};

// Reads the header grpc-timeout: "60S", "1500m". None: it is no time.
std::optional<std::chrono::nanoseconds> ParseGrpcTimeout(std::string_view text);
// Writes it.
std::string FormatGrpcTimeout(std::chrono::milliseconds time);

// Writes words as the header grpc-message has them, and reads them.
std::string EscapeGrpcWords(std::string_view words);
std::string UnescapeGrpcWords(std::string_view words);

}  // namespace gpuprof::launcher
