// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `files`: sums over the calls that read files, by path or by thread.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/results/files.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr char kUnknownFile[] = "unknown file";

// A path of a host, or a thread: the other's part is empty.
struct Key {
  std::string host;
  std::string path;
  size_t owner;  // process
  int32_t tid;
  auto operator<=>(const Key&) const = default;
};
using Thread = std::pair<size_t, int32_t>;         // process and tid
using File = std::pair<std::string, std::string>;  // host and path

struct Sums {
  SampleList durations;
  int64_t max_ns = -1;
  int64_t max_start_ns = 0;
  int32_t max_pid = 0, max_tid = 0;
  uint64_t bytes = 0;
  uint64_t failed = 0;
  std::set<Thread> threads;
  std::set<File> files;
};
using Groups = std::map<Key, Sums>;

void AddTrack(const Process& process, size_t owner, const Track& track, bool by_thread,
              Groups* groups) {
  const FileReadTable& table = track.file_read;
  // Ids of paths repeat.
  std::map<uint32_t, Sums*> known;
  for (size_t i = 0; i < table.rows(); ++i) {
    Sums*& sums = known[table.path[i]];
    if (sums == nullptr) {
      const std::string path = table.path[i] == 0 ? kUnknownFile : process.String(table.path[i]);
      sums = &(*groups)[by_thread ? Key{process.host, "", owner, track.tid}
                                  : Key{process.host, path, 0, 0}];
      sums->threads.insert({owner, track.tid});
      sums->files.insert({process.host, path});
    }
    const int64_t bytes = table.bytes[i];
    const int64_t duration = table.duration_ns[i];
    sums->durations.Add(duration);
    if (duration > sums->max_ns) {
      sums->max_ns = duration;
      sums->max_start_ns = table.end_ns[i] - duration;
      sums->max_pid = process.pid;
      sums->max_tid = track.tid;
    }
    sums->bytes += bytes < 0 ? 0 : static_cast<uint64_t>(bytes);
    sums->failed += bytes < 0 ? 1 : 0;
  }
}

int64_t CapturedTime(PassContext& context) {
  std::vector<Interval> windows;
  for (const size_t index : context.selected()) {
    for (const CaptureWindow& window : context.process(index).captures)
      windows.push_back({window.start_ns, window.end_ns});
  }
  return TotalLength(UnionOf(std::move(windows)));
}

// Returns the last `parts` parts of a path.
std::string EndOf(const std::string& path, size_t parts) {
  size_t slash = path.size();
  for (; parts > 0 && slash != 0 && slash != std::string::npos; --parts)
    slash = path.rfind('/', slash - 1);
  return slash == 0 || slash == std::string::npos ? path : path.substr(slash + 1);
}

// A file is called by its own name and its folder's. Names that several files would have get more
// of their paths.
void FillShortNames(results::Files* out) {
  constexpr size_t kMostParts = 16;
  std::vector<results::FileReads*> rows(out->mutable_files()->pointer_begin(),
                                        out->mutable_files()->pointer_end());
  for (size_t parts = 2; !rows.empty() && parts <= kMostParts; ++parts) {
    std::map<std::string, int> ends;
    for (const results::FileReads* row : rows) ++ends[EndOf(row->name(), parts)];
    std::erase_if(rows, [&](results::FileReads* row) {
      const std::string end = EndOf(row->name(), parts);
      if (ends[end] > 1) return false;
      row->set_short_name(end);
      return true;
    });
  }
  for (results::FileReads* row : rows) row->set_short_name(row->name());
}

void FillRow(Sums* sums, const results::Files& all, results::FileReads* row) {
  const Samples durations = sums->durations.Take();
  row->set_count(durations.size());
  row->set_total_bytes(sums->bytes);
  row->set_total_ns(durations.total());
  row->set_total_ratio(Ratio(durations.total(), all.total_ns()));
  row->set_captured_ratio(Ratio(durations.total(), all.captured_ns()));
  row->set_mean_ns(durations.mean());
  row->set_median_ns(durations.median());
  row->set_max_ns(durations.max());
  row->set_max_start_ns(sums->max_start_ns);
  row->set_max_pid(sums->max_pid);
  row->set_max_tid(sums->max_tid);
  // Bytes by nanosecond are 10^9 bytes by second.
  if (sums->bytes != 0 && durations.total() > 0)
    row->set_mb_per_s(
        Ratio(static_cast<double>(sums->bytes) * 1e3, static_cast<double>(durations.total())));
  row->set_failed_count(sums->failed);
  row->set_file_count(static_cast<uint32_t>(sums->files.size()));
  row->set_thread_count(static_cast<uint32_t>(sums->threads.size()));
}

void FillTotals(const Groups& groups, results::Files* out) {
  std::set<Thread> threads;
  std::set<File> files;
  for (const auto& [key, sums] : groups) {
    out->set_count(out->count() + sums.durations.count());
    out->set_total_bytes(out->total_bytes() + sums.bytes);
    out->set_total_ns(out->total_ns() + sums.durations.total());
    out->set_failed_count(out->failed_count() + sums.failed);
    threads.insert(sums.threads.begin(), sums.threads.end());
    files.insert(sums.files.begin(), sums.files.end());
  }
  out->set_thread_count(static_cast<uint32_t>(threads.size()));
  out->set_file_count(static_cast<uint32_t>(files.size()));
}

}  // namespace

Error RunFiles(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Files>();
  const std::string by = context.By("path");
  const bool by_thread = by == "thread";
  Groups groups;
  std::map<size_t, const Process*> processes;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const size_t owner = context.Owner(index);
    processes[owner] = &process;
    for (const Track& track : process.tracks) AddTrack(process, owner, track, by_thread, &groups);
  }
  out->set_captured_ns(CapturedTime(context));
  FillTotals(groups, out.get());
  for (auto& [key, sums] : groups) {
    results::FileReads* row = out->add_files();
    row->set_name(by_thread ? ThreadName(*processes[key.owner], key.tid) : key.path);
    row->set_host(key.host);
    if (by_thread) {
      row->set_pid(processes[key.owner]->pid);
      row->set_tid(key.tid);
    }
    FillRow(&sums, *out, row);
  }
  SortByTotal(out->mutable_files());
  if (!by_thread) FillShortNames(out.get());
  out->set_by(by);
  context.FillCountMeta("files", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
