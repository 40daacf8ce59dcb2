// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See input_sources.h.

#include "analysis/passes/host/input_sources.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/derived/loader_record.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// Returns whether a process is below another one. A damaged file can make a cycle.
bool IsBelow(const Trace& trace, size_t index, size_t above) {
  constexpr int kMostGenerations = 8;
  size_t up = trace.processes[index].parent;
  for (int i = 0; i < kMostGenerations && up < trace.processes.size(); ++i) {
    if (up == above) return true;
    up = trace.processes[up].parent;
  }
  return false;
}

}  // namespace

const InputAccount* LoaderAccount(PassContext& context, size_t index) {
  const std::optional<InputAccount>& account =
      context.kept(index).Get<std::optional<InputAccount>>([&]() -> std::optional<InputAccount> {
        if (!context.ops(index).has(NameKind::kLoaderNext)) return std::nullopt;
        std::vector<const Process*> workers;
        // Workers belong to their loader, also if its process alone is asked for.
        for (size_t other = 0; other < context.trace().processes.size(); ++other)
          if (other != index && IsBelow(context.trace(), other, index))
            workers.push_back(&context.process(other));
        const std::optional<LoaderRecord> record = ReadLoader(context.ops(index), workers);
        if (!record) return std::nullopt;
        return AccountOf(*record);
      });
  return account ? &*account : nullptr;
}

InputAccount DatasetAccount(const DataPipeline& pipeline) {
  LoaderRecord record;
  record.name = pipeline.iterators.front().path;
  // The calls in which a buffer fills are the first of their epochs.
  const bool has_filled = pipeline.filled.has_value();
  for (const Interval& wait : pipeline.waits) {
    const bool is_first = has_filled && wait.length() * 2 >= pipeline.waits_ns.back();
    record.nexts.push_back({wait, is_first, wait.start});
  }
  InputAccount account = AccountOf(record);
  account.worker_count = 0;
  account.suffice.reset();
  account.service_ns = 0;
  if (account.is_bound) account.stage = InputStage::kUnknown;
  const DataIterator& blamed = pipeline.iterators[pipeline.blamed];
  const IteratorClass kind = ClassOfIterator(blamed.name);
  // How many calls of a parallel iterator run at a time is known of those that call Python.
  const bool is_python = pipeline.python_ns * 2 >= pipeline.waited_ns;
  const double at_once = kind == IteratorClass::kTransform               ? 1
                         : kind == IteratorClass::kParallel && is_python ? pipeline.python_at_once
                                                                         : 0;
  if (!account.is_bound || account.rest_ns <= 0 || at_once == 0) return account;
  account.service_ns = static_cast<int64_t>(static_cast<double>(blamed.total_ns) * at_once /
                                            static_cast<double>(pipeline.waits.size()));
  account.suffice = static_cast<uint32_t>(
      std::clamp(std::ceil(Ratio(account.service_ns, account.rest_ns)), 1.0, 65536.0));
  return account;
}

}  // namespace gpuprof::analysis
