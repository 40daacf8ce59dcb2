// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of a result that follow from many rows of the trace, and from nothing else that a question
// can change. They are made once. One thread.

#pragma once

#include <map>
#include <string>

#include "analysis/base/kept.h"

namespace gpuprof::analysis {

// Returns what make(&rows) puts into a message. `kept` says which questions share it: those with
// the same `key`, which may be a grouping.
template <typename Message, typename Make>
const Message& KeptRows(Kept& kept, const std::string& key, Make&& make) {
  auto& known =
      kept.Get<std::map<std::string, Message>>([] { return std::map<std::string, Message>(); });
  const auto [at, is_new] = known.try_emplace(key);
  if (is_new) make(&at->second);
  return at->second;
}

}  // namespace gpuprof::analysis
