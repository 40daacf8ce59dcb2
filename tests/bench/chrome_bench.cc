// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What reading the text of Chrome traces costs: bytes of JSON a second and core. The files are the
// recordings of torch.profiler under tests/golden/kineto. The handler counts events and arguments.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/import/chrome_reader.h"
#include "analysis/import/inflating_source.h"

namespace gpuprof::analysis::import {
namespace {

class CountingHandler : public ChromeHandler {
 public:
  void OnEvent(const ChromeEvent& event) override { counted += 1 + event.args.size(); }
  void OnHeader(std::string_view, const JsonValue&) override {}
  uint64_t counted = 0;
};

std::string Bytes(ByteSource* source) {
  std::string bytes;
  std::vector<char> piece(1 << 20);
  while (true) {
    const Result<size_t> got = source->Read(piece.data(), piece.size());
    if (!got.ok()) {
      std::fprintf(stderr, "chrome_bench: %s\n", got.error().message.c_str());
      std::exit(1);
    }
    if (*got == 0) return bytes;
    bytes.append(piece.data(), *got);
  }
}

std::vector<std::string> Traces(bool is_inflated) {
  std::vector<std::string> paths, traces;
  for (const auto& entry : std::filesystem::directory_iterator(GPUPROF_GOLDEN_KINETO)) {
    if (entry.path().extension() == ".gz") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const auto file = FileSource::Open(path);
    if (!file.ok()) continue;
    InflatingSource inflated(file->get(), path);
    traces.push_back(is_inflated ? Bytes(&inflated) : Bytes(file->get()));
  }
  return traces;
}

void ReadTraces(benchmark::State& state, bool is_inflated) {
  const std::vector<std::string> traces = Traces(is_inflated);
  uint64_t bytes = 0, events = 0;
  for (auto _ : state) {
    for (const std::string& trace : traces) {
      CountingHandler handler;
      ChromeTextNotes notes;
      MemorySource source(trace);
      if (ReadChrome(&source, "trace", &handler, &notes)) state.SkipWithError("not readable");
      benchmark::DoNotOptimize(handler.counted);
      bytes += notes.bytes;
      events += notes.events;
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(ReadTraces, plain, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ReadTraces, gzip, false)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpuprof::analysis::import

BENCHMARK_MAIN();
