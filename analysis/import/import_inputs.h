// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the imports of several files have in common: files are read at once, get one origin, and
// become processes. Any thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/parallel.h"
#include "analysis/import/foreign_file.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/note_counts.h"
#include "analysis/model/model_builder.h"

namespace gpuprof::analysis::import {

// The clock of files whose times count from 1970.
inline constexpr char kWallClock[] = "wall clock";

// One file. An importer's own type has these, and what reads its format.
struct ImportInput {
  ForeignFile file;
  Error error;
  uint64_t file_bytes = 0;
  std::vector<Process> processes;

  // Each type also has these members:
  //   void Read(ImportMemory* memory, const OpenOptions& options)
  //   bool IsRead() const             there is something to show
  //   bool HasRows() const
  //   std::string Clock() const       files with one clock are placed by it; empty: it is their own
  //   int64_t FirstNs() const         of the earliest row
  //   NoteCounts& Notes()
  //   void Build(int64_t origin_ns)   fills `processes`
  //   void AddFaults(ModelBuilder* model) const
};

// Reads files, many at once. An Error only if nothing could be read.
template <typename Input>
Error ReadInputs(const std::vector<ForeignFile>& files, const OpenOptions& options,
                 std::vector<std::unique_ptr<Input>>* inputs) {
  for (const ForeignFile& file : files) {
    inputs->push_back(std::make_unique<Input>());
    inputs->back()->file = file;
  }
  ImportMemory memory(options.memory_limit_bytes);
  ParallelFor(inputs->size(), options.threads,
              [&](size_t i, int) { (*inputs)[i]->Read(&memory, options); });
  const bool is_any_read = std::any_of(inputs->begin(), inputs->end(),
                                       [](const auto& input) { return input->IsRead(); });
  return is_any_read ? Error() : inputs->front()->error;
}

// Makes the processes of files that were read. `all` has notes on them all.
template <typename Input>
void BuildInputs(std::vector<std::unique_ptr<Input>>* inputs, const OpenOptions& options,
                 NoteCounts all, ModelBuilder* model) {
  std::map<std::string, int64_t> origins;
  for (const auto& input : *inputs) {
    if (!input->IsRead() || !input->HasRows() || input->Clock().empty()) continue;
    const auto at = origins.try_emplace(input->Clock(), INT64_MAX).first;
    at->second = std::min(at->second, input->FirstNs());
  }
  ParallelFor(inputs->size(), options.threads, [&](size_t i, int) {
    Input& input = *(*inputs)[i];
    if (!input.IsRead() || !input.HasRows()) return;
    const auto origin = origins.find(input.Clock());
    input.Build(origin == origins.end() ? input.FirstNs() : origin->second);
  });
  const auto wall = origins.find(kWallClock);
  Trace& trace = model->trace();
  trace.origin_realtime_ns = wall == origins.end() ? 0 : wall->second;
  for (const auto& input : *inputs) {
    if (input->file.is_member()) all.Add(ImportNoteKind::kInZip, "", 1);
    input->AddFaults(model);
    if (!input->IsRead()) continue;
    if (wall == origins.end() && input->HasRows()) trace.origin_realtime_ns = input->FirstNs();
    for (const ImportNote& note : input->Notes().Take())
      all.Add(note.kind, note.example, note.count);
    for (Process& process : input->processes) {
      process.file_bytes = input->file_bytes;
      model->AddProcess(std::move(process));
    }
  }
  trace.import_notes = all.Take();
  model->TellProcessesApart();
}

}  // namespace gpuprof::analysis::import
