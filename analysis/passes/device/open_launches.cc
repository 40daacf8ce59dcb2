// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See open_launches.h.

#include "analysis/passes/device/open_launches.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/base/column.h"
#include "analysis/base/parallel.h"
#include "analysis/base/units.h"
#include "analysis/derived/launch_functions.h"

namespace gpuprof::analysis {
namespace {

// How far before a capture's last call a launch may lie.
constexpr int64_t kLookedAtNs = 1'000'000'000;

struct Launch {
  uint32_t correlation = 0;
  OpenLaunch launch;
};

bool Begins(const std::string& name, std::string_view runtime, std::string_view driver) {
  return name.rfind(runtime, 0) == 0 || name.rfind(driver, 0) == 0;
}

// Functions that begin or end the capture of a stream, and whether they begin it.
std::unordered_map<uint32_t, bool> CaptureFunctions(const Process& process) {
  std::unordered_map<uint32_t, bool> functions;
  for (const auto& [function, id] : process.functions) {
    const std::string name = process.String(id);
    const bool begins = Begins(name, "cudaStreamBeginCapture", "cuStreamBeginCapture");
    if (begins || Begins(name, "cudaStreamEndCapture", "cuStreamEndCapture"))
      functions[function] = begins;
  }
  return functions;
}

// When a thread made CUDA graphs of what it called.
class StreamCaptures {
 public:
  StreamCaptures(const std::unordered_map<uint32_t, bool>& functions, const ApiTable& calls) {
    for (size_t i = 0; !functions.empty() && i < calls.rows(); ++i) {
      const auto function = functions.find(calls.function[i]);
      if (function == functions.end() || calls.result[i] != 0) continue;
      if (function->second) {
        changes_.push_back({calls.end_ns[i], +1});
      } else {
        changes_.push_back({calls.end_ns[i] - calls.duration_ns[i], -1});
      }
    }
    std::sort(changes_.begin(), changes_.end());
    // One that ends without a beginning was begun before all that is known.
    int64_t depth = 0, lowest = 0;
    for (const auto& [ns, change] : changes_) lowest = std::min(lowest, depth += change);
    depth = -lowest;
    for (auto& [ns, change] : changes_) change = depth += change;
    at_first_ = -lowest;
  }

  bool Has(int64_t ns) const {
    const auto behind = std::upper_bound(changes_.begin(), changes_.end(), Change{ns, INT64_MAX});
    return (behind == changes_.begin() ? at_first_ : (behind - 1)->depth) > 0;
  }

 private:
  struct Change {
    int64_t ns;
    int64_t depth;  // from then on
    auto operator<=>(const Change&) const = default;
  };
  std::vector<Change> changes_;
  int64_t at_first_ = 0;
};

// The capture near whose last call it is; captures.size(): none's.
size_t CaptureEndingAfter(const std::vector<CaptureWindow>& captures,
                          const std::vector<int64_t>& last_calls, int64_t ns) {
  const auto capture =
      std::lower_bound(captures.begin(), captures.end(), ns,
                       [](const CaptureWindow& window, int64_t at) { return window.end_ns < at; });
  const bool is_in = capture != captures.end() && capture->start_ns <= ns;
  const bool is_near =
      is_in && last_calls[static_cast<size_t>(capture - captures.begin())] - ns <= kLookedAtNs;
  return is_near ? static_cast<size_t>(capture - captures.begin()) : captures.size();
}

// The calls that may be among the last of a capture.
const ApiTable& LateCalls(const Track& track) {
  return track.api.has_ids_alone() ? track.late_api : track.api;
}

// When the last call of each capture ended: behind it its end may have waited for the GPU.
std::vector<int64_t> LastCalls(const Process& process) {
  std::vector<int64_t> last;
  for (const CaptureWindow& window : process.captures) last.push_back(window.start_ns);
  for (const Track& track : process.tracks) {
    for (const int64_t ns : LateCalls(track).end_ns) {
      const auto capture = std::lower_bound(
          process.captures.begin(), process.captures.end(), ns,
          [](const CaptureWindow& window, int64_t at) { return window.end_ns < at; });
      if (capture == process.captures.end()) continue;
      int64_t& of_it = last[static_cast<size_t>(capture - process.captures.begin())];
      of_it = std::max(of_it, ns);
    }
  }
  return last;
}

// The numbers of the captures in which kernels ran. All kernels of a block have one.
std::unordered_set<uint32_t> CapturesWithKernels(const Process& process) {
  std::unordered_set<uint32_t> numbers;
  for (const Track& track : process.tracks) {
    for (const ColumnSegment& segment : track.kernel.capture.segments()) {
      const size_t end = segment.width == 0 ? segment.first + 1 : segment.end;
      for (size_t row = segment.first; row < end; ++row)
        numbers.insert(static_cast<uint16_t>(segment.Load(row)));
    }
  }
  return numbers;
}

// Which of some ids are also in other columns.
class SeenIds {
 public:
  explicit SeenIds(const std::vector<Launch>& launches) {
    for (const Launch& launch : launches) ids_.push_back(launch.correlation);
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    seen_.resize(ids_.size());
  }
  // Notes the ids of the column. Few launches are open, and most columns are long.
  void Note(const Column<uint32_t>& column) {
    constexpr size_t kPiece = 1024, kFewSegments = 16;
    if (ids_.empty()) return;
    const uint32_t first = ids_.front(), range = ids_.back() - first;
    std::mutex mutex;
    const std::span<const ColumnSegment> segments = column.segments();
    ParallelFor(segments.size(), segments.size() < kFewSegments ? 1 : 0, [&](size_t index, int) {
      const ColumnSegment& segment = segments[index];
      uint32_t values[kPiece];
      for (size_t row = segment.first; row < segment.end; row += kPiece) {
        const size_t count = std::min(kPiece, segment.end - row);
        segment.Copy(row, count, values);
        bool any = false;
        for (size_t i = 0; i < count; ++i) any |= values[i] - first <= range;
        if (!any) continue;
        std::lock_guard<std::mutex> lock(mutex);
        for (size_t i = 0; i < count; ++i) {
          if (values[i] - first > range) continue;
          const size_t place = PlaceOf(values[i]);
          if (place != ids_.size()) seen_[place] = true;
        }
      }
    });
  }
  bool Has(uint32_t id) const {
    const size_t place = PlaceOf(id);
    return place != ids_.size() && seen_[place];
  }

