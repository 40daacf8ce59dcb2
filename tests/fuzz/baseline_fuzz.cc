// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Saved baselines, which anybody can make: the input is the message of a baseline. It gets a header
// whose checksum holds, so that mutations reach the message. Whatever a file holds, it is read or
// refused with a reason, and so are its cut and damaged copies. With GPUPROF_FUZZ_COMPARISON, what
// was read is compared and shown.

#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "proto/results/baseline.pb.h"
#include "tests/fuzz/temp_files.h"

namespace analysis = gpuprof::analysis;
using gpuprof::fuzz::Check;
using Message = std::unique_ptr<google::protobuf::Message>;

// libprotobuf would print a line for each string that is not UTF-8.
#if GOOGLE_PROTOBUF_VERSION < 4022000
static const bool is_quiet = (google::protobuf::SetLogHandler(nullptr), true);
#endif

namespace {

constexpr char kPath[] = "main.baseline";
constexpr size_t kVersionAt = 8, kLengthAt = 16, kChecksumAt = 24, kHeaderBytes = 32;

template <typename Value>
void Put(size_t at, Value value, std::string* file) {
  std::memcpy(file->data() + at, &value, sizeof value);
}

// Returns a file that holds these bytes in place of a message.
std::string FileOf(std::string_view message) {
  const gpuprof::results::Baseline empty;
  std::string file = analysis::BaselineBytes(empty, {}).substr(0, kHeaderBytes);
  Put(kLengthAt, uint64_t{message.size()}, &file);
  uint64_t sum = 0xcbf29ce484222325u;
  for (const char c : message) sum = (sum ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  Put(kChecksumAt, sum, &file);
  return file.append(message);
}

// Returns what a file holds. Null: it was refused, and the reason says what to do.
Message Read(std::string_view file) {
  Message baseline;
  const analysis::Error error = analysis::ParseBaseline(file, kPath, &baseline);
  Check(static_cast<bool>(error) == (baseline == nullptr));
  if (!error) return baseline;
  Check(error.kind == analysis::ErrorKind::kUnreadable);
  Check(error.message.starts_with(kPath) && error.message.ends_with('.'));
  Check(error.message.find("save") != std::string::npos);
  return nullptr;
}

void CheckDamage(const std::string& file) {
  for (const size_t bytes : {size_t{0}, kHeaderBytes - 1, file.size() - 1})
    Check(Read(std::string_view(file).substr(0, bytes)) == nullptr);
  Check(Read(file + "x") == nullptr);
  for (const size_t at : {size_t{0}, kLengthAt, kChecksumAt, file.size() - 1}) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    Check(Read(damaged) == nullptr);
  }
  std::string other = file;
  for (const uint32_t version : {0u, 2u, 0xffffffffu}) {
    Put(kVersionAt, version, &other);
    Check(Read(other) == nullptr);
  }
}

#if GPUPROF_FUZZ_COMPARISON
bool IsPlain(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\r') || c == 0x7f;
  });
}

void Show(const google::protobuf::Message& result) {
  for (const auto format : {analysis::Format::kText, analysis::Format::kJson})
    Check(IsPlain(analysis::Render(result, format, {}, 100)));
  analysis::Render(result, analysis::Format::kCsv, {}, 0);
}

void Compare(const google::protobuf::Message& baseline) {
  Show(baseline);
  Show(*analysis::ListBaselines("folder", {}));
  const gpuprof::results::Baseline empty;
  const google::protobuf::Message* sides[] = {&baseline, &empty};
  for (const auto* before : sides) {
    for (const auto* after : sides) {
      Message diff;
      Check(!analysis::CompareBaselines(*before, *after, &diff));
      Show(*diff);
      Check(IsPlain(analysis::CompareMarkdown(*diff, {})));
      analysis::IsRegression(*diff);
    }
  }
}
#else
void Compare(const google::protobuf::Message&) {}
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  Read(input);
  const std::string file = FileOf(input);
  CheckDamage(file);
  const Message baseline = Read(file);
  if (baseline == nullptr) return 0;
  // What was read can be saved again.
  const Message again = Read(analysis::BaselineBytes(*baseline, {"main", 1, "1.0.0"}));
  Check(again != nullptr);
  Compare(*again);
  return 0;
}
