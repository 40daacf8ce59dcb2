// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See unrelated_files.h.

#include "analysis/passes/recorder/unrelated_files.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "analysis/base/units.h"
#include "analysis/model/process_name.h"

namespace gpuprof::analysis {
namespace {

// No clocks of machines that work together differ by so much.
constexpr int64_t kFarNs = 3'600'000'000'000;

struct File {
  std::string name;
  std::string rank, world_size;                                       // "": not recorded
  std::set<std::tuple<std::string, int32_t, std::string>> processes;  // host, pid, name
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
};

std::string VariableOf(const Process& process, const std::string& name) {
  const auto found = process.environment.find(name);
  return found == process.environment.end() ? "" : found->second;
}

// Returns the files by the begin of their events.
std::vector<File> FilesOf(const Trace& trace, const std::vector<size_t>& selected) {
  std::map<std::string, File> files;
  for (const size_t index : selected) {
    const Process& process = trace.processes[index];
    if (process.rows == 0) continue;
    File& file = files[process.file];
    file.name = process.file;
    file.rank = VariableOf(process, "RANK");
    file.world_size = VariableOf(process, "WORLD_SIZE");
    file.processes.insert({process.host, process.pid, ProcessName(process)});
    file.first_ns = std::min(file.first_ns, process.first_ns);
    file.last_ns = std::max(file.last_ns, process.last_ns);
  }
  std::vector<File> sorted;
  for (auto& [name, file] : files) sorted.push_back(std::move(file));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const File& x, const File& y) { return x.first_ns < y.first_ns; });
  return sorted;
}

// Returns whether one process wrote both files, the second one behind the first.
bool AreOfOneProcess(const File& first, const File& second) {
  return first.rank == second.rank && first.processes == second.processes &&
         first.last_ns <= second.first_ns && second.first_ns - first.last_ns < kFarNs;
}

bool HaveRanks(const std::vector<File>& files) {
  return std::none_of(files.begin(), files.end(),
                      [](const File& file) { return file.rank.empty(); });
}

// Says why two files are not of one run by their ranks. "": the ranks do not tell that.
std::string RankReason(const std::vector<File>& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t k = i + 1; k < files.size(); ++k) {
      const File &first = files[i], &second = files[k];
      if (first.rank.empty() || second.rank.empty()) continue;
      if (first.world_size != second.world_size)
        return first.name + " is of a job of " + first.world_size + " ranks, and " + second.name +
               " of a job of " + second.world_size;
      if (first.rank == second.rank && !AreOfOneProcess(first, second))
        return first.name + " and " + second.name + " are both of rank " + first.rank;
    }
  }
  return "";
}

// Says the same by their times. Clocks of ranks may differ for a while.
std::string TimeReason(const std::vector<File>& files) {
  const int64_t least_ns = HaveRanks(files) ? kFarNs : 0;
  size_t last = 0;  // the file that ends last of those up to here
  for (size_t i = 1; i < files.size(); ++i) {
    const int64_t pause_ns = files[i].first_ns - files[last].last_ns;
    if (pause_ns > least_ns && !AreOfOneProcess(files[last], files[i]))
      return files[i].name + " begins " + FormatDuration(pause_ns) + " after the end of " +
             files[last].name;
    if (files[i].last_ns > files[last].last_ns) last = i;
  }
  return "";
}

}  // namespace

std::string UnrelatedFilesNote(const Trace& trace, const std::vector<size_t>& selected) {
  // The files of an XSpace are of one run: its folder says so, and each has its own clock.
  if (trace.importer.empty() || trace.importer == kXSpaceImporter) return "";
  const std::vector<File> files = FilesOf(trace, selected);
  if (files.size() < 2) return "";
  std::string reason = RankReason(files);
  if (reason.empty()) reason = TimeReason(files);
  if (reason.empty()) return "";
  return "the " + std::to_string(files.size()) +
         " files do not seem to be of one run, but are read as one: " + reason +
         ". Open one file alone to see its own figures";
}

}  // namespace gpuprof::analysis
