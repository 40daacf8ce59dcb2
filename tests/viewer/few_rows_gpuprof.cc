// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The gpuprof command for tests of large results: small recordings are large for its server. Of the
// environment it takes
// FEW_ROWS_MOST: the most memory of a result that the server computes itself, in bytes;
// FEW_ROWS_FREE: the bytes of memory that are free;
// FEW_ROWS_NOTES: a folder in which each process that computes a result writes its number, into a
// file of the result's name;
// FEW_ROWS_HOLD: such a process waits until that folder has the file "go".

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launcher/command.h"
#include "launcher/serve/large_results.h"
#include "launcher/serve/page_order.h"

namespace {

uint64_t Number(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Writes which process computes a result. The file comes whole, under its name.
void Note(const std::string& folder) {
  std::ifstream order("/proc/self/fd/0");
  const std::string result = nlohmann::json::parse(order).at("result").get<std::string>();
  const std::string file = folder + "/" + result, made = folder + "/new";
  std::ofstream(made) << getpid() << "\n";
  if (rename(made.c_str(), file.c_str()) != 0) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace gpuprof::launcher;
  const std::vector<std::string> words(argv + 1, argv + argc);
  PageLimits limits;
  limits.most_recording_rows = 0;
  limits.most_bytes = Number("FEW_ROWS_MOST", 0);
  if (std::getenv("FEW_ROWS_FREE") != nullptr)
    limits.free_memory = [] { return Number("FEW_ROWS_FREE", 0); };
  SetPageLimits(limits);
  const char* const notes = std::getenv("FEW_ROWS_NOTES");
  if (notes != nullptr && !words.empty() && words[0] == kPageOrderWord) {
    Note(notes);
    const std::string go = std::string(notes) + "/go";
    while (std::getenv("FEW_ROWS_HOLD") != nullptr && access(go.c_str(), F_OK) != 0) usleep(1000);
  }
  return Dispatch(words);
}
