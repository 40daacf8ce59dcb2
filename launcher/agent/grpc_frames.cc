// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See grpc_frames.h.

#include "launcher/agent/grpc_frames.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace gpuprof::launcher {

std::string GrpcStatusName(int status) {
  constexpr std::string_view kNames[] = {"OK",
                                         "CANCELLED",
                                         "UNKNOWN",
                                         "INVALID_ARGUMENT",
                                         "DEADLINE_EXCEEDED",
                                         "NOT_FOUND",
                                         "ALREADY_EXISTS",
                                         "PERMISSION_DENIED",
                                         "RESOURCE_EXHAUSTED",
                                         "FAILED_PRECONDITION",
                                         "ABORTED",
                                         "OUT_OF_RANGE",
                                         "UNIMPLEMENTED",
                                         "INTERNAL",
                                         "UNAVAILABLE",
                                         "DATA_LOSS",
                                         "UNAUTHENTICATED"};
  const bool is_known = status >= 0 && static_cast<size_t>(status) < std::size(kNames);
  return is_known ? std::string(kNames[status]) : "status " + std::to_string(status);
}

std::string GrpcHead(uint32_t length) {
  std::string head(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) head.push_back(static_cast<char>(length >> shift));
  return head;
}

GrpcStatus GrpcMessageReader::Fail(GrpcStatus status, std::string words) {
  words_ = std::move(words);
  return status;
}

GrpcStatus GrpcMessageReader::Feed(std::string_view bytes) {
  if (!words_.empty()) return GrpcStatus::kInternal;
  while (!bytes.empty()) {
    if (head_.size() < kGrpcHeadBytes) {
      const size_t piece = std::min(kGrpcHeadBytes - head_.size(), bytes.size());
      head_.append(bytes.substr(0, piece));
      bytes.remove_prefix(piece);
      if (head_.size() < kGrpcHeadBytes) return GrpcStatus::kOk;
      if (head_[0] != 0)
        return Fail(GrpcStatus::kUnimplemented, "compressed messages are not understood");
      for (size_t i = 1; i < kGrpcHeadBytes; ++i)
        left_ = left_ << 8 | static_cast<unsigned char>(head_[i]);
      if (left_ > most_) {
        return Fail(GrpcStatus::kResourceExhausted, "a message of " + std::to_string(left_) +
                                                        " bytes is too long; " +
                                                        std::to_string(most_) + " are taken");
      }
      continue;
    }
    if (left_ == 0) return Fail(GrpcStatus::kUnimplemented, "a second message came in one call");
    const size_t piece = static_cast<size_t>(std::min<uint64_t>(left_, bytes.size()));
    left_ -= piece;
    if (!sink_(bytes.substr(0, piece)))
      return Fail(GrpcStatus::kInternal, "the message could not be kept");
    bytes.remove_prefix(piece);
  }
  return GrpcStatus::kOk;
}

std::optional<std::chrono::nanoseconds> ParseGrpcTimeout(std::string_view text) {
  constexpr size_t kMostDigits = 8;
  if (text.size() < 2 || text.size() > kMostDigits + 1) return std::nullopt;
  uint64_t number = 0;
  const char* last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  uint64_t unit = 0;
  switch (*last) {
    case 'H':
      unit = 3'600'000'000'000;
      break;
    case 'M':
      unit = 60'000'000'000;
      break;
    case 'S':
      unit = 1'000'000'000;
      break;
    case 'm':
      unit = 1'000'000;
      break;
    case 'u':
      unit = 1'000;
      break;
    case 'n':
      unit = 1;
      break;
    default:
      return std::nullopt;
  }
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (number > kMost / unit) return std::chrono::nanoseconds(kMost);
  return std::chrono::nanoseconds(static_cast<int64_t>(number * unit));
}

std::string FormatGrpcTimeout(std::chrono::milliseconds time) {
  constexpr int64_t kMost = 99'999'999;
  return time.count() <= kMost ? std::to_string(std::max<int64_t>(time.count(), 0)) + "m"
                               : std::to_string(std::min(time.count() / 1000, kMost)) + "S";
}

std::string EscapeGrpcWords(std::string_view words) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : words) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7e && c != '%') {
      text += c;
    } else {
      text += {'%', kDigits[byte >> 4], kDigits[byte & 0xf]};
    }
  }
  return text;
}

std::string UnescapeGrpcWords(std::string_view words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    unsigned byte = 0;
    const char* from = words.data() + i + 1;
    const bool is_escape = words[i] == '%' && i + 2 < words.size() &&
                           std::from_chars(from, from + 2, byte, 16).ptr == from + 2;
    text += is_escape ? static_cast<char>(byte) : words[i];
    if (is_escape) i += 2;
  }
  return text;
}

}  // namespace gpuprof::launcher
