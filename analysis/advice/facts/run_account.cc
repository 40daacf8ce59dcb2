// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See run_account.h.

#include "analysis/advice/facts/run_account.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/host/thread_usage.h"
#include "analysis/passes/main_process.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kShortestLife = 1'000'000'000;
constexpr size_t kWaitsNamed = 3;
constexpr size_t kStacksNamed = 12;
// Stacks of waits that are named in search of tf.data, those of the longest waits.
constexpr size_t kStacksSearched = 40;

struct Waits {
  uint64_t count = 0;
  int64_t total_ns = 0;
  Instance longest;
};
using WaitKey = std::pair<uint8_t, uint32_t>;  // kind, stack
using RankedWaits = std::vector<std::pair<WaitKey, Waits>>;

void AddWaits(const Process& process, const Track& track, std::map<WaitKey, Waits>* all) {
  const WaitTable& table = track.wait;
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto kind = static_cast<uint8_t>(proto::WaitKindOf(table.operation[row]));
    Waits& waits = (*all)[{kind, table.stack[row]}];
    ++waits.count;
    waits.total_ns += table.duration_ns[row];
    if (table.duration_ns[row] <= waits.longest.duration_ns) continue;
    waits.longest.start_ns = table.end_ns[row] - table.duration_ns[row];
    waits.longest.duration_ns = table.duration_ns[row];
    waits.longest.tid = track.tid;
    waits.longest.pid = process.pid;
    waits.longest.host = process.host;
  }
}

void KeepLonger(const Instance& other, Instance* longest) {
  if (other.duration_ns > longest->duration_ns) *longest = other;
}

// The longest first.
RankedWaits Ranked(const std::map<WaitKey, Waits>& all, size_t most) {
  RankedWaits ranked(all.begin(), all.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second.total_ns > b.second.total_ns;
  });
  if (ranked.size() > most) ranked.resize(most);
  return ranked;
}

using Frames = google::protobuf::RepeatedPtrField<results::Frame>;

Frames FramesOf(PassContext& context, size_t index, uint32_t stack) {
  Frames frames;
  for (const uint64_t pc : context.StackPcs(index, stack))
    context.Resolve(index, pc, PcKind::kReturnAddress, frames.Add());
  return frames;
}

// The innermost function that is none of a library for waiting.
std::string CallerOfWait(const Frames& frames) {
  constexpr std::array<std::string_view, 6> kWaiting = {"std::",   "absl::", "Absl",
                                                        "pthread", "__",     "futex"};
  for (const results::Frame& frame : frames) {
    const std::string_view name = frame.name();
    const auto begins = [&](std::string_view start) { return name.rfind(start, 0) == 0; };
    if (std::none_of(kWaiting.begin(), kWaiting.end(), begins)) return frame.name();
  }
  return frames.empty() ? "" : frames[0].name();
}

bool HasTensorFlow(const Process& process) {
  return std::any_of(process.modules.begin(), process.modules.end(), [](const auto& module) {
    return module.path().find("libtensorflow") != std::string::npos;
  });
}

// Adds the waits of the consumer of tf.data for its next element. Threads that work ahead of the
// consumer do not count.
void AddDataWaits(PassContext& context, size_t index, RunAccount* account) {
  if (!context.options().symbolize || !HasTensorFlow(context.process(index))) return;
  std::map<WaitKey, Waits> all;
  const Process& process = context.process(index);
  for (const Track& track : process.tracks) AddWaits(process, track, &all);
  for (const auto& [key, waits] : Ranked(all, kStacksSearched)) {
    const Frames frames = FramesOf(context, index, key.second);
    const bool consumer = std::any_of(frames.begin(), frames.end(), [](const auto& frame) {
      return frame.name().find("tensorflow::data::IteratorResource::GetNext") != std::string::npos;
    });
    if (!consumer) continue;
    account->data_wait_ns += waits.total_ns;
    account->data_wait_count += waits.count;
    KeepLonger(waits.longest, &account->longest_data_wait);
  }
}

