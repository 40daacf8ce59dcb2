// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See registry.h; holds the public functions Passes, Run and Render too.

#include "analysis/passes/registry.h"

#include <google/protobuf/message.h>

#include "analysis/passes/passes.h"
#include "analysis/render/json.h"

namespace gpuprof::analysis {
namespace {

// Gives a text function of one result the signature of the table.
template <typename Result, std::string (*kText)(const Result&, const TextOptions&)>
std::string TextOf(const google::protobuf::Message& result, const TextOptions& options) {
  return kText(static_cast<const Result&>(result), options);
}

const PassEntry* FindPass(std::string_view name) {
  for (const PassEntry& entry : PassTable()) {
    if (entry.info.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

const std::vector<PassEntry>& PassTable() {
  static const std::vector<PassEntry> table = {
      {{"overview", "Where the time and the memory of the run went, and what to try"},
       RunOverview,
       TextOf<results::Overview, OverviewText>,
       results::Overview::descriptor,
       "steps.categories"},
      {{"steps",
        "Each step, divided into input, forward, backward, optimizer, lock waits and the rest"},
       RunSteps,
       TextOf<results::Steps, StepsText>,
       results::Steps::descriptor,
       "steps"},
      {{"ops", "Framework operations: count, total and self time"},
       RunOps,
       TextOf<results::Ops, OpsText>,
       results::Ops::descriptor,
       "ops"},
      {{"heap",
        "Heap and framework memory: allocated, peak, still live, by call stack and operation"},
       RunHeap,
       TextOf<results::Heap, HeapText>,
       results::Heap::descriptor,
       "stacks"},
      {{"locks", "Waits for locks and conditions, by object and caller"},
       RunLocks,
       TextOf<results::Locks, LocksText>,
       results::Locks::descriptor,
       "locks"},
      {{"threads", "Threads: life, processor time, waits"},
       RunThreads,
       TextOf<results::Threads, ThreadsText>,
       results::Threads::descriptor,
       "threads"},
      {{"health", "The recording itself: what was lost and why, what it cost, its clock"},
       RunHealth,
       TextOf<results::Health, HealthText>,
       results::Health::descriptor,
       "processes"},
  };
  return table;
}

const std::vector<PassInfo>& Passes() {
  static const std::vector<PassInfo> infos = [] {
    std::vector<PassInfo> all;
    for (const PassEntry& entry : PassTable()) all.push_back(entry.info);
    return all;
  }();
  return infos;
}

Error Run(std::string_view pass, const Trace& trace, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result) {
  const PassEntry* entry = FindPass(pass);
  if (entry == nullptr) {
    std::string known;
    for (const PassEntry& each : PassTable())
      known += (known.empty() ? "" : ", ") + std::string(each.info.name);
    return {ErrorKind::kUsage,
            "There is no pass '" + std::string(pass) + "'; there are: " + known + "."};
  }
  if (!options.by.empty() && pass != "ops") {
    return {ErrorKind::kUsage,
            "The pass '" + std::string(pass) + "' has no other key to group by; leave --by out."};
  }
  PassContext context(trace, options);
  if (Error error = context.Prepare()) return error;
  return entry->run(context, result);
}

std::string Render(const google::protobuf::Message& result, Format format,
                   const PassOptions& options, int width) {
  if (format == Format::kJson) return ToJson(result);
  for (const PassEntry& entry : PassTable()) {
    if (entry.type() != result.GetDescriptor()) continue;
    if (format == Format::kCsv) return ToCsv(result, entry.main_table);
    return entry.text(result, {options.limit, width});
  }
  return "";
}

}  // namespace gpuprof::analysis
