// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See call_name.h.

#include "analysis/derived/call_name.h"

#include <algorithm>

namespace gpuprof::analysis {

std::string ApiFunctionName(const Process& process, uint32_t function) {
  const auto found = process.functions.find(function);
  std::string name = found == process.functions.end() ? "" : process.String(found->second);
  if (name.empty()) return "function " + std::to_string(proto::ApiCallbackOf(function));
  // CUPTI adds the release to the runtime's names: _v7000, _v13000. A driver's _v2 is part of its
  // name.
  const size_t at = name.rfind("_v");
  const bool is_release = at != std::string::npos && name.size() - at >= 6 &&
                          std::all_of(name.begin() + static_cast<ptrdiff_t>(at) + 2, name.end(),
                                      [](char c) { return c >= '0' && c <= '9'; });
  if (is_release) name.resize(at);
  return name;
}

}  // namespace gpuprof::analysis
