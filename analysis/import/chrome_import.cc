// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See chrome_import.h.

#include "analysis/import/chrome_import.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/parallel.h"
#include "analysis/import/chrome_reader.h"
#include "analysis/import/kineto_importer.h"
#include "proto/codec/input_path.h"
#include "proto/contract.h"

namespace gpuprof::analysis::import {
namespace {

namespace fs = std::filesystem;

// One file: read, then built.
struct Input {
  // What came before a fault is kept.
  bool IsReadable() const { return !error || text.events != 0; }

  InputPath path;
  std::string name;
  KinetoImporter importer;
  ChromeTextNotes text;
  Error error;
  uint64_t file_bytes = 0;
  int64_t first_ns = 0;
  std::vector<Process> processes;
};

bool HasChromeName(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool IsOwnName(const std::string& name) {
  return name == proto::kBundleFile || name.ends_with(proto::kTraceSuffix) ||
         name.ends_with(proto::kRingSuffix);
}

// Whether a file begins as JSON, or as what gzip makes of it.
bool BeginsAsJson(const InputPath& path) {
  const codec::OwnedFile file(codec::OpenInput(path));
  if (file.fd() < 0) return false;
  char bytes[4096];
  const ssize_t n = pread(file.fd(), bytes, sizeof bytes, 0);
  if (n <= 0) return false;
  std::string_view text(bytes, static_cast<size_t>(n));
  if (text.starts_with("\x1f\x8b")) return true;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// Tells what the reader of the text mended or left out.
void AddTextNotes(const ChromeTextNotes& text, NoteCounts* notes) {
  const auto add = [&](ImportNoteKind kind, uint64_t count, const std::string& example) {
    if (count != 0) notes->Add(kind, example, count);
  };
  const std::string first = "the first at byte " + std::to_string(text.first_fault_at);
  if (text.is_truncated) {
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
  const Result<std::unique_ptr<FileSource>> file = FileSource::Open(input->path);
  if (!file.ok()) return file.error();
  CountingSource source(file->get(), count);
  return ReadChrome(&source, input->path.path, &input->importer, &input->text);
}

void Read(Input* input, std::atomic<uint64_t>* count) {
  struct stat status;
  if (codec::StatInput(input->path, &status))
    input->file_bytes = static_cast<uint64_t>(status.st_size);
  input->error = ReadText(input, count);
  if (!input->IsReadable()) return;
  AddTextNotes(input->text, &input->importer.notes());
  input->first_ns = input->importer.Close();
}

// A file that was cut is damaged. One that lacks only the closing brackets has all its events.
void AddFaults(const Input& input, ModelBuilder* model) {
  if (input.error) model->AddFault({input.name, 0, input.error.message});
  if (input.text.is_damaged) {
    model->AddFault({input.name, input.text.truncated_at,
                     "the compressed bytes are cut or damaged: later events are lost"});
  } else if (input.text.is_truncated && input.text.lost_in_end != 0) {
    model->AddFault({input.name, input.text.truncated_at,
                     "the file ends within an event: it was cut, and later events are lost"});
  }
}

void Build(std::vector<std::unique_ptr<Input>>* inputs, const OpenOptions& options,
           ModelBuilder* model) {
  int64_t origin = INT64_MAX;
  for (const auto& input : *inputs) {
    if (input->IsReadable() && input->importer.IsWallClock())
      origin = std::min(origin, input->first_ns);
  }
  ParallelFor(inputs->size(), options.threads, [&](size_t i, int) {
    Input& input = *(*inputs)[i];
    if (!input.IsReadable()) return;
    const bool is_placed = origin != INT64_MAX && input.importer.IsWallClock();
    input.processes = input.importer.Build(input.name, is_placed ? origin : input.first_ns);
  });
  Trace* trace = &model->trace();
  trace->origin_realtime_ns = origin;
  NoteCounts all;
  for (const auto& input : *inputs) {
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

bool IsChromeInput(const InputPath& path) {
  struct stat status;
  if (!codec::StatInput(path, &status)) return false;
  if (!S_ISDIR(status.st_mode)) return S_ISREG(status.st_mode) && BeginsAsJson(path);
  const std::vector<std::string> names = NamesIn(path.path);
  return std::none_of(names.begin(), names.end(), IsOwnName) &&
         std::any_of(names.begin(), names.end(), HasChromeName);
}

std::vector<InputPath> ChromeFiles(const InputPath& path) {
  struct stat status;
  if (!codec::StatInput(path, &status) || !S_ISDIR(status.st_mode)) return {path};
  std::vector<InputPath> files;
  for (const std::string& name : NamesIn(path.path)) {
    if (HasChromeName(name)) files.push_back(path.Below(name));
  }
  return files;
}

Error ImportChrome(const InputPath& path, const OpenOptions& options, ModelBuilder* model) {
  model->trace().importer = kChromeImporter;
  std::vector<std::unique_ptr<Input>> inputs;
  for (const InputPath& file : ChromeFiles(path)) {
    inputs.push_back(std::make_unique<Input>());
    inputs.back()->path = file;
    inputs.back()->name = fs::path(file.path).filename().string();
  }
  ParallelFor(inputs.size(), options.threads,
              [&](size_t i, int) { Read(inputs[i].get(), options.bytes_read); });
  const bool is_any_read = std::any_of(inputs.begin(), inputs.end(),
                                       [](const auto& input) { return input->IsReadable(); });
  if (!is_any_read) return inputs.front()->error;
  Build(&inputs, options, model);
  return {};
}

}  // namespace gpuprof::analysis::import
