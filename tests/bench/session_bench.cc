// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the questions of a page cost that one session answers, one after the other: session_bench
// INPUT [step=N | range=FROM,TO | pid=PID | device=D]. All results of a page are asked for twice:
// the second turn shows what a session keeps. With a selection, the results of the part come
// between the turns. Prints processor time in microseconds of both turns and of the part.

#include <google/protobuf/message.h>
#include <time.h>

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
std::vector<int64_t> AskAll(analysis::Session* session, const analysis::PassOptions& selection) {
  std::vector<int64_t> times;
  for (const analysis::PageResult& each : analysis::PageResults()) {
    analysis::PassOptions options = selection;
    options.by = each.by;
    const int64_t begin = ProcessorUs();
    std::unique_ptr<google::protobuf::Message> result;
    if (!analysis::Run(each.pass, session, options, &result))
      analysis::Render(*result, analysis::Format::kJson, options, 0);
    times.push_back(ProcessorUs() - begin);
  }
  return times;
}

int Main(int argc, char** argv) {
  if (argc < 2 || argc > 3) Fail("usage: session_bench INPUT [SELECTION]");
  launcher::KeepFreedMemory();
  std::shared_ptr<const analysis::Trace> trace;
  const int64_t begin = ProcessorUs();
  if (const analysis::Error error = analysis::Open(argv[1], {}, &trace)) Fail(error.message);
  std::printf("%-24s %8lld\n", "open", static_cast<long long>(ProcessorUs() - begin));
  const auto session = analysis::MakeSession(trace);
  std::vector<std::vector<int64_t>> turns = {AskAll(session.get(), {})};
  if (argc == 3) turns.push_back(AskAll(session.get(), ReadSelection(argv[2])));
  turns.push_back(AskAll(session.get(), {}));
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
  std::printf("\n");
  return 0;
}

}  // namespace
}  // namespace gpuprof

int main(int argc, char** argv) { return gpuprof::Main(argc, argv); }
