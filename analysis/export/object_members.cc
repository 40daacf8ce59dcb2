// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See object_members.h.

#include "analysis/export/object_members.h"

#include <nlohmann/json.hpp>

namespace gpuprof::analysis {

std::string_view ObjectMembers::Of(uint32_t detail) {
  if (detail == 0) return "";
  const auto [at, added] = members_.try_emplace(detail);
  if (!added) return at->second;
  const auto found = process_.strings.find(detail);
  if (found == process_.strings.end()) return "";
  const std::string_view text = found->second;
  const size_t begin = text.find_first_not_of(" \t\r\n");
  const size_t end = text.find_last_not_of(" \t\r\n");
  const bool is_object = begin != std::string_view::npos && end > begin && text[begin] == '{' &&
                         nlohmann::json::accept(text);
  if (is_object) at->second = text.substr(begin + 1, end - begin - 1);
  return at->second;
}

}  // namespace gpuprof::analysis
