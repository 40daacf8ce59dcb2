// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See detail_stats.h.

#include "analysis/export/detail_stats.h"

#include <nlohmann/json.hpp>

namespace gpuprof::analysis {

bool AddDetailStats(const std::string& detail, std::string_view key, XPlaneWriter* plane) {
  const auto object = nlohmann::json::parse(detail, nullptr, false);
  if (!object.is_object()) return false;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) {
      plane->Text(name, value.get_ref<const std::string&>());
    } else if (value.is_number_unsigned()) {
      plane->Unsigned(name, value.get<uint64_t>());
    } else if (value.is_number_integer()) {
      plane->Number(name, value.get<int64_t>());
    } else if (value.is_number_float()) {
      plane->Real(name, value.get<double>());
    } else {
      plane->Text(name, value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
  }
  return object.contains(key);
}

}  // namespace gpuprof::analysis
