// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See comparison.h.

#include "launcher/reading/comparison.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <thread>

#include "launcher/base/read_file.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

// Returns how large a file is, or the files of a folder.
uint64_t BytesOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    const uint64_t bytes = std::filesystem::file_size(path, error);
    return error ? 0 : bytes;
  }
  uint64_t bytes = 0;
  for (const std::string& name : ListFolder(path)) {
    const uint64_t of_file = std::filesystem::file_size(path + "/" + name, error);
    if (!error) bytes += of_file;
  }
  return bytes;
}

}  // namespace

Measured Measure(const PlacedInput& input, const analysis::PassOptions& options,
                 uint64_t memory_limit_bytes) {
  Measured measured;
  analysis::OpenOptions open;
  open.tables = analysis::CompareTables();
  open.memory_limit_bytes = memory_limit_bytes;
  open.origin = input.origin;
  open.kernel_rules = GivenKernelRules();
  std::shared_ptr<const analysis::Trace> trace;
  measured.error = analysis::Open(input.path, open, &trace);
  if (measured.error) return measured;
  measured.facts = analysis::FactsOf(*trace);
  measured.error = analysis::MakeBaseline(*trace, options, &measured.baseline);
  return measured;
}

void MeasureBoth(const PlacedInput& before, const PlacedInput& after,
                 const analysis::PassOptions& options, Measured* of_before, Measured* of_after) {
  constexpr uint64_t kSmallBytes = 64 << 20;
  if (BytesOf(before.path.path) + BytesOf(after.path.path) > kSmallBytes) {
    *of_before = Measure(before, options);
    *of_after = Measure(after, options);
    return;
  }
  const auto memory =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::thread other([&] { *of_before = Measure(before, options, memory / 8 * 3); });
  *of_after = Measure(after, options, memory / 8 * 3);
  other.join();
}

analysis::Error CompareAsJson(const PlacedInput& before, const PlacedInput& after,
                              std::string* json, analysis::BundleFacts* faults) {
  const analysis::PassOptions options;
  Measured of_before, of_after;
  MeasureBoth(before, after, options, &of_before, &of_after);
  if (of_before.error) return of_before.error;
  if (of_after.error) return of_after.error;
  std::unique_ptr<google::protobuf::Message> result;
  if (analysis::Error error =
          analysis::CompareBaselines(*of_before.baseline, *of_after.baseline, &result))
    return error;
  *json = analysis::Render(*result, analysis::Format::kJson, options, 0);
  if (faults != nullptr) *faults = std::move(of_before.facts);
  return {};
}

}  // namespace gpuprof::launcher
