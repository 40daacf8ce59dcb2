// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Answers questions to the timeline of a bundle: timeline_answers BUNDLE. A line of the input is a
// question. Each answer goes out as 8 bytes of length, a byte that is 1 if it is an error, and
// the bytes of the answer or the error's sentence.

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "analysis/timeline/answer.h"

int main(int argc, char** argv) {
  using namespace gpuprof::analysis;
  if (argc != 2) {
    std::fprintf(stderr, "usage: timeline_answers BUNDLE < QUESTIONS\n");
    return 2;
  }
  std::shared_ptr<const Trace> trace;
  if (const Error error = Open(argv[1], {}, &trace)) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
  }
  timeline::Timeline timeline(trace);
  std::string question;
  while (std::getline(std::cin, question)) {
    std::string answer;
    const Error error = timeline::Answer(&timeline, question, &answer);
    const std::string& bytes = error ? error.message : answer;
    const uint64_t length = bytes.size();
    std::fwrite(&length, sizeof length, 1, stdout);
    std::fputc(error ? 1 : 0, stdout);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
