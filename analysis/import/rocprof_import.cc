// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rocprof_import.h.

#include "analysis/import/rocprof_import.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analysis/import/import_inputs.h"
#include "analysis/import/known_files.h"
#include "analysis/import/rocprof_importer.h"
#include "analysis/import/rocprof_reader.h"
#include "proto/contract.h"

namespace gpuprof::analysis::import {
namespace {

namespace fs = std::filesystem;
using codec::InputPath;

constexpr size_t kMostEntries = 10'000;

struct RocprofInput : ImportInput {
  void Read(ImportMemory* memory, const OpenOptions&) {
    file_bytes = SizeOf(file);
    const Result<std::unique_ptr<ByteSource>> source = OpenSource(file);
    if (!source.ok()) {
      error = source.error();
      return;
    }
    meter.emplace(memory, file.Title(), file_bytes);
    importer.emplace(&*meter);
    error = ReadRocprof(source->get(), file.Title(), &*importer, &text);
    if (!IsRead() && error) error = NamedError(file, error);
    NoteCounts& notes = importer->notes();
    if (text.bad_texts != 0) notes.Add(ImportNoteKind::kBadText, "", text.bad_texts);
    if (text.unreadable != 0) notes.Add(ImportNoteKind::kUnreadableEvent, "", text.unreadable);
    if (text.is_truncated && !error)
      notes.Add(ImportNoteKind::kTruncated, "at byte " + std::to_string(text.stopped_at), 1);
  }
  bool IsRead() const { return importer && text.processes != 0; }
  bool HasRows() const { return importer->has_rows(); }
  std::string Clock() const { return importer->machine(); }
  int64_t FirstNs() const { return importer->first_ns(); }
  NoteCounts& Notes() { return importer->notes(); }
  void Build(int64_t origin_ns) { processes = importer->Build(file.shown, origin_ns); }
  void AddFaults(ModelBuilder* model) const {
    const auto add = [&](const std::string& why) {
      model->AddFault({file.shown, text.stopped_at, why});
    };
    if (error) return add(error.message);
    if (text.is_damaged) {
      add("the compressed bytes are cut or damaged: later records are lost");
    } else if (text.is_truncated) {
      add("the file ends within its records: it was cut, and later records are lost");
    } else if (text.is_broken) {
      add("the text is not JSON from here on: later records are lost");
    }
  }

  std::optional<MemoryMeter> meter;
  std::optional<RocprofImporter> importer;
  RocprofText text;
};

bool HasJsonName(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".json.zst");
}

std::vector<ForeignFile> RocprofInZip(const InputPath& path) {
  std::vector<ForeignFile> files;
  const Result<std::vector<ZipMember>> members = ListZip(path);
  if (!members.ok()) return files;
  for (const ZipMember& member : *members) {
    if (!HasJsonName(member.name)) continue;
    ForeignFile file = MemberOf(path, member);
    if (LooksLikeRocprof(file)) files.push_back(std::move(file));
    if (files.size() == kMostEntries) break;
  }
  return files;
}

// Adds the files of a folder, which are shown with `below` before their names. Nothing is added if
// the folder is a bundle.
void AddFolder(const InputPath& folder, const std::string& below, std::vector<ForeignFile>* files) {
  // A folder may have thousands of files of others: the first ones tell whether it has any.
  constexpr size_t kMostVainLooks = 64;
  std::error_code error;
  size_t entries = 0;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder.path, error), end;
       !error && at != end && ++entries < kMostEntries; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(proto::kTraceSuffix) || name == proto::kBundleFile) return;
    if (HasJsonName(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  size_t looks = 0, found = 0;
  for (const std::string& name : names) {
    if (found == 0 && looks++ == kMostVainLooks) return;
    ForeignFile file = FileAt(folder.Below(name));
    file.shown = below + name;
    if (!LooksLikeRocprof(file)) continue;
    files->push_back(std::move(file));
    ++found;
  }
}

}  // namespace

bool LooksLikeRocprof(const ForeignFile& file) { return BeginsAsRocprof(BeginningOf(file, 512)); }

std::vector<ForeignFile> RocprofFiles(const InputPath& path) {
  struct stat status {};
  std::vector<ForeignFile> files;
  if (!codec::StatInput(path, &status)) return {};
  if (S_ISDIR(status.st_mode)) {
    AddFolder(path, "", &files);
    return files;
  }
  if (!S_ISREG(status.st_mode)) return {};
  ForeignFile file = FileAt(path);
  const std::string beginning = BeginningOf(file, 512);
  if (BeginsAsZip(beginning)) return RocprofInZip(path);
  if (BeginsAsRocprof(beginning)) files.push_back(std::move(file));
  return files;
}

std::vector<ForeignFile> RocprofFilesBelow(const InputPath& path) {
  struct stat status {};
  if (!codec::StatInput(path, &status) || !S_ISDIR(status.st_mode)) return {};
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path.path, error), end;
       !error && at != end && names.size() < kMostEntries; at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (name.ends_with(proto::kTraceSuffix) || name == proto::kBundleFile) return {};
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::vector<ForeignFile> files;
  for (const std::string& name : names) AddFolder(path.Below(name), name + "/", &files);
  return files;
}

Error ImportRocprof(const std::vector<ForeignFile>& files, const OpenOptions& options,
                    ModelBuilder* model) {
  model->trace().importer = kRocprofImporter;
  std::vector<std::unique_ptr<RocprofInput>> inputs;
  if (Error error = ReadInputs(files, options, &inputs)) return error;
  BuildInputs(&inputs, options, {}, model);
  return {};
}

}  // namespace gpuprof::analysis::import
