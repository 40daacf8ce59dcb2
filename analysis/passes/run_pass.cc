// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a pass by its name. See passes.h.

#include <google/protobuf/message.h>

#include "analysis/base/regular_expression.h"
#include "analysis/passes/host/short_name_fields.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/registry.h"

namespace gpuprof::analysis {
namespace {

Error CheckKey(const PassInfo& info, const std::string& by) {
  if (by.empty()) return {};
  std::string known;
  for (const std::string_view key : info.keys) {
    if (key == by) return {};
    known += (known.empty() ? "" : ", ") + std::string(key);
  }
  const std::string pass = "The pass '" + std::string(info.name) + "' has no ";
  if (known.empty()) return {ErrorKind::kUsage, pass + "keys to choose from; leave --by out."};
  return {ErrorKind::kUsage, pass + "key '" + by + "'; there are: " + known + "."};
}

// An option that few passes have.
struct RareOption {
  std::string_view name;
  bool (*is_given)(const PassOptions& options);
  std::vector<std::string_view> passes;
};

Error CheckRareOptions(std::string_view pass, const PassOptions& options) {
  static const std::vector<RareOption> rare = {
      {"--under-range",
       [](const PassOptions& all) { return !all.under_range.empty(); },
       {"kernels"}},
      {"--program",
       [](const PassOptions& all) { return !all.program.empty(); },
       {"memory_viewer", "graph_viewer"}},
      {"--memory-space",
       [](const PassOptions& all) { return all.memory_space.has_value(); },
       {"memory_viewer"}},
      {"--op", [](const PassOptions& all) { return !all.op.empty(); }, {"graph_viewer"}},
      {"--depth", [](const PassOptions& all) { return all.depth.has_value(); }, {"graph_viewer"}},
  };
  for (const RareOption& option : rare) {
    if (!option.is_given(options)) continue;
    std::string owners;
    bool has = false;
    for (const std::string_view owner : option.passes) {
      has |= owner == pass;
      owners += (owners.empty() ? "'" : " and '") + std::string(owner) + "'";
    }
    if (has) continue;
    const std::string name(option.name);
    return {ErrorKind::kUsage,
            "The pass '" + std::string(pass) + "' has no option " + name + ", only " + owners +
                (option.passes.size() == 1 ? " has" : " have") + " it; leave " + name + " out."};
  }
  return {};
}

}  // namespace

std::string RegularExpressionFault(std::string_view pattern) {
  std::string fault;
  RegularExpression::Of(pattern, &fault);
  return fault;
}

std::string CommandOf(std::string_view pass, const PassOptions& options) {
  std::string command = "gpuprof stats " + std::string(pass);
  if (!options.by.empty()) command += " --by " + options.by;
  if (options.pid != 0) command += " --pid " + std::to_string(options.pid);
  if (options.steps) command += " --steps " + std::to_string(options.steps->first);
  if (options.window) {
    command += " --window " + std::to_string(options.window->first) + "ns-" +
               std::to_string(options.window->second) + "ns";
  }
  for (size_t i = 0; i < options.devices.size(); ++i)
    command += (i == 0 ? " --device " : ",") + std::to_string(options.devices[i]);
  return command;
}

Error Run(std::string_view pass, const Trace& trace, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result) {
  Session session(trace);
  return Run(pass, &session, options, result);
}

namespace {

Error Ask(std::string_view pass, Session* session, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result) {
  if (FindPass(pass) != nullptr && !session->trace().tables.Contains(TablesOf(pass, options))) {
    return {ErrorKind::kUsage, "The trace was opened without rows that the pass '" +
                                   std::string(pass) + "' needs; open it in full."};
  }
  Session::Part* part = nullptr;
  if (Error error = session->Select(pass, options, &part)) return error;
  const PassEntry* entry = FindPass(pass);
  if (entry == nullptr) {
    std::string known;
    for (const PassEntry& each : PassTable())
      known += (known.empty() ? "" : ", ") + std::string(each.info.name);
    const std::string wrong = "There is no pass '" + std::string(pass) + "'; there are: ";
    return {ErrorKind::kUsage, wrong + known + "."};
  }
  if (Error error = CheckKey(entry->info, options.by)) return error;
  if (Error error = CheckRareOptions(entry->info.name, options)) return error;
  PassContext context(part != nullptr ? part->session.get() : session, options);
  if (Error error = context.Prepare()) return error;
  if (part != nullptr) context.SetSelectionNote(part->words);
  return entry->run(context, result);
}

}  // namespace

Error Run(std::string_view pass, Session* session, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result) {
  Error error = Ask(pass, session, options, result);
  session->ForgetMuch();
  if (!error) FillShortNames(result->get());
  return error;
}

}  // namespace gpuprof::analysis