int64_t WaitingTime(const WaitTable& table) {
  std::vector<Interval> spans;
  for (size_t row = 0; row < table.rows(); ++row)
    spans.push_back({table.end_ns[row] - table.duration_ns[row], table.end_ns[row]});
  return TotalLength(UnionOf(std::move(spans)));
}

struct Measured {
  const Track* track = nullptr;
  size_t process = 0;
  ThreadUsage usage;
};

Measured Measure(size_t process, const Track& track) {
  const ThreadLife life = LifeOf(track);
  const std::optional<ThreadUsage> usage = UsageWithin(track, life, life.span);
  if (!usage || usage->covered_ns < kShortestLife) return {};
  return {&track, process, *usage};
}

// A main thread that only waits for others has less than this part of the busiest one's time.
constexpr int64_t kMainPart = 10;

Measured LeadingThread(const PassContext& context, size_t index) {
  Measured busiest;
  const Process& process = context.process(index);
  for (const Track& track : process.tracks) {
    if (track.tool || track.is_stream) continue;
    const Measured measured = Measure(index, track);
    if (measured.usage.cpu_ns > busiest.usage.cpu_ns) busiest = measured;
  }
  if (busiest.track == nullptr) return {};
  for (const Track& track : process.tracks) {
    if (track.tid != process.pid) continue;
    const Measured main = Measure(busiest.process, track);
    if (main.usage.cpu_ns * kMainPart >= busiest.usage.cpu_ns) return main;
  }
  return busiest;
}

// Returns the thread's waits by kind and caller, the longest first. Finds the longest single one.
std::vector<RunWait> NamedWaits(PassContext& context, const Measured& thread, Instance* longest) {
  std::map<WaitKey, Waits> all;
  AddWaits(context.process(thread.process), *thread.track, &all);
  for (const auto& [key, waits] : all) KeepLonger(waits.longest, longest);
  std::vector<RunWait> named;
  for (const auto& [key, waits] : Ranked(all, kStacksNamed)) {
    RunWait wait = {std::string(WaitKindName(key.first)),
                    CallerOfWait(FramesOf(context, thread.process, key.second)), waits.count,
                    waits.total_ns};
    const auto same = std::find_if(named.begin(), named.end(), [&](const RunWait& other) {
      return other.kind == wait.kind && other.caller == wait.caller;
    });
    if (same == named.end()) {
      named.push_back(std::move(wait));
    } else {
      same->count += wait.count;
      same->total_ns += wait.total_ns;
    }
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const RunWait& a, const RunWait& b) { return a.total_ns > b.total_ns; });
  if (named.size() > kWaitsNamed) named.resize(kWaitsNamed);
  return named;
}

}  // namespace

std::optional<RunAccount> AccountForRun(PassContext& context) {
  const std::optional<size_t> main = MainProcess(context);
  const Measured leading = main ? LeadingThread(context, *main) : Measured();
  if (leading.track == nullptr) return std::nullopt;
  RunAccount account;
  if (context.selected().size() > 1) {
    const Process& process = context.process(*main);
    account.process = ProcessName(process) + " (" + std::to_string(process.pid) + ")";
  }
  account.name = leading.track->name;
  account.tid = leading.track->tid;
  account.life_ns = leading.usage.covered_ns;
  account.cpu_ns = leading.usage.cpu_ns;
  account.runqueue_wait_ns = leading.usage.runqueue_wait_ns;
  account.waiting_ns = WaitingTime(leading.track->wait);
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max();
  if (const auto use = UseOf(context.process(leading.process), {-kFar, kFar}))
    account.busy_cores = use->busy;
  account.waits = NamedWaits(context, leading, &account.longest_wait);
  AddDataWaits(context, leading.process, &account);
  return account;
}

}  // namespace gpuprof::analysis
