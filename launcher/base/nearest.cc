// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See nearest.h.

#include "launcher/base/nearest.h"

#include <algorithm>

namespace gpuprof::launcher {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      next[j] =
          std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

namespace {

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

}  // namespace

std::string Nearest(std::string_view given, const std::vector<std::string>& known) {
  const std::string name = Lowered(given);
  std::string best;
  size_t best_distance = 0;
  for (const std::string& known_name : known) {
    const std::string candidate = Lowered(known_name);
    const bool prefix = name.size() >= 3 && candidate.size() > name.size() &&
                        candidate.compare(0, name.size(), name) == 0;
    const size_t distance = prefix ? 1 : EditDistance(name, candidate);
    const size_t most = std::max<size_t>(1, std::max(candidate.size(), name.size()) / 3);
    if (distance > most || (!best.empty() && distance >= best_distance)) continue;
    best = known_name;
    best_distance = distance;
  }
  return best;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(name, known);
  return nearest.empty() ? "" : " Did you mean '" + nearest + "'?";
}

}  // namespace gpuprof::launcher
