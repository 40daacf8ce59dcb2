// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See chrome_import.h.

#include "analysis/import/chrome_import.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/import/chrome_reader.h"
#include "analysis/import/import_inputs.h"
#include "analysis/import/kineto_importer.h"
#include "analysis/import/known_files.h"

namespace gpuprof::analysis::import {
namespace {

// One file: read, then built.
struct ChromeInput : ImportInput {
  void Read(ImportMemory* memory, const OpenOptions& options);
  // What came before a fault is kept.
  bool IsRead() const { return !error || text.events != 0; }
  bool HasRows() const { return true; }
  std::string Clock() const { return importer.IsWallClock() ? kWallClock : ""; }
  int64_t FirstNs() const { return first_ns; }
  NoteCounts& Notes() { return importer.notes(); }
  void Build(int64_t origin_ns) { processes = importer.Build(file.shown, origin_ns); }
  void AddFaults(ModelBuilder* model) const;

  std::optional<MemoryMeter> meter;
  KinetoImporter importer;
  ChromeTextNotes text;
  int64_t first_ns = 0;
};

// Tells what the reader of the text mended or left out.
void AddTextNotes(const ChromeTextNotes& text, bool is_stopped, NoteCounts* notes) {
  const auto add = [&](ImportNoteKind kind, uint64_t count, const std::string& example) {
    if (count != 0) notes->Add(kind, example, count);
  };
  const std::string first = "the first at byte " + std::to_string(text.first_fault_at);
  if (text.is_truncated && !is_stopped) {
    notes->Add(ImportNoteKind::kTruncated, "at byte " + std::to_string(text.truncated_at),
               text.lost_in_end);
  }
  add(ImportNoteKind::kRepairedSyntax, text.repaired_events, first);
  add(ImportNoteKind::kUnreadableEvent, text.unreadable_events, first);
  add(ImportNoteKind::kUnreadableEvent, text.unreadable_headers, "a part before the events");
  add(ImportNoteKind::kBadText, text.bad_texts, "");
  add(ImportNoteKind::kNotRead, text.bytes_not_read, "");
}

// Counts the bytes that another source gives.
class CountingSource : public ByteSource {
 public:
  CountingSource(ByteSource* inner, std::atomic<uint64_t>* count) : inner_(inner), count_(count) {}
  Result<size_t> Read(char* to, size_t most) override {
    Result<size_t> got = inner_->Read(to, most);
    if (got.ok() && count_ != nullptr) *count_ += *got;
    return got;
  }

 private:
  ByteSource* inner_;
  std::atomic<uint64_t>* count_;
};

Error ReadText(ChromeInput* input, std::atomic<uint64_t>* count) {
  const Result<std::unique_ptr<ByteSource>> file = OpenSource(input->file);
  if (!file.ok()) return file.error();
  // A member gives more bytes than its archive has.
  CountingSource source(file->get(), input->file.is_member() ? nullptr : count);
  return ReadChrome(&source, input->file.Title(), &input->importer, &input->text);
}

void ChromeInput::Read(ImportMemory* memory, const OpenOptions& options) {
  file_bytes = SizeOf(file);
  meter.emplace(memory, file.Title(), file_bytes);
  importer.LimitMemory(&*meter);
  error = ReadText(this, options.bytes_read);
  if (!IsRead()) {
    error = NamedError(file, error);
    return;
  }
  AddTextNotes(text, !!error, &importer.notes());
  first_ns = importer.Close();
}

// A file that was cut is damaged. One that lacks only the closing brackets has all its events. What
// follows on an error is not known.
void ChromeInput::AddFaults(ModelBuilder* model) const {
  if (error) model->AddFault({file.shown, 0, error.message});
  if (text.is_damaged) {
    model->AddFault({file.shown, text.truncated_at,
                     "the compressed bytes are cut or damaged: later events are lost"});
  } else if (!error && text.is_truncated && text.lost_in_end != 0) {
    model->AddFault({file.shown, text.truncated_at,
                     "the file ends within an event: it was cut, and later events are lost"});
  }
}

// Joins files of one process to the first of them.
void JoinRecordings(const std::vector<std::unique_ptr<ChromeInput>>& inputs) {
  std::vector<ChromeInput*> order;
  for (const auto& input : inputs)
    if (input->IsRead()) order.push_back(input.get());
  std::stable_sort(order.begin(), order.end(), [](const ChromeInput* x, const ChromeInput* y) {
    return x->first_ns < y->first_ns;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!order[k]->importer.Follow(&order[i]->importer)) continue;
      order[k]->file_bytes += order[i]->file_bytes;
      break;
    }
  }
}

}  // namespace

Error ImportChrome(const std::vector<ForeignFile>& files, const OpenOptions& options,
                   ModelBuilder* model) {
  model->trace().importer = kChromeImporter;
  std::vector<std::unique_ptr<ChromeInput>> inputs;
  if (Error error = ReadInputs(files, options, &inputs)) return error;
  JoinRecordings(inputs);
  BuildInputs(&inputs, options, {}, model);
  return {};
}

}  // namespace gpuprof::analysis::import
