// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The names of kernels of real traces, and the short names that were reviewed. Lines of
// tests/golden/kernel_names.txt: the short name, a tab, the full name.

#pragma once

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/short_names.h"

namespace gpuprof::analysis::test {

struct Pair {
  std::string short_name, full_name;
};

struct GoldenNames {
  std::vector<std::string> lines;  // those of a pair are a tab
  std::vector<std::pair<std::string, std::vector<Pair>>> traces;
  std::vector<std::pair<size_t, size_t>> places;  // of each line of a pair: trace, number
};

inline GoldenNames ReadGolden() {
  GoldenNames golden;
  std::ifstream file(GPUPROF_GOLDEN_KERNEL_NAMES);
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (line.rfind("## ", 0) == 0) golden.traces.emplace_back(line.substr(3), std::vector<Pair>());
    if (tab == std::string::npos) {
      golden.lines.push_back(line);
      continue;
    }
    golden.lines.emplace_back("\t");
    std::vector<Pair>& pairs = golden.traces.back().second;
    golden.places.emplace_back(golden.traces.size() - 1, pairs.size());
    pairs.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return golden;
}

// Returns the short names of one trace, as its table has them.
inline std::map<std::string, std::string> ShortNamesOf(const std::vector<Pair>& pairs) {
  std::set<std::string> names;
  for (const Pair& pair : pairs) names.insert(Demangle(pair.full_name.c_str()));
  return ShortKernelNames(names);
}

}  // namespace gpuprof::analysis::test
