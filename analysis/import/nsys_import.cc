// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See nsys_import.h.

#include "analysis/import/nsys_import.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/inflating_source.h"
#include "analysis/import/known_files.h"
#include "analysis/import/nsys_importer.h"
#include "analysis/import/sqlite_file.h"
#include "proto/contract.h"

namespace gpuprof::analysis::import {
namespace {

namespace fs = std::filesystem;
using codec::InputPath;

constexpr size_t kMostEntries = 10'000;

struct Input {
  ForeignFile file;
  std::unique_ptr<SqliteFile> database;
  std::optional<MemoryMeter> meter;
  std::optional<NsysImporter> importer;  // none: nothing could be read
  Error error;
  uint64_t file_bytes = 0;
  bool is_damaged = false;
  std::vector<Process> processes;
};

bool HasNsysName(const std::string& name) {
  return name.ends_with(".sqlite") || name.ends_with(".sqlite.gz") || name.ends_with(".sqlite.zst");
}

bool BeginsAsDatabase(const ForeignFile& file) { return BeginsAsSqlite(BeginningOf(file, 16)); }

std::vector<ForeignFile> ExportsInZip(const InputPath& path) {
  std::vector<ForeignFile> files;
  const Result<std::vector<ZipMember>> members = ListZip(path);
  if (!members.ok()) return files;
  for (const ZipMember& member : *members) {
    ForeignFile file = MemberOf(path, member);
    if (HasNsysName(member.name) && BeginsAsDatabase(file)) files.push_back(std::move(file));
    if (files.size() == kMostEntries) break;
  }
  return files;
}

std::vector<ForeignFile> ExportsInFolder(const InputPath& path) {
  std::vector<ForeignFile> files;
  std::error_code error;
  size_t entries = 0;
  for (fs::directory_iterator at(path.path, error), end;
       !error && at != end && ++entries < kMostEntries; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(proto::kTraceSuffix) || name == proto::kBundleFile) return {};
    if (!HasNsysName(name)) continue;
    ForeignFile file = FileAt(path.Below(name));
    if (BeginsAsDatabase(file) && LooksLikeNsys(file)) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const ForeignFile& a, const ForeignFile& b) { return a.path.path < b.path.path; });
  return files;
}

void Read(Input* input, ImportMemory* memory) {
  input->file_bytes = SizeOf(input->file);
  Result<std::unique_ptr<RandomBytes>> bytes =
      OpenRandomBytes(input->file, memory->MostOf(input->file_bytes), &input->is_damaged);
  if (!bytes.ok()) {
    input->error = bytes.error();
    return;
  }
  Result<std::unique_ptr<SqliteFile>> database =
      SqliteFile::Open(std::move(*bytes), input->file.Title());
  if (!database.ok()) {
    input->error = database.error();
    return;
  }
  if (!IsNsysExport(**database)) {
    input->error = NamedError(input->file, Unreadable(input->file.Title() + ": no export"));
    return;
  }
  input->database = std::move(*database);
  input->meter.emplace(memory, input->file.Title(), input->file_bytes);
  input->importer.emplace(input->database.get(), &*input->meter);
  input->importer->Read();
}

void AddFaults(const Input& input, ModelBuilder* model) {
  if (input.error) model->AddFault({input.file.shown, 0, input.error.message});
  if (input.is_damaged) {
    model->AddFault(
        {input.file.shown, 0, "the compressed bytes are cut or damaged: later rows are lost"});
  }
  if (!input.importer) return;
  for (const std::string& fault : input.importer->faults())
    model->AddFault({input.file.shown, 0, fault});
}

void Build(std::vector<std::unique_ptr<Input>>* inputs, const OpenOptions& options,
           ModelBuilder* model) {
  const auto has_rows = [](const Input& input) {
    return input.importer && input.importer->has_rows();
  };
  int64_t origin = INT64_MAX;
  for (const auto& input : *inputs) {
    if (has_rows(*input) && input->importer->IsWallClock())
      origin = std::min(origin, input->importer->first_ns());
  }
  ParallelFor(inputs->size(), options.threads, [&](size_t i, int) {
    Input& input = *(*inputs)[i];
    if (!has_rows(input)) return;
    const bool is_placed = origin != INT64_MAX && input.importer->IsWallClock();
    input.processes =
        input.importer->Build(input.file.shown, is_placed ? origin : input.importer->first_ns());
  });
  Trace& trace = model->trace();
  trace.origin_realtime_ns = origin == INT64_MAX ? 0 : origin;
  NoteCounts all;
  for (const auto& input : *inputs) {
    if (input->file.is_member()) all.Add(ImportNoteKind::kInZip, "", 1);
    AddFaults(*input, model);
    if (!input->importer) continue;
    if (origin == INT64_MAX && has_rows(*input))
      trace.origin_realtime_ns = input->importer->first_ns();
    for (const ImportNote& note : input->importer->notes().Take())
      all.Add(note.kind, note.example, note.count);
    for (Process& process : input->processes) {
      process.file_bytes = input->file_bytes;
      model->AddProcess(std::move(process));
    }
  }
  trace.import_notes = all.Take();
  model->TellProcessesApart();
}

}  // namespace

bool LooksLikeNsys(const ForeignFile& file) {
  if (file.is_member()) return true;
  Result<std::unique_ptr<RandomBytes>> bytes = FileBytesAt::Open(file.path);
  if (!bytes.ok()) return false;
  char first[4] = {};
  const Result<size_t> got = (*bytes)->ReadAt(0, first, sizeof first);
  if (got.ok() && InflatingSource::IsCompressed({first, *got})) return true;
  const Result<std::unique_ptr<SqliteFile>> database =
      SqliteFile::Open(std::move(*bytes), file.Title());
  return database.ok() && IsNsysExport(**database);
}

std::vector<ForeignFile> NsysFiles(const InputPath& path) {
  struct stat status {};
  if (!codec::StatInput(path, &status)) return {};
  if (S_ISDIR(status.st_mode)) return ExportsInFolder(path);
  if (!S_ISREG(status.st_mode)) return {};
  ForeignFile file = FileAt(path);
  const std::string beginning = BeginningOf(file, 16);
  if (BeginsAsZip(beginning)) return ExportsInZip(path);
  if (!BeginsAsSqlite(beginning)) return {};
  return {std::move(file)};
}

std::vector<ForeignFile> NsysFilesBelow(const InputPath&) { return {}; }

Error ImportNsys(const std::vector<ForeignFile>& files, const OpenOptions& options,
                 ModelBuilder* model) {
  model->trace().importer = kNsysImporter;
  std::vector<std::unique_ptr<Input>> inputs;
  for (const ForeignFile& file : files) {
    inputs.push_back(std::make_unique<Input>());
    inputs.back()->file = file;
  }
  ImportMemory memory(options.memory_limit_bytes);
  ParallelFor(inputs.size(), options.threads,
              [&](size_t i, int) { Read(inputs[i].get(), &memory); });
  const bool is_any_read = std::any_of(inputs.begin(), inputs.end(),
                                       [](const auto& input) { return !!input->importer; });
  if (!is_any_read) return inputs.front()->error;
  Build(&inputs, options, model);
  return {};
}

}  // namespace gpuprof::analysis::import
