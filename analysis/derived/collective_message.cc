// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/collective_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace gpuprof::analysis {
namespace {

// Steps through the members of a flat object of JSON. A value is as the text has it, and texts are
// without their quotes.
class MemberScanner {
 public:
  explicit MemberScanner(std::string_view text) : text_(text) {}

  bool Next(std::string_view* key, std::string_view* value) {
    at_ = text_.find('"', at_);
    if (at_ == std::string_view::npos || !TakeText(key)) return false;
    at_ = text_.find(':', at_);
    if (at_ == std::string_view::npos) return false;
    at_ = text_.find_first_not_of(' ', at_ + 1);
    if (at_ == std::string_view::npos) return false;
    if (text_[at_] == '"') return TakeText(value);
    const size_t begin = at_;
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '[' || c == '{') ++depth;
      if (depth == 0 && (c == ',' || c == '}')) break;
      if (c == ']' || c == '}') --depth;
    }
    *value = text_.substr(begin, at_ - begin);
    return true;
  }

 private:
  bool TakeText(std::string_view* text) {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return false;
    *text = text_.substr(begin, at_ - begin);
    ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

int64_t WholeOf(std::string_view text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

std::string LettersOf(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') letters += c;
  }
  return letters;
}

}  // namespace

uint64_t BytesOfType(std::string_view type) {
  constexpr std::pair<std::string_view, uint64_t> kTypes[] = {{"ComplexDouble", 16},
                                                              {"ComplexFloat", 8},
                                                              {"Double", 8},
                                                              {"double", 8},
                                                              {"Long", 8},
                                                              {"long", 8},
                                                              {"UInt64", 8},
                                                              {"unsigned long", 8},
                                                              {"Float8", 1},
                                                              {"Float4", 1},
                                                              {"Float", 4},
                                                              {"float", 4},
                                                              {"Int", 4},
                                                              {"int", 4},
                                                              {"UInt32", 4},
                                                              {"BFloat16", 2},
                                                              {"Half", 2},
                                                              {"Short", 2},
                                                              {"short", 2},
                                                              {"UInt16", 2},
                                                              {"Byte", 1},
                                                              {"Char", 1},
                                                              {"Bool", 1},
                                                              {"bool", 1},
                                                              {"signed char", 1},
                                                              {"unsigned char", 1}};
  if (type.starts_with("c10::")) type.remove_prefix(5);
  for (const auto& [name, bytes] : kTypes)
    if (type.starts_with(name)) return bytes;
  return 0;
}

std::optional<CollectiveMessage> ReadMessage(std::string_view detail) {
  CollectiveMessage message;
  int64_t in = -1, out = -1;
  std::string_view type, key, value;
  MemberScanner scanner(detail);
  while (scanner.Next(&key, &value)) {
    if (key == "Collective name") {
      message.name = value;
    } else if (key == "Process Group Name") {
      message.group = value;
    } else if (key == "Process Group Description") {
      message.description = value;
    } else if (key == "Process Group Ranks") {
      message.ranks = value;
    } else if (key == "Group size") {
      message.group_size = static_cast<uint32_t>(std::max<int64_t>(0, WholeOf(value)));
    } else if (key == "Seq") {
      message.sequence = WholeOf(value);
    } else if (key == "Src Rank") {
      message.source = WholeOf(value);
    } else if (key == "Dst Rank") {
      message.destination = WholeOf(value);
    } else if (key == "Global rank start") {
      message.rank_start = WholeOf(value);
    } else if (key == "Global rank stride") {
      message.rank_stride = WholeOf(value);
    } else if (key == "In msg nelems") {
      in = WholeOf(value);
    } else if (key == "Out msg nelems") {
      out = WholeOf(value);
    } else if (key == "dtype") {
      type = value;
    }
  }
  if (message.name.empty() && message.group.empty()) return std::nullopt;
  const auto bytes = static_cast<int64_t>(BytesOfType(type));
  constexpr int64_t kMostElements = int64_t{1} << 50;
  if (bytes != 0 && in >= 0 && in < kMostElements)
    message.in_bytes = static_cast<uint64_t>(in * bytes);
  if (bytes != 0 && out >= 0 && out < kMostElements)
    message.out_bytes = static_cast<uint64_t>(out * bytes);
  return message;
}

CollectiveKind KindOfCollective(std::string_view name) {
  // The first that is in the name decides.
  constexpr std::pair<std::string_view, CollectiveKind> kWords[] = {
      {"allreduce", CollectiveKind::kAllReduce}, {"reducescatter", CollectiveKind::kReduceScatter},
      {"allgather", CollectiveKind::kAllGather}, {"alltoall", CollectiveKind::kAllToAll},
      {"broadcast", CollectiveKind::kBroadcast}, {"bcast", CollectiveKind::kBroadcast},
      {"barrier", CollectiveKind::kBarrier},     {"gather", CollectiveKind::kGather},
      {"scatter", CollectiveKind::kScatter},     {"reduce", CollectiveKind::kReduce}};
  const std::string letters = LettersOf(name);
  for (const auto& [word, kind] : kWords)
    if (letters.find(word) != std::string::npos) return kind;
  // A kernel that sends and receives may be of an operation of all ranks.
  if (letters.find("sendrecv") != std::string::npos) return CollectiveKind::kUnknown;
  if (letters.find("recv") != std::string::npos) return CollectiveKind::kReceive;
  if (letters.find("send") != std::string::npos) return CollectiveKind::kSend;
  return CollectiveKind::kUnknown;
}

std::string_view KindName(CollectiveKind kind) {
  constexpr std::array<std::string_view, kCollectiveKinds> kNames = {
      "",       "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
      "reduce", "gather",     "scatter",    "barrier",        "send",       "receive"};
  return kNames[static_cast<size_t>(kind)];
}

bool EndsTogether(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kUnknown:  // as a rule it does
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBarrier:
      return true;
    default:
      return false;
  }
}

bool WaitsForAll(CollectiveKind kind) {
  return EndsTogether(kind) && kind != CollectiveKind::kUnknown &&
         kind != CollectiveKind::kAllToAll;
}

std::optional<uint64_t> SizeOf(const CollectiveMessage& message) {
  if (!message.in_bytes && !message.out_bytes) return std::nullopt;
  return std::max(message.in_bytes.value_or(0), message.out_bytes.value_or(0));
}

double BusFactor(CollectiveKind kind, uint64_t ranks) {
  if (ranks < 2) return 0;
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return (n - 1) / n;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSend:
    case CollectiveKind::kReceive:
      return 1;
    default:
      return 0;
  }
}

}  // namespace gpuprof::analysis