 private:
  // Ids mostly follow each other without a gap.
  size_t PlaceOf(uint32_t id) const {
    const size_t likely = id - ids_.front();
    if (likely < ids_.size() && ids_[likely] == id) return likely;
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    return at != ids_.end() && *at == id ? static_cast<size_t>(at - ids_.begin()) : ids_.size();
  }

  std::vector<uint32_t> ids_;  // sorted
  std::vector<bool> seen_;
};

// Returns the launches near the last calls of captures. The calls of a launch may be several, with
// one id: the first is the one that counts.
std::vector<Launch> LateLaunches(const Process& process) {
  const std::vector<int64_t> last_calls = LastCalls(process);
  const std::unordered_map<uint32_t, bool> functions = LaunchFunctions(process);
  std::vector<Launch> found;
  if (functions.empty() || last_calls.empty()) return found;
  const std::unordered_map<uint32_t, bool> stream_captures = CaptureFunctions(process);
  const int64_t earliest_ns = *std::min_element(last_calls.begin(), last_calls.end()) - kLookedAtNs;
  for (const Track& track : process.tracks) {
    const ApiTable& calls = LateCalls(track);
    const StreamCaptures graphs(stream_captures, calls);
    const Column<int64_t>::Reader ends(calls.end_ns);
    for (size_t i = 0; i < calls.rows(); ++i) {
      if (ends[i] < earliest_ns) continue;
      const auto function = functions.find(calls.function[i]);
      const bool is_launch =
          function != functions.end() && calls.result[i] == 0 && calls.correlation[i] != 0;
      if (!is_launch) continue;
      const int64_t start_ns = calls.end_ns[i] - calls.duration_ns[i];
      const size_t capture = CaptureEndingAfter(process.captures, last_calls, start_ns);
      if (capture == process.captures.size() || graphs.Has(start_ns)) continue;
      found.push_back(
          {calls.correlation[i], {capture, start_ns, calls.weight[i], function->second}});
    }
  }
  return found;
}

}  // namespace

std::vector<OpenLaunch> FindOpenLaunches(const Process& process) {
  std::vector<Launch> open = LateLaunches(process);
  // Where there is no work at all it was not recorded, which is told elsewhere.
  const std::unordered_set<uint32_t> with_work = CapturesWithKernels(process);
  const bool has_graphs =
      std::any_of(process.tracks.begin(), process.tracks.end(),
                  [](const Track& track) { return track.graph_launch.rows() != 0; });
  std::erase_if(open, [&](const Launch& each) {
    return !has_graphs && with_work.count(process.captures[each.launch.capture].number) == 0;
  });
  SeenIds with_record(open);
  for (const Track& track : process.tracks) {
    for (const Column<uint32_t>* ids : {&track.kernel.correlation, &track.memcpy.correlation,
                                        &track.memset.correlation, &track.graph_launch.correlation})
      with_record.Note(*ids);
  }
  std::map<size_t, OpenLaunch> sums;  // by capture
  std::unordered_set<uint32_t> counted;
  for (const auto& [correlation, launch] : open) {
    if (with_record.Has(correlation) || !counted.insert(correlation).second) continue;
    OpenLaunch& sum =
        sums.try_emplace(launch.capture, OpenLaunch{launch.capture, launch.start_ns}).first->second;
    sum.start_ns = std::min(sum.start_ns, launch.start_ns);
    sum.weight += launch.weight;
    sum.is_of_graph |= launch.is_of_graph;
  }
  std::vector<OpenLaunch> found;
  for (const auto& [index, sum] : sums) found.push_back(sum);
  return found;
}

const std::vector<OpenLaunch>& OpenLaunchesOf(PassContext& context, size_t index) {
  return context.kept(index).Get<std::vector<OpenLaunch>>(
      [&] { return FindOpenLaunches(context.process(index)); });
}

void AddOpenLaunchNotes(PassContext& context, size_t index, results::Meta* meta) {
  const Process& process = context.process(index);
  if (process.health.activity_missing_ns() != 0) return;
  for (const OpenLaunch& sum : OpenLaunchesOf(context, index)) {
    const CaptureWindow& capture = process.captures[sum.capture];
    const bool is_over = capture.has_stop;
    meta->add_notes("pid " + std::to_string(process.pid) + ": " + FormatCount(sum.weight) +
                    (sum.weight == 1 ? " launch" : " launches") + " in the last " +
                    FormatDuration(capture.end_ns - sum.start_ns) + " of capture " +
                    std::to_string(capture.number) + (sum.weight == 1 ? " has" : " have") +
                    " no recorded work on the GPU. The work had not ended " +
                    (is_over ? "when the capture ended"
                             : "yet, or CUPTI had not delivered it while other work ran") +
                    ", or another thread captured it into a CUDA graph" +
                    (sum.is_of_graph ? ", or the launched CUDA graph has no nodes" : ""));
  }
}

}  // namespace gpuprof::analysis
