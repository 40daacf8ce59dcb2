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
#include "analysis/import/import_memory.h"
#include "analysis/import/known_files.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/xspace_importer.h"
#include "analysis/import/xspace_reader.h"

namespace gpuprof::analysis::import {
namespace {

// One file: read, then built.
struct Input {
  ForeignFile file;
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
  if (facts.is_truncated && !input->error) {
    notes.Add(ImportNoteKind::kTruncated, "at byte " + std::to_string(facts.truncated_at),
              facts.lost_in_end);
  }
  // Reading that was ended leaves parts without their end.
  const uint64_t broken_parts = input->error ? 0 : facts.broken_parts;
  if (const uint64_t count = facts.unreadable_events + broken_parts)
    notes.Add(ImportNoteKind::kUnreadableEvent, first, count);
  if (facts.entries_left_out != 0)
    notes.Add(ImportNoteKind::kUnknownName, "tables of names are too long", facts.entries_left_out);
  constexpr size_t kMostSaid = 20, kMostSaidBytes = 1000;
  std::vector<std::string> said = facts.errors;
  said.insert(said.end(), facts.warnings.begin(), facts.warnings.end());
  said.resize(std::min(said.size(), kMostSaid));
  for (std::string& text : said) text.resize(std::min(text.size(), kMostSaidBytes));
  if (!said.empty()) notes.Add(ImportNoteKind::kSaidByFile, said.front(), facts.said_count);
  bool is_repaired = false;
  for (const std::string& text : said)
    input->importer->builder().AddNote("the file says: " + Utf8Of(text, &is_repaired));
}

// Ends the file when its events take as much memory as they may.
class LimitedBytes : public RandomBytes {
 public:
  // `held_bytes` tells what inflating took.
  LimitedBytes(const RandomBytes* inner, XSpaceImporter* importer, MemoryMeter* meter,
               uint64_t held_bytes)
      : inner_(inner), importer_(importer), meter_(meter), held_bytes_(held_bytes) {}
  uint64_t size() const override { return inner_->size(); }
  Result<size_t> ReadAt(uint64_t at, char* to, size_t most) const override {
    if (Error error = meter_->Check(held_bytes_ + importer_->held_bytes())) return error;
    return inner_->ReadAt(at, to, most);
  }

 private:
  const RandomBytes* inner_;
  XSpaceImporter* importer_;
  MemoryMeter* meter_;
  uint64_t held_bytes_;
};

void ReadBytes(const RandomBytes& bytes, ImportMemory* memory, Input* input) {
  const uint64_t file_bytes = SizeOf(input->file);
  MemoryMeter meter(memory, input->file.Title(), file_bytes);
  input->importer.emplace(input->file_bytes);
  const uint64_t held_bytes = bytes.is_in_memory() ? bytes.size() : 0;
  const LimitedBytes limited(&bytes, &*input->importer, &meter, held_bytes);
  input->error = ReadXSpace(limited, input->file.Title(), &*input->importer, &input->facts);
}

void Read(Input* input, ImportMemory* memory) {
  const Result<std::unique_ptr<RandomBytes>> bytes =
      OpenRandomBytes(input->file, memory->MostOf(SizeOf(input->file)), &input->is_damaged);
  if (!bytes.ok()) {
    input->error = bytes.error();
    return;
  }
  input->file_bytes = (*bytes)->size();
  ReadBytes(**bytes, memory, input);
  if (input->facts.planes == 0) {
    input->importer.reset();
    if (!input->error) {
      input->error =
          Unreadable(input->file.Title() + ": no plane of an XSpace is in the " +
                     std::to_string(input->file_bytes) +
                     " bytes of the file; name a file that TensorFlow's or JAX's profiler wrote as "
                     "HOST.xplane.pb");
    }
    input->error = NamedError(input->file, input->error);
    return;
  }
  AddNotes(input);
  input->first_ns = input->importer->Close();
}

void AddFaults(const Input& input, ModelBuilder* model) {
  if (input.error) model->AddFault({input.file.shown, 0, input.error.message});
  if (input.is_damaged) {
    model->AddFault({input.file.shown, input.facts.truncated_at,
                     "the compressed bytes are cut or damaged: later events are lost"});
  } else if (!input.error && input.facts.is_truncated) {
    model->AddFault({input.file.shown, input.facts.truncated_at,
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
    input.processes.push_back(input.importer->Build(input.file.shown, input.facts.host,
                                                    is_placed ? origin : input.first_ns));
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
  for (const ForeignFile& file : run.files) {
    inputs.push_back(std::make_unique<Input>());
    inputs.back()->file = file;
  }
  ImportMemory memory(options.memory_limit_bytes);
  ParallelFor(inputs.size(), options.threads,
              [&](size_t i, int) { Read(inputs[i].get(), &memory); });
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
