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

#include "analysis/base/parallel.h"
#include "analysis/import/chrome_reader.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/kineto_importer.h"
#include "analysis/import/known_files.h"

namespace gpuprof::analysis::import {
namespace {

// One file: read, then built.
struct Input {
  // What came before a fault is kept.
  bool IsReadable() const { return !error || text.events != 0; }

  ForeignFile file;
  std::optional<MemoryMeter> meter;
  KinetoImporter importer;
  ChromeTextNotes text;
  Error error;
  uint64_t file_bytes = 0;
  int64_t first_ns = 0;
  std::vector<Process> processes;
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

Error ReadText(Input* input, std::atomic<uint64_t>* count) {
  const Result<std::unique_ptr<ByteSource>> file = OpenSource(input->file);
  if (!file.ok()) return file.error();
  // A member gives more bytes than its archive has.
  CountingSource source(file->get(), input->file.is_member() ? nullptr : count);
  return ReadChrome(&source, input->file.Title(), &input->importer, &input->text);
}

void Read(Input* input, ImportMemory* memory, std::atomic<uint64_t>* count) {
  input->file_bytes = SizeOf(input->file);
  input->meter.emplace(memory, input->file.Title(), input->file_bytes);
  input->importer.LimitMemory(&*input->meter);
  input->error = ReadText(input, count);
  if (!input->IsReadable()) {
    input->error = NamedError(input->file, input->error);
    return;
  }
  AddTextNotes(input->text, !!input->error, &input->importer.notes());
  input->first_ns = input->importer.Close();
}

// A file that was cut is damaged. One that lacks only the closing brackets has all its events. What
// follows on an error is not known.
void AddFaults(const Input& input, ModelBuilder* model) {
  if (input.error) model->AddFault({input.file.shown, 0, input.error.message});
  if (input.text.is_damaged) {
    model->AddFault({input.file.shown, input.text.truncated_at,
                     "the compressed bytes are cut or damaged: later events are lost"});
  } else if (!input.error && input.text.is_truncated && input.text.lost_in_end != 0) {
    model->AddFault({input.file.shown, input.text.truncated_at,
                     "the file ends within an event: it was cut, and later events are lost"});
  }
}

// Joins files of one process to the first of them.
void JoinRecordings(const std::vector<std::unique_ptr<Input>>& inputs) {
  std::vector<Input*> order;
  for (const auto& input : inputs)
    if (input->IsReadable()) order.push_back(input.get());
  std::stable_sort(order.begin(), order.end(),
                   [](const Input* x, const Input* y) { return x->first_ns < y->first_ns; });
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!order[k]->importer.Follow(&order[i]->importer)) continue;
      order[k]->file_bytes += order[i]->file_bytes;
      break;
    }
  }
}

void Build(std::vector<std::unique_ptr<Input>>* inputs, const OpenOptions& options,
           ModelBuilder* model) {
  JoinRecordings(*inputs);
  int64_t origin = INT64_MAX;
  for (const auto& input : *inputs) {
    if (input->IsReadable() && input->importer.IsWallClock())
      origin = std::min(origin, input->first_ns);
  }
  ParallelFor(inputs->size(), options.threads, [&](size_t i, int) {
    Input& input = *(*inputs)[i];
    if (!input.IsReadable()) return;
    const bool is_placed = origin != INT64_MAX && input.importer.IsWallClock();
    input.processes = input.importer.Build(input.file.shown, is_placed ? origin : input.first_ns);
  });
  Trace* trace = &model->trace();
  trace->origin_realtime_ns = origin;
  NoteCounts all;
  for (const auto& input : *inputs) {
    if (input->file.is_member()) all.Add(ImportNoteKind::kInZip, "", 1);
    AddFaults(*input, model);
    if (origin == INT64_MAX && input->IsReadable()) trace->origin_realtime_ns = input->first_ns;
    for (const ImportNote& note : input->importer.notes().Take())
      all.Add(note.kind, note.example, note.count);
    for (Process& process : input->processes) {
      process.file_bytes = input->file_bytes;
      model->AddProcess(std::move(process));
    }
  }
  if (trace->origin_realtime_ns == INT64_MAX) trace->origin_realtime_ns = 0;
  trace->import_notes = all.Take();
  model->TellProcessesApart();
}

}  // namespace

Error ImportChrome(const std::vector<ForeignFile>& files, const OpenOptions& options,
                   ModelBuilder* model) {
  model->trace().importer = kChromeImporter;
  std::vector<std::unique_ptr<Input>> inputs;
  for (const ForeignFile& file : files) {
    inputs.push_back(std::make_unique<Input>());
    inputs.back()->file = file;
  }
  ImportMemory memory(options.memory_limit_bytes);
  ParallelFor(inputs.size(), options.threads,
              [&](size_t i, int) { Read(inputs[i].get(), &memory, options.bytes_read); });
  const bool is_any_read = std::any_of(inputs.begin(), inputs.end(),
                                       [](const auto& input) { return input->IsReadable(); });
  if (!is_any_read) return inputs.front()->error;
  Build(&inputs, options, model);
  return {};
}

}  // namespace gpuprof::analysis::import
