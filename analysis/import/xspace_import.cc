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

#include "analysis/base/utf8.h"
#include "analysis/import/import_inputs.h"
#include "analysis/import/known_files.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/xspace_importer.h"
#include "analysis/import/xspace_reader.h"

namespace gpuprof::analysis::import {
namespace {

// One file: read, then built.
struct XSpaceInput : ImportInput {
  void Read(ImportMemory* memory, const OpenOptions& options);
  bool IsRead() const { return importer.has_value(); }
  bool HasRows() const { return importer->has_rows(); }
  std::string Clock() const { return importer->IsWallClock() ? kWallClock : ""; }
  int64_t FirstNs() const { return first_ns; }
  NoteCounts& Notes() { return importer->notes(); }
  void Build(int64_t origin_ns) {
    processes.push_back(importer->Build(file.shown, facts.host, origin_ns));
  }
  void AddFaults(ModelBuilder* model) const;

  std::optional<XSpaceImporter> importer;
  XSpaceFacts facts;
  bool is_damaged = false;  // its compressed bytes
  int64_t first_ns = 0;
};

void AddNotes(XSpaceInput* input) {
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

void ReadBytes(const RandomBytes& bytes, ImportMemory* memory, XSpaceInput* input) {
  const uint64_t file_bytes = SizeOf(input->file);
  MemoryMeter meter(memory, input->file.Title(), file_bytes);
  input->importer.emplace(input->file_bytes);
  const uint64_t held_bytes = bytes.is_in_memory() ? bytes.size() : 0;
  const LimitedBytes limited(&bytes, &*input->importer, &meter, held_bytes);
  input->error = ReadXSpace(limited, input->file.Title(), &*input->importer, &input->facts);
}

void XSpaceInput::Read(ImportMemory* memory, const OpenOptions&) {
  const Result<std::unique_ptr<RandomBytes>> bytes =
      OpenRandomBytes(file, memory->MostOf(SizeOf(file)), &is_damaged);
  if (!bytes.ok()) {
    error = bytes.error();
    return;
  }
  file_bytes = (*bytes)->size();
  ReadBytes(**bytes, memory, this);
  if (facts.planes == 0) {
    importer.reset();
    if (!error) {
      error = Unreadable(file.Title() + ": no plane of an XSpace is in the " +
                         std::to_string(file_bytes) +
                         " bytes of the file; name a file that TensorFlow's or JAX's profiler "
                         "wrote as HOST.xplane.pb");
    }
    error = NamedError(file, error);
    return;
  }
  AddNotes(this);
  first_ns = importer->Close();
}

void XSpaceInput::AddFaults(ModelBuilder* model) const {
  if (error) model->AddFault({file.shown, 0, error.message});
  if (is_damaged) {
    model->AddFault({file.shown, facts.truncated_at,
                     "the compressed bytes are cut or damaged: later events are lost"});
  } else if (!error && facts.is_truncated) {
    model->AddFault({file.shown, facts.truncated_at,
                     "the file ends within a plane: it was cut, and later events are lost"});
  }
}

}  // namespace

Error ImportXSpace(const XSpaceRun& run, const OpenOptions& options, ModelBuilder* model) {
  model->trace().importer = kXSpaceImporter;
  std::vector<std::unique_ptr<XSpaceInput>> inputs;
  if (Error error = ReadInputs(run.files, options, &inputs)) return error;
  NoteCounts all;
  if (run.other_runs != 0) {
    all.Add(ImportNoteKind::kOtherRun, std::filesystem::path(run.folder).filename().string(),
            run.other_runs + 1);
  }
  BuildInputs(&inputs, options, std::move(all), model);
  return {};
}

}  // namespace gpuprof::analysis::import
