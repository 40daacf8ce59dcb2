// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See flight_import.h.

#include "analysis/import/flight_import.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "analysis/import/flight_reader.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/inflating_source.h"
#include "analysis/import/snapshot_import.h"
#include "analysis/model/builder.h"
#include "analysis/model/flight_dump.h"
#include "proto/contract.h"

namespace gpuprof::analysis::import {
namespace {

constexpr size_t kLookedBytes = 4096;

// Returns a name without the endings that users give to dumps.
std::string_view StemOf(std::string_view name) {
  for (bool has_end = true; has_end;) {
    has_end = false;
    for (const std::string_view end :
         {".gz", ".zst", ".pickle", ".pkl", ".json", ".bin", ".dump"}) {
      if (name.size() <= end.size() || !name.ends_with(end)) continue;
      name.remove_suffix(end.size());
      has_end = true;
    }
  }
  return name;
}

// Returns the number that a name ends with: the rank, in PyTorch's own names. -1: it has none.
int32_t NumberOfName(std::string_view name) {
  const std::string_view stem = StemOf(name);
  size_t at = stem.size();
  while (at > 0 && stem[at - 1] >= '0' && stem[at - 1] <= '9') --at;
  int32_t number = -1;
  const auto read = std::from_chars(stem.data() + at, stem.data() + stem.size(), number);
  return read.ec == std::errc() ? number : -1;
}

// Names of other recordings are not looked at in a folder.
bool MayBeDump(std::string_view name) {
  return NumberOfName(name) >= 0 || StemOf(name).size() != name.size();
}

std::vector<ForeignFile> DumpsOfFolder(const codec::InputPath& path) {
  namespace fs = std::filesystem;
  constexpr size_t kMostEntries = 100'000;  // a job has a file for each rank
  constexpr size_t kMostOthers = 100;       // files that are no dumps
  std::vector<ForeignFile> files;
  std::error_code error;
  size_t entries = 0, others = 0;
  for (fs::directory_iterator at(path.path, error), end;
       !error && at != end && ++entries < kMostEntries; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(proto::kTraceSuffix) || name == proto::kBundleFile) return {};
    if (!MayBeDump(name)) continue;
    ForeignFile file = FileAt(path.Below(name));
    if (LooksLikeFlightDump(file)) {
      files.push_back(std::move(file));
    } else if (files.empty() && ++others >= kMostOthers) {
      return {};
    }
  }
  std::sort(files.begin(), files.end(), [](const ForeignFile& a, const ForeignFile& b) {
    const int32_t x = NumberOfName(a.shown), y = NumberOfName(b.shown);
    return x != y ? x < y : a.path.path < b.path.path;
  });
  return files;
}

// Returns when a file was written, in nanoseconds since 1970; 0: it is not known.
int64_t WrittenNsOf(const ForeignFile& file) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  struct stat status {};
  if (file.is_member() || !codec::StatInput(file.path, &status)) return 0;
  const int64_t seconds = status.st_mtim.tv_sec;
  if (seconds <= 0 || seconds >= std::numeric_limits<int64_t>::max() / kNsPerSecond) return 0;
  return seconds * kNsPerSecond + status.st_mtim.tv_nsec;
}

Result<std::shared_ptr<FlightDump>> ReadDump(const ForeignFile& file, ImportMemory* memory) {
  const Result<std::unique_ptr<ByteSource>> opened = OpenSource(file);
  if (!opened.ok()) return opened.error();
  InflatingSource source(opened->get(), file.Title());
  MemoryMeter meter(memory, file.Title(), SizeOf(file));
  auto dump = std::make_shared<FlightDump>();
  const auto check = [&meter](uint64_t held_bytes) { return meter.Check(held_bytes); };
  if (Error error = ReadFlightDump(&source, file.Title(), check, dump.get())) return error;
  if (dump->rank < 0) dump->rank = NumberOfName(file.shown);
  dump->written_ns = WrittenNsOf(file);
  return dump;
}

