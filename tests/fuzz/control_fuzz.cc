// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a client of the control socket may send. The first byte of the input chooses how many bytes
// arrive at a time; the rest are the bytes. The line must not depend on how the bytes arrive, and a
// request either has a verb or is refused with a reason.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "inject/control_request.h"
#include "proto/control.h"
#include "tests/fuzz/temp_files.h"

using gpuprof::fuzz::Check;
using gpuprof::inject::ParseRequest;
using gpuprof::inject::Request;
using gpuprof::inject::RequestLine;
using gpuprof::inject::Verb;

namespace {

// Gives the line its bytes, `step` at a time, as control_socket.cc reads them.
RequestLine::State Feed(const std::string& sent, size_t step, RequestLine* line) {
  auto state = RequestLine::State::kMore;
  line->Clear();
  for (size_t at = 0; at < sent.size() && state == RequestLine::State::kMore;) {
    Check(line->room() > 0 && line->room() < RequestLine::kCapacity);
    const size_t bytes = std::min({step, line->room(), sent.size() - at});
    std::memcpy(line->end(), sent.data() + at, bytes);
    state = line->Grow(bytes);
    at += bytes;
  }
  return state;
}

RequestLine::State ExpectedState(const std::string& sent) {
  constexpr size_t kMost = RequestLine::kCapacity - 1;
  if (sent.find('\n') < kMost) return RequestLine::State::kComplete;
  return sent.size() < kMost ? RequestLine::State::kMore : RequestLine::State::kTooLong;
}

bool IsPlain(const std::string& name) {
  constexpr char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  return name.size() <= gpuprof::proto::kMostSnapshotName &&
         name.find_first_not_of(kPlain) == std::string::npos;
}

// The verbs by the words of the protocol, in another way than the parser's.
void CheckRequest(const std::string& line, const Request& request) {
  namespace proto = gpuprof::proto;
  Check((request.verb == Verb::kUnknown) == (request.error != nullptr));
  Check((request.verb == Verb::kStatus) == (line == proto::kVerbStatus));
  Check((request.verb == Verb::kStart) == (line == proto::kVerbStart));
  Check((request.verb == Verb::kStop) == (line == proto::kVerbStop));
  Check((request.verb == Verb::kToggle) == (line == proto::kVerbToggle));
  const std::string named = std::string(proto::kVerbSnapshot) + " ";
  const bool has_name = line.compare(0, named.size(), named) == 0;
  const std::string name = has_name ? line.substr(named.size()) : "";
  const bool is_snapshot = (has_name || line == proto::kVerbSnapshot) && IsPlain(name);
  Check((request.verb == Verb::kSnapshot) == is_snapshot);
  Check((request.name != nullptr) == is_snapshot);
  if (is_snapshot) Check(request.name == name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string sent(reinterpret_cast<const char*>(data + 1), size - 1);
  RequestLine line;
  const RequestLine::State state = Feed(sent, data[0] % 32 + size_t{1}, &line);
  Check(state == ExpectedState(sent));
  if (state != RequestLine::State::kComplete) return 0;
  // A zero byte ends the text.
  const std::string text = sent.substr(0, sent.find('\n')).c_str();
  Check(text == line.text());
  CheckRequest(text, ParseRequest(line.text()));
  return 0;
}
