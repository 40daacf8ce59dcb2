// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See snapshot_import.h.

#include "analysis/import/snapshot_import.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "analysis/import/import_memory.h"
#include "analysis/import/inflating_source.h"
#include "analysis/import/snapshot_reader.h"
#include "analysis/model/builder.h"
#include "proto/contract.h"

namespace gpuprof::analysis::import {
namespace {

namespace fs = std::filesystem;

// What follows the two first bytes differs, but a snapshot is a dict, behind a frame or not.
bool LooksLikeSnapshot(const ForeignFile& file) { return BeginsAsPickle(BeginningOf(file, 16)); }

std::vector<ForeignFile> SnapshotsOfFolder(const codec::InputPath& path) {
  constexpr size_t kMostEntries = 10'000;
  std::vector<ForeignFile> files;
  std::error_code error;
  size_t entries = 0;
  for (fs::directory_iterator at(path.path, error), end;
       !error && at != end && ++entries < kMostEntries; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool has_traces = name.ends_with(proto::kTraceSuffix) || name == proto::kBundleFile ||
                            name.ends_with(".json") || name.ends_with(".gz");
    if (has_traces) return {};
    if (!name.ends_with(".pickle") && !name.ends_with(".pkl")) continue;
    ForeignFile file = FileAt(path.Below(name));
    if (LooksLikeSnapshot(file)) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const ForeignFile& a, const ForeignFile& b) { return a.path.path < b.path.path; });
  return files;
}

Result<std::shared_ptr<MemorySnapshot>> Read(const ForeignFile& file, ImportMemory* memory) {
  const Result<std::unique_ptr<ByteSource>> opened = OpenSource(file);
  if (!opened.ok()) return opened.error();
  InflatingSource source(opened->get(), file.Title());
  MemoryMeter meter(memory, file.Title(), SizeOf(file));
  auto snapshot = std::make_shared<MemorySnapshot>();
  const auto check = [&meter](uint64_t held_bytes) { return meter.Check(held_bytes); };
  if (Error error = ReadSnapshot(&source, file.Title(), check, snapshot.get())) return error;
  return snapshot;
}

}  // namespace

bool BeginsAsPickle(std::string_view beginning) {
  constexpr char kOldest = 2, kNewest = 5;  // protocols that begin with a byte of their own
  return beginning.size() > 1 && beginning[0] == '\x80' && beginning[1] >= kOldest &&
         beginning[1] <= kNewest;
}

std::vector<ForeignFile> SnapshotFiles(const codec::InputPath& path) {
  struct stat status {};
  if (!codec::StatInput(path, &status)) return {};
  if (S_ISDIR(status.st_mode)) return SnapshotsOfFolder(path);
  if (!S_ISREG(status.st_mode)) return {};
  ForeignFile file = FileAt(path);
  if (!LooksLikeSnapshot(file)) return {};
  return {std::move(file)};
}

std::vector<ForeignFile> SnapshotFilesBelow(const codec::InputPath&) { return {}; }

Error ImportSnapshots(const std::vector<ForeignFile>& files, const OpenOptions& options,
                      ModelBuilder* model) {
  Trace& trace = model->trace();
  trace.importer = kSnapshotImporter;
  ImportMemory memory(options.memory_limit_bytes);
  std::vector<std::pair<const ForeignFile*, std::shared_ptr<MemorySnapshot>>> read;
  Error first_error;
  int64_t origin = INT64_MAX;
  for (const ForeignFile& file : files) {
    Result<std::shared_ptr<MemorySnapshot>> snapshot = Read(file, &memory);
    if (!snapshot.ok()) {
      if (!first_error) first_error = snapshot.error();
      model->AddFault({file.shown, 0, snapshot.error().message});
      continue;
    }
    if ((*snapshot)->events.rows() != 0) origin = std::min(origin, (*snapshot)->first_ns);
    read.emplace_back(&file, std::move(*snapshot));
  }
  if (read.empty()) return first_error;
  trace.origin_realtime_ns = origin == INT64_MAX ? 0 : origin;
  int32_t number = 0;
  for (const auto& [file, snapshot] : read) {
    ProcessBuilder builder(++number, "");
    Process process = builder.Finish(0);
    const SnapshotEvents& events = snapshot->events;
    if (events.rows() != 0) {
      snapshot->start_ns = snapshot->first_ns - trace.origin_realtime_ns;
      process.first_ns = snapshot->start_ns;
      process.last_ns = snapshot->start_ns + std::max<int64_t>(events.time_ns.back(), 0);
    }
    process.file = file->shown;
    process.file_bytes = SizeOf(*file);
    process.rows = events.rows();
    process.memory_snapshot = snapshot;
    model->AddProcess(std::move(process));
  }
  return {};
}

}  // namespace gpuprof::analysis::import
