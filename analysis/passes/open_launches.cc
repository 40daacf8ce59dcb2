// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See open_launches.h.

#include "analysis/passes/open_launches.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/base/units.h"
#include "analysis/derived/device_work.h"

namespace gpuprof::analysis {
namespace {

// How far before a capture's last call a launch may lie.
constexpr int64_t kLookedAtNs = 1'000'000'000;

using OpenLaunches = std::unordered_map<uint32_t, OpenLaunch>;  // by correlation

// Those that are to have a record of their work. Copies may be done when their call returns.
constexpr std::string_view kLaunches[] = {
    "cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaGraphLaunch",
    "cuLaunchKernel",   "cuLaunchGrid",       "cuLaunchCooperativeKernel",   "cuGraphLaunch"};

bool IsLaunch(const std::string& name) {
  return std::any_of(std::begin(kLaunches), std::end(kLaunches),
                     [&name](std::string_view launch) { return name.rfind(launch, 0) == 0; });
}

bool Begins(const std::string& name, std::string_view runtime, std::string_view driver) {
  return name.rfind(runtime, 0) == 0 || name.rfind(driver, 0) == 0;
}

// Functions that launch, and whether what they launch is a CUDA graph.
std::unordered_map<uint32_t, bool> LaunchFunctions(const Process& process) {
  std::unordered_map<uint32_t, bool> functions;
  for (const auto& [function, id] : process.functions) {
    const std::string name = process.String(id);
    if (IsLaunch(name)) functions[function] = Begins(name, "cudaGraphLaunch", "cuGraphLaunch");
  }
  return functions;
}

// When a thread made CUDA graphs of what it called.
class StreamCaptures {
 public:
  StreamCaptures(const Process& process, const ApiTable& calls) {
    for (size_t i = 0; i < calls.rows(); ++i) {
      const auto function = process.functions.find(calls.function[i]);
      if (function == process.functions.end() || calls.result[i] != 0) continue;
      const std::string& name = process.String(function->second);
      if (Begins(name, "cudaStreamBeginCapture", "cuStreamBeginCapture")) {
        changes_.push_back({calls.end_ns[i], +1});
      } else if (Begins(name, "cudaStreamEndCapture", "cuStreamEndCapture")) {
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

// When the last call of each capture ended: behind it its end may have waited for the GPU.
std::vector<int64_t> LastCalls(const Process& process) {
  std::vector<int64_t> last;
  for (const CaptureWindow& window : process.captures) last.push_back(window.start_ns);
  for (const Track& track : process.tracks) {
    for (const int64_t ns : track.api.end_ns) {
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

OpenLaunches LateLaunches(const Process& process) {
  const std::vector<int64_t> last_calls = LastCalls(process);
  const std::unordered_map<uint32_t, bool> functions = LaunchFunctions(process);
  OpenLaunches found;
  if (functions.empty()) return found;
  for (const Track& track : process.tracks) {
    const ApiTable& calls = track.api;
    const StreamCaptures graphs(process, calls);
    for (size_t i = 0; i < calls.rows(); ++i) {
      const auto function = functions.find(calls.function[i]);
      const bool is_launch =
          function != functions.end() && calls.result[i] == 0 && calls.correlation[i] != 0;
      if (!is_launch) continue;
      const int64_t start_ns = calls.end_ns[i] - calls.duration_ns[i];
      const size_t capture = CaptureEndingAfter(process.captures, last_calls, start_ns);
      if (capture == process.captures.size() || graphs.Has(start_ns)) continue;
      found.try_emplace(calls.correlation[i],
                        OpenLaunch{capture, start_ns, calls.weight[i], function->second});
    }
  }
  return found;
}

}  // namespace

std::vector<OpenLaunch> OpenLaunchesOf(const Process& process) {
  OpenLaunches open = LateLaunches(process);
  // Where there is no work at all it was not recorded, which is told elsewhere.
  std::unordered_set<uint32_t> with_work;  // numbers of captures
  bool has_graphs = false;
  for (const Track& track : process.tracks) {
    with_work.insert(track.kernel.capture.begin(), track.kernel.capture.end());
    has_graphs |= track.graph_launch.rows() != 0;
  }
  std::erase_if(open, [&](const auto& launch) {
    return !has_graphs && with_work.count(process.captures[launch.second.capture].number) == 0;
  });
  for (const Track& track : process.tracks) {
    if (open.empty()) break;
    ForEachDeviceWork(track, [&](const DeviceWork& work) { open.erase(work.correlation); });
  }
  std::map<size_t, OpenLaunch> sums;  // by capture
  for (const auto& [correlation, launch] : open) {
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

void AddOpenLaunchNotes(const Process& process, results::Meta* meta) {
  if (process.health.activity_missing_ns() != 0) return;
  for (const OpenLaunch& sum : OpenLaunchesOf(process)) {
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
