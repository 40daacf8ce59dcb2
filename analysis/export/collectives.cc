// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See collectives.h.

#include "analysis/export/collectives.h"

#include <nlohmann/json.hpp>

#include "analysis/export/event_writer.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kOperation = "record_param_comms";
constexpr const char* kKeys[] = {"Collective name",
                                 "In msg nelems",
                                 "Out msg nelems",
                                 "Group size",
                                 "dtype",
                                 "In split size",
                                 "Out split size",
                                 "Process Group Name",
                                 "Process Group Description",
                                 "Process Group Ranks",
                                 "Dst Rank",
                                 "Src Rank",
                                 "Seq",
                                 "Comms Id"};

std::string MembersOf(const std::string& detail) {
  const auto object = nlohmann::json::parse(detail, nullptr, /*allow_exceptions=*/false);
  std::string members;
  if (!object.is_object()) return members;
  for (const char* key : kKeys) {
    const auto value = object.find(key);
    if (value == object.end()) continue;
    if (!members.empty()) members += ", ";
    AppendJsonString(key, &members);
    members += ": ";
    members += value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return members;
}

}  // namespace

Collectives::Collectives(const Process& process) {
  for (const Track& track : process.tracks) {
    const OpTable& ops = track.op;
    if (ops.external.empty() || ops.detail.empty()) continue;
    for (size_t row = 0; row < ops.rows(); ++row) {
      if (ops.external[row] == 0 || ops.detail[row] == 0) continue;
      const auto name = process.strings.find(ops.name[row]);
      if (name == process.strings.end() || name->second != kOperation) continue;
      members_.try_emplace(ops.external[row], MembersOf(process.String(ops.detail[row])));
    }
  }
}

}  // namespace gpuprof::analysis
