// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a pass itself costs, without the opening of its input: pass_bench INPUT PASS [ROUNDS]. The
// pass `import` stands for the opening alone. Prints the least processor time of the rounds in
// nanoseconds, and how many rows the tables of the pass have.

#include <google/protobuf/message.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "launcher/base/freed_memory.h"

namespace gpuprof {
namespace {

int64_t ProcessorNs() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void Require(const analysis::Error& error) {
  if (!error) return;
  std::fprintf(stderr, "pass_bench: %s\n", error.message.c_str());
  std::exit(1);
}

uint64_t RowsOf(const analysis::Trace& trace) {
  uint64_t rows = 0;
  for (const analysis::Process& process : trace.processes) {
    for (const analysis::Track& track : process.tracks) {
      for (const analysis::TableExtent& extent : track.extents)
        if (trace.tables.Contains(analysis::TableSet{extent.kind})) rows += extent.rows;
    }
  }
  return rows;
}

int Main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: pass_bench INPUT PASS|import [ROUNDS]\n");
    return 2;
  }
  const std::string pass = argv[2];
  launcher::KeepFreedMemory();  // as the command does for the greedy passes
  const int rounds = argc == 4 ? std::atoi(argv[3]) : 3;
  analysis::OpenOptions open;
  open.threads = 1;
  if (pass != "import") open.tables = analysis::TablesOf(pass);
  int64_t least = INT64_MAX;
  uint64_t rows = 0;
  std::shared_ptr<const analysis::Trace> trace;
  for (int i = 0; i < rounds; ++i) {
    int64_t begin = ProcessorNs();
    if (trace == nullptr || pass == "import") {
      trace.reset();
      begin = ProcessorNs();
      Require(analysis::Open(argv[1], open, &trace));
      rows = RowsOf(*trace);
    }
    if (pass != "import") {
      std::unique_ptr<google::protobuf::Message> result;
      begin = ProcessorNs();
      Require(analysis::Run(pass, *trace, {}, &result));
    }
    least = std::min(least, ProcessorNs() - begin);
  }
  std::printf("%lld %llu\n", static_cast<long long>(least), static_cast<unsigned long long>(rows));
  return 0;
}

}  // namespace
}  // namespace gpuprof

int main(int argc, char** argv) { return gpuprof::Main(argc, argv); }
