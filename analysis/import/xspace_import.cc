// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_import.h.

#include "analysis/import/xspace_import.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/base/parallel.h"
#include "analysis/base/utf8.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/xspace_importer.h"
#include "analysis/import/xspace_reader.h"

namespace gpuprof::analysis::import {
namespace {

// One file: read, then built.
struct Input {
  InputPath path;
  std::string name;
  std::optional<XSpaceImporter> importer;
  XSpaceFacts facts;
  Error error;
  bool is_damaged = false;  // its compressed bytes
  uint64_t file_bytes = 0;
  int64_t first_ns = 0;
  std::vector<Process> processes;
};

void AddNotes(Input* input) {
  const XSpaceFacts& facts = input->facts;
  NoteCounts& notes = input->importer->notes();
  const std::string first = "the first at byte " + std::to_string(facts.first_fault_at);
  if (facts.is_truncated) {
    notes.Add(ImportNoteKind::kTruncated, "at byte " + std::to_string(facts.truncated_at),
              facts.lost_in_end);
  }
  if (const uint64_t count = facts.unreadable_events + facts.broken_parts)
    notes.Add(ImportNoteKind::kUnreadableEvent, first, count);
  if (facts.entries_left_out != 0)
    notes.Add(ImportNoteKind::kUnknownName, "tables of names are too long", facts.entries_left_out);
  if (facts.said_count != 0)
    notes.Add(ImportNoteKind::kSaidByFile, facts.said.front(), facts.said_count);
  bool is_repaired = false;
  for (const std::string& said : facts.said)
    input->importer->builder().AddNote("the file says: " + Utf8Of(said, &is_repaired));
}

void Read(Input* input) {
  Result<std::unique_ptr<RandomBytes>> file = OpenRandomBytes(input->path, &input->is_damaged);
  if (!file.ok()) {
    input->error = file.error();
    return;
  }
  input->file_bytes = (*file)->size();
  input->importer.emplace(input->file_bytes);
  input->error = ReadXSpace(**file, input->path.path, &*input->importer, &input->facts);
  if (input->facts.planes == 0) {
    input->importer.reset();
    if (!input->error) input->error = Unreadable(input->path.path + ": no plane can be read");
    return;
  }
  AddNotes(input);
  input->first_ns = input->importer->Close();
}

void AddFaults(const Input& input, ModelBuilder* model) {
  if (input.error) model->AddFault({input.name, 0, input.error.message});
  if (input.is_damaged) {
    model->AddFault({input.name, input.facts.truncated_at,
                     "the compressed bytes are cut or damaged: later events are lost"});
  } else if (input.facts.is_truncated) {
    model->AddFault({input.name, input.facts.truncated_at,
                     "the file ends within a plane: it was cut, and later events are lost"});
  }
}

void Build(std::vector<std::unique_ptr<Input>>* inputs, const OpenOptions& options, NoteCounts* all,
           ModelBuilder* model) {
  Trace* trace = &model->trace();
  int64_t origin = INT64_MAX;
  for (const auto& input : *inputs) {
    if (input->importer && input->importer->has_rows() && input->importer->IsWallClock())
      origin = std::min(origin, input->first_ns);
  }
  ParallelFor(inputs->size(), options.threads, [&](size_t i, int) {
    Input& input = *(*inputs)[i];
    if (!input.importer || !input.importer->has_rows()) return;
    const bool is_placed = origin != INT64_MAX && input.importer->IsWallClock();
    input.processes.push_back(
        input.importer->Build(input.name, input.facts.host, is_placed ? origin : input.first_ns));
  });
  trace->origin_realtime_ns = origin;
  for (const auto& input : *inputs) {
    AddFaults(*input, model);
    if (!input->importer) continue;
    if (origin == INT64_MAX && input->importer->has_rows())
      trace->origin_realtime_ns = input->first_ns;
    for (const ImportNote& note : input->importer->notes().Take())
      all->Add(note.kind, note.example, note.count);
    for (Process& process : input->processes) {
      process.file_bytes = input->file_bytes;
      model->AddProcess(std::move(process));
    }
  }
  if (trace->origin_realtime_ns == INT64_MAX) trace->origin_realtime_ns = 0;
  model->TellProcessesApart();
}

}  // namespace

Error ImportXSpace(const XSpaceRun& run, const OpenOptions& options, ModelBuilder* model) {
  model->trace().importer = kXSpaceImporter;
  std::vector<std::unique_ptr<Input>> inputs;
  for (const InputPath& file : run.files) {
    inputs.push_back(std::make_unique<Input>());
    inputs.back()->path = file;
    inputs.back()->name = std::filesystem::path(file.path).filename().string();
  }
  ParallelFor(inputs.size(), options.threads, [&](size_t i, int) { Read(inputs[i].get()); });
  const bool is_any_read = std::any_of(inputs.begin(), inputs.end(),
                                       [](const auto& input) { return !!input->importer; });
  if (!is_any_read) return inputs.front()->error;
  NoteCounts all;
  if (run.other_runs != 0) {
    all.Add(ImportNoteKind::kOtherRun, std::filesystem::path(run.folder).filename().string(),
            run.other_runs + 1);
  }
  Build(&inputs, options, &all, model);
  model->trace().import_notes = all.Take();
  return {};
}

}  // namespace gpuprof::analysis::import
