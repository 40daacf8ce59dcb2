// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What reading XSpaces costs: bytes a second and core. The files are the recordings under
// tests/golden/xspace, inflated. `Read` hands over events, `Import` also makes processes of them.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/import/foreign_file.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/xspace_importer.h"
#include "analysis/import/xspace_reader.h"

namespace gpuprof::analysis::import {
namespace {

class CountingHandler : public XSpaceHandler {
 public:
  bool OnPlane(XPlaneTables&) override { return true; }
  bool OnLine(const XLine&) override { return true; }
  void OnEvent(const XEvent& event) override { counted += 1 + event.stats.size(); }
  uint64_t counted = 0;
};

std::vector<std::unique_ptr<RandomBytes>> Files() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(GPUPROF_GOLDEN_XSPACE)) {
    if (entry.path().extension() == ".gz") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::unique_ptr<RandomBytes>> files;
  for (const std::string& path : paths) {
    bool is_damaged = false;
    Result<std::unique_ptr<RandomBytes>> file =
        OpenRandomBytes(FileAt(path), UINT64_MAX, &is_damaged);
    if (!file.ok()) {
      std::fprintf(stderr, "xspace_bench: %s\n", file.error().message.c_str());
      std::exit(1);
    }
    files.push_back(std::move(*file));
  }
  return files;
}

void Read(benchmark::State& state) {
  const auto files = Files();
  uint64_t bytes = 0, events = 0;
  for (auto _ : state) {
    for (const auto& file : files) {
      CountingHandler handler;
      XSpaceFacts facts;
      if (ReadXSpace(*file, "file", &handler, &facts)) state.SkipWithError("not readable");
      benchmark::DoNotOptimize(handler.counted);
      bytes += file->size();
      events += facts.events;
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

void Import(benchmark::State& state) {
  const auto files = Files();
  uint64_t bytes = 0, rows = 0;
  for (auto _ : state) {
    for (const auto& file : files) {
      XSpaceImporter importer(file->size());
      XSpaceFacts facts;
      if (ReadXSpace(*file, "file", &importer, &facts)) state.SkipWithError("not readable");
      const Process process = importer.Build("file", facts.host, importer.Close());
      bytes += file->size();
      rows += process.rows;
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["rows"] =
      benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsRate);
}

BENCHMARK(Read)->Unit(benchmark::kMillisecond);
BENCHMARK(Import)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpuprof::analysis::import

BENCHMARK_MAIN();
