// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/query/text_pool.h"

#include <algorithm>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {

IdMap::IdMap(const std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
  // An array is faster where it is not much larger than what it holds.
  const size_t most = pairs.size() * 8 + 1024;
  for (const auto& [id, number] : pairs)
    if (id < most) dense_.resize(std::max<size_t>(dense_.size(), size_t{id} + 1));
  for (const auto& [id, number] : pairs) {
    if (id < dense_.size()) {
      dense_[id] = number;
    } else {
      sparse_[id] = number;
    }
  }
}

uint32_t TextPool::Intern(std::string_view text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  std::string clean = Utf8Of(text);
  if (const auto same = numbers_.find(clean); same != numbers_.end()) return same->second;
  texts_.push_back(std::move(clean));
  const auto number = static_cast<uint32_t>(texts_.size() - 1);
  numbers_.emplace(texts_.back(), number);
  return number;
}

}  // namespace gpuprof::analysis
