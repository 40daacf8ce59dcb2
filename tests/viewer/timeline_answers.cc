// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Answers questions to the timeline of a bundle: timeline_answers [--time] BUNDLE. A line of the
// input is a question. Each answer goes out as 8 bytes of length, a byte that is 1 if it is an
// error, and the bytes of the answer or the error's sentence. With --time, each answer also prints
// its milliseconds of processor time to stderr, after those of opening the bundle.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iostream>
#include <string>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "analysis/timeline/answer.h"

namespace {

// Prints the processor time since it was made.
class Stopwatch {
 public:
  explicit Stopwatch(bool prints) : prints_(prints), begin_(std::clock()) {}
  void Print() const {
    if (!prints_) return;
    const double seconds = static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC;
    std::fprintf(stderr, "%.3f\n", seconds * 1000);
  }

 private:
  bool prints_;
  std::clock_t begin_;
};

}  // namespace

int main(int argc, char** argv) {
  using namespace gpuprof::analysis;
  const bool prints = argc == 3 && std::strcmp(argv[1], "--time") == 0;
  if (argc != (prints ? 3 : 2)) {
    std::fprintf(stderr, "usage: timeline_answers [--time] BUNDLE < QUESTIONS\n");
    return 2;
  }
  const Stopwatch open(prints);
  std::shared_ptr<const Trace> trace;
  if (const Error error = Open(argv[argc - 1], {}, &trace)) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
  }
  timeline::Timeline timeline(trace);
  open.Print();
  std::string question;
  while (std::getline(std::cin, question)) {
    const Stopwatch stopwatch(prints);
    std::string answer;
    const Error error = timeline::Answer(&timeline, question, &answer);
    stopwatch.Print();
    const std::string& bytes = error ? error.message : answer;
    const uint64_t length = bytes.size();
    std::fwrite(&length, sizeof length, 1, stdout);
    std::fputc(error ? 1 : 0, stdout);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
