// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The shapes of an operation's inputs, as PyTorch's profiler writes them. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns the shapes in an operation's detail (OpTable::detail): "[[8, 3], []]". Empty: the detail
// tells no shape.
inline std::string InputShapes(std::string_view detail) {
  constexpr std::string_view kKey = "\"Input Dims\":[";
  const size_t key = detail.find(kKey);
  if (key == std::string_view::npos) return "";
  const size_t begin = key + kKey.size() - 1;
  size_t end = begin;
  for (int depth = 0; end < detail.size(); ++end) {
    depth += detail[end] == '[' ? 1 : detail[end] == ']' ? -1 : 0;
    if (depth == 0) break;
  }
  return std::string(detail.substr(begin, end + 1 - begin));
}

}  // namespace gpuprof::analysis