// Gives each dump a rank of its own. The same rank twice is a file of another run or a copy.
void SettleRanks(std::vector<std::pair<const ForeignFile*, std::shared_ptr<FlightDump>>>* read,
                 ModelBuilder* model) {
  std::set<int32_t> taken;
  for (const auto& [file, dump] : *read)
    if (dump->rank >= 0) taken.insert(dump->rank);
  int32_t next = 0;
  for (auto& [file, dump] : *read) {
    if (dump->rank >= 0) continue;
    while (taken.contains(next)) ++next;
    taken.insert(next);
    dump->rank = next;
    dump->is_rank_guessed = true;
  }
  std::stable_sort(read->begin(), read->end(),
                   [](const auto& x, const auto& y) { return x.second->rank < y.second->rank; });
  for (size_t i = 1; i < read->size();) {
    if ((*read)[i].second->rank != (*read)[i - 1].second->rank) {
      ++i;
      continue;
    }
    model->AddFault({(*read)[i].first->shown, 0,
                     "is of rank " + std::to_string((*read)[i].second->rank) + ", and so is " +
                         (*read)[i - 1].first->shown +
                         ", which is shown; keep the dumps of one run in the folder"});
    read->erase(read->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

bool LooksLikeFlightDump(const ForeignFile& file) {
  const std::string beginning = BeginningOf(file, kLookedBytes);
  if (BeginsAsPickle(beginning)) return BeginsAsFlightPickle(beginning);
  return BeginsAsFlightJson(beginning);
}

std::vector<ForeignFile> FlightFiles(const codec::InputPath& path) {
  struct stat status {};
  if (!codec::StatInput(path, &status)) return {};
  if (S_ISDIR(status.st_mode)) return DumpsOfFolder(path);
  if (!S_ISREG(status.st_mode)) return {};
  ForeignFile file = FileAt(path);
  if (!LooksLikeFlightDump(file)) return {};
  return {std::move(file)};
}

std::vector<ForeignFile> FlightFilesBelow(const codec::InputPath&) { return {}; }

Error ImportFlightDumps(const std::vector<ForeignFile>& files, const OpenOptions& options,
                        ModelBuilder* model) {
  Trace& trace = model->trace();
  trace.importer = kFlightImporter;
  ImportMemory memory(options.memory_limit_bytes);
  std::vector<std::pair<const ForeignFile*, std::shared_ptr<FlightDump>>> read;
  Error first_error;
  for (const ForeignFile& file : files) {
    Result<std::shared_ptr<FlightDump>> dump = ReadDump(file, &memory);
    if (!dump.ok()) {
      if (!first_error) first_error = dump.error();
      model->AddFault({file.shown, 0, dump.error().message});
      continue;
    }
    if ((*dump)->unread_entries != 0) {
      model->AddFault({file.shown, 0,
                       std::to_string((*dump)->unread_entries) +
                           " of its entries are not those of a flight recorder"});
    }
    read.emplace_back(&file, std::move(*dump));
  }
  if (read.empty()) return first_error;
  SettleRanks(&read, model);
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  for (const auto& [file, dump] : read) {
    for (const FlightEntry& entry : dump->entries) {
      if (entry.created_ns <= 0) continue;
      first = std::min(first, entry.created_ns);
      last = std::max({last, entry.created_ns, entry.completed_ns});
    }
  }
  const bool has_times = first <= last;
  trace.origin_realtime_ns = has_times ? first : 0;
  for (const auto& [file, dump] : read) {
    ProcessBuilder builder(dump->rank == INT32_MAX ? dump->rank : dump->rank + 1, "");
    Process process = builder.Finish(0);
    process.title = "rank " + std::to_string(dump->rank);
    process.first_ns = 0;
    process.last_ns = has_times ? last - first : 0;
    process.file = file->shown;
    process.file_bytes = SizeOf(*file);
    process.rows = dump->entries.size();
    SetFlightDump(dump, &process);
    model->AddProcess(std::move(process));
  }
  return {};
}

}  // namespace gpuprof::analysis::import
