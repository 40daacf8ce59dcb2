// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bytes of a saved baseline: a header, then the message of proto/results/baseline.proto. The
// header has a mark, a version, and the length and a checksum of the message. All numbers are
// little-endian. Pure; any thread.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "proto/results/baseline.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr char kMark[8] = {'g', 'p', 'u', 'p', 'r', 'o', 'f', 'B'};
// Rises if figures change their meaning. Fields that are only added do not need a new version.
constexpr uint32_t kVersion = 1;

struct Header {
  char mark[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t length;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 32);

// FNV-1a.
uint64_t ChecksumOf(std::string_view bytes) {
  uint64_t sum = 0xcbf29ce484222325u;
  for (const char c : bytes) sum = (sum ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return sum;
}

// Sums of a few thousand times stay in 64 bits.
bool IsTime(int64_t ns) { return ns >= 0 && ns < int64_t{1} << 52; }

bool AreRows(const google::protobuf::RepeatedPtrField<results::BaselineRow>& rows) {
  constexpr double kMostCount = 1e18;
  constexpr int kMostSamples = 4096;
  return std::all_of(rows.begin(), rows.end(), [](const results::BaselineRow& row) {
    return IsTime(row.total_ns()) && row.count() >= 0 && row.count() < kMostCount &&
           row.step_ns_size() <= kMostSamples &&
           std::all_of(row.step_ns().begin(), row.step_ns().end(), IsTime) &&
           std::all_of(row.shapes().begin(), row.shapes().end(), [](const auto& shape) {
             return shape.count_ratio() >= 0 && shape.count_ratio() <= 1;
           });
  });
}

// Returns whether a comparison can compute with the figures. The checksum finds damage alone:
// anybody can make a file.
bool IsPossible(const results::Baseline& baseline) {
  constexpr int kMostSteps = 4096;
  return baseline.step_ns_size() <= kMostSteps &&
         std::all_of(baseline.step_ns().begin(), baseline.step_ns().end(), IsTime) &&
         IsTime(baseline.step_median_ns()) && IsTime(baseline.step_mean_ns()) &&
         IsTime(baseline.whole_ns()) && AreRows(baseline.kernels()) && AreRows(baseline.ops()) &&
         results::StepWindow_IsValid(baseline.window()) &&
         results::StepMethod_IsValid(baseline.method()) &&
         std::all_of(baseline.categories().begin(), baseline.categories().end(),
                     [](const results::CategoryTime& part) {
                       return results::TimeCategory_IsValid(part.category()) &&
                              IsTime(part.total_ns());
                     });
}

Error Unreadable(const std::string& path, const std::string& why) {
  return {ErrorKind::kUnreadable, path + " " + why};
}

}  // namespace

std::string BaselineBytes(const google::protobuf::Message& baseline, const BaselineLabel& label) {
  results::Baseline labelled = static_cast<const results::Baseline&>(baseline);
  labelled.set_name(label.name);
  labelled.set_saved_realtime_ns(label.saved_realtime_ns);
  labelled.set_writer_version(label.writer_version);
  const std::string message = labelled.SerializeAsString();
  Header header = {};
  std::memcpy(header.mark, kMark, sizeof kMark);
  header.version = kVersion;
  header.length = message.size();
  header.checksum = ChecksumOf(message);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + message;
}

Error ParseBaseline(std::string_view bytes, const std::string& path,
                    std::unique_ptr<google::protobuf::Message>* baseline) {
  Header header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kMark, sizeof kMark) != 0)
    return Unreadable(path, "is not a baseline of gpuprof; save one with 'gpuprof baseline save'.");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version > kVersion) {
    return Unreadable(path, "was saved by a newer gpuprof: its version is " +
                                std::to_string(header.version) + ", and this gpuprof reads " +
                                std::to_string(kVersion) +
                                ". Use the newer gpuprof, or save the baseline again.");
  }
  const std::string_view message = bytes.substr(sizeof header);
  if (header.length > message.size())
    return Unreadable(path, "is cut or damaged: it has " + std::to_string(bytes.size()) +
                                " bytes, and its header says more; save the baseline again.");
  auto out = std::make_unique<results::Baseline>();
  if (header.version == 0 || header.length != message.size() ||
      header.checksum != ChecksumOf(message))
    return Unreadable(path, "is cut or damaged: its checksum is wrong; save the baseline again.");
  if (!out->ParseFromArray(message.data(), static_cast<int>(message.size())) || !IsPossible(*out))
    return Unreadable(path,
                      "holds figures that no recording has: another program wrote it, or it is "
                      "damaged; save the baseline again.");
  *baseline = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
