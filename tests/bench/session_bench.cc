// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the questions of a page cost in `serve`, one after the other: session_bench INPUT
// [step=N | range=FROM,TO | pid=PID | device=D]. All results of a page are asked for twice: the
// second turn shows what a session keeps. With a selection, the results of the part come between
// the turns. Prints processor time in microseconds of both turns and of the part, -1 where the page
// gets no result. Then come the memory after the last answer, and the most.

#include <google/protobuf/message.h>
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/export/page_manifest.h"
#include "launcher/base/freed_memory.h"

namespace gpuprof {
namespace {

int64_t ProcessorUs() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1'000;
}

long ResidentBytes() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

void Fail(const std::string& what) {
  std::fprintf(stderr, "session_bench: %s\n", what.c_str());
  std::exit(1);
}

analysis::PassOptions ReadSelection(const std::string& text) {
  analysis::PassOptions options;
  const std::string value = text.substr(text.find('=') + 1);
  if (text.starts_with("step=")) {
    const uint64_t step = std::strtoull(value.c_str(), nullptr, 10);
    options.steps = {step, step};
  } else if (text.starts_with("range=")) {
    options.window = {std::strtoll(value.c_str(), nullptr, 10),
                      std::strtoll(value.substr(value.find(',') + 1).c_str(), nullptr, 10)};
  } else if (text.starts_with("pid=")) {
    options.pid = static_cast<int32_t>(std::strtol(value.c_str(), nullptr, 10));
  } else if (text.starts_with("device=")) {
    options.devices = {static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10))};
  } else {
    Fail("no such selection: " + text);
  }
  return options;
}

// Asks for all results of a page. Returns the processor time of each.
std::vector<int64_t> AskAll(analysis::PageInput* input, const analysis::PassOptions& selection) {
  std::vector<int64_t> times;
  for (const analysis::PageResult& each : analysis::PageResults()) {
    analysis::PassOptions options = selection;
    options.by = each.by;
    const int64_t begin = ProcessorUs();
    std::unique_ptr<google::protobuf::Message> result;
    const bool is_refused = static_cast<bool>(RunForPage(input, each.pass, options, &result));
    if (!is_refused) analysis::Render(*result, analysis::Format::kJson, options, 0);
    times.push_back(is_refused ? -1 : ProcessorUs() - begin);
  }
  return times;
}

int Main(int argc, char** argv) {
  if (argc < 2 || argc > 3) Fail("usage: session_bench INPUT [SELECTION]");
  launcher::KeepFreedMemory();
  const auto input = analysis::MakePageInput(argv[1], {});
  std::vector<std::vector<int64_t>> turns = {AskAll(input.get(), {})};
  if (argc == 3) turns.push_back(AskAll(input.get(), ReadSelection(argv[2])));
  turns.push_back(AskAll(input.get(), {}));
  std::vector<int64_t> sums(turns.size());
  const std::vector<analysis::PageResult> results = analysis::PageResults();
  for (size_t i = 0; i < results.size(); ++i) {
    std::printf("%-24s", results[i].Name().c_str());
    for (size_t turn = 0; turn < turns.size(); ++turn) {
      std::printf(" %8lld", static_cast<long long>(turns[turn][i]));
      sums[turn] += turns[turn][i];
    }
    std::printf("\n");
  }
  std::printf("%-24s", "sum");
  for (const int64_t sum : sums) std::printf(" %8lld", static_cast<long long>(sum));
  malloc_trim(0);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("\n%-24s %8ld MB, at most %ld MB\n", "memory", ResidentBytes() / 1'000'000,
              usage.ru_maxrss * 1024 / 1'000'000);
  return 0;
}

}  // namespace
}  // namespace gpuprof

int main(int argc, char** argv) { return gpuprof::Main(argc, argv); }
