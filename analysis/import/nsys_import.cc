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

#include "analysis/import/import_inputs.h"
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

struct NsysInput : ImportInput {
  void Read(ImportMemory* memory, const OpenOptions& options);
  bool IsRead() const { return importer.has_value(); }
  bool HasRows() const { return importer->has_rows(); }
  std::string Clock() const { return importer->IsWallClock() ? kWallClock : ""; }
  int64_t FirstNs() const { return importer->first_ns(); }
  NoteCounts& Notes() { return importer->notes(); }
  void Build(int64_t origin_ns) { processes = importer->Build(file.shown, origin_ns); }
  void AddFaults(ModelBuilder* model) const;

  std::unique_ptr<SqliteFile> database;
  std::optional<MemoryMeter> meter;
  std::optional<NsysImporter> importer;  // none: nothing could be read
  bool is_damaged = false;
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

void NsysInput::Read(ImportMemory* memory, const OpenOptions&) {
  file_bytes = SizeOf(file);
  Result<std::unique_ptr<RandomBytes>> bytes =
      OpenRandomBytes(file, memory->MostOf(file_bytes), &is_damaged);
  if (!bytes.ok()) {
    error = bytes.error();
    return;
  }
  Result<std::unique_ptr<SqliteFile>> opened = SqliteFile::Open(std::move(*bytes), file.Title());
  if (!opened.ok()) {
    error = opened.error();
    return;
  }
  if (!IsNsysExport(**opened)) {
    error = NamedError(file, Unreadable(file.Title() + ": no export"));
    return;
  }
  database = std::move(*opened);
  meter.emplace(memory, file.Title(), file_bytes);
  importer.emplace(database.get(), &*meter);
  importer->Read();
}

void NsysInput::AddFaults(ModelBuilder* model) const {
  if (error) model->AddFault({file.shown, 0, error.message});
  if (is_damaged) {
    model->AddFault(
        {file.shown, 0, "the compressed bytes are cut or damaged: later rows are lost"});
  }
  if (!importer) return;
  for (const std::string& fault : importer->faults()) model->AddFault({file.shown, 0, fault});
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
  std::vector<std::unique_ptr<NsysInput>> inputs;
  if (Error error = ReadInputs(files, options, &inputs)) return error;
  BuildInputs(&inputs, options, {}, model);
  return {};
}

}  // namespace gpuprof::analysis::import
