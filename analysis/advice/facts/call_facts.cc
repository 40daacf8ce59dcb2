// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls of CUDA in steps: allocations, loading of code, slow calls, launches into a full queue, and
// waits for the device. See fact_source.h.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/advice/facts/fact_source.h"
#include "analysis/derived/host_activity.h"
#include "analysis/model/names.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

bool Has(std::string_view name, std::string_view piece) {
  return name.find(piece) != std::string_view::npos;
}

// Returns whether a call allocates or releases memory and may wait for the device. Calls of pools
// ("Async") do not.
bool IsAllocation(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaMalloc",       "cudaFree",           "cudaHostAlloc",
                                         "cudaHostRegister", "cudaHostUnregister", "cuMemAlloc",
                                         "cuMemFree",        "cuMemHost"};
  if (Has(name, "Async") || Has(name, "Pool")) return false;
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view each) { return name.starts_with(each); });
}

struct CallGroup {
  Pieces pieces;
  std::vector<uint32_t> nodes;
};

class CallFinder {
 public:
  CallFinder(FactSource& source) : source_(source) {}  // NOLINT(google-explicit-constructor)

  void Find(DeviceFacts* facts) {
    busy_.reserve(source_.nodes().size());
    for (const DependencyNode& node : source_.nodes())
      if (node.kind == DependencyNode::Kind::kWork) busy_.push_back(node.span);
    busy_ = UnionOf(std::move(busy_));
    FindBlockingLaunches(facts);
    for (uint32_t n = 0; n < source_.nodes().size(); ++n) {
      const DependencyNode& node = source_.nodes()[n];
      if (node.kind == DependencyNode::Kind::kWork || !source_.Counts(node)) continue;
      if (node.kind == DependencyNode::Kind::kWork) continue;
      if (node.kind == DependencyNode::Kind::kWaited)
        AddWait(n, facts);
      else
        AddCall(n);
    }
    AddOverheads();
    AddRecompiles(facts);
    facts->allocations = Finish(allocations_);
    facts->code_loads = Finish(loads_);
    facts->slow_calls = FindSlow();
    if (!waits_.empty()) {
      FreeNodes free = source_.graph().NoneFree();
      for (const uint32_t n : waits_) free.own[n] = true;
      facts->waits.saved_per_step_ns = source_.graph().SavedPerStep(free);
    }
    facts->full_queue = full_queue_.pieces;  // the device has work meanwhile: nothing is lost
  }

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // track and row of a call
  static Key KeyOf(const DependencyNode& node) { return {node.track, node.row}; }

  // Finds launches that last until their own work has ended.
  void FindBlockingLaunches(DeviceFacts* facts) {
    for (const DependencyNode& node : source_.nodes()) {
      const bool is_kernel = node.kind == DependencyNode::Kind::kWork &&
                             node.work == DeviceWorkKind::kKernel && source_.Counts(node);
      if (node.kind != DependencyNode::Kind::kWork) continue;
      const std::optional<Call> call = source_.LaunchOf(node);
      if (!call) continue;
      facts->launch_count += is_kernel ? 1 : 0;
      if (node.work == DeviceWorkKind::kCopy && WaitsBefore(*call, node.span))
        waiting_copies_.insert({call->track, call->row});
      if (call->end_ns < node.span.end) continue;
      blocking_.insert({call->track, call->row});
      facts->blocking_launch_count += is_kernel ? 1 : 0;
    }
  }

  // Returns whether a call waited for the work before its copy: it ends with the copy, which takes
  // next to nothing of it.
  static bool WaitsBefore(const Call& call, Interval copy) {
    constexpr int64_t kClockErrorNs = 20'000, kLeastPartOfCall = 10;
    const int64_t length = call.end_ns - call.start_ns;
    return copy.length() * kLeastPartOfCall < length &&
           call.end_ns + std::min(kClockErrorNs, length / 5) >= copy.end;
  }

  void Add(uint32_t n, CallGroup* group) {
    const DependencyNode& node = source_.nodes()[n];
    group->nodes.push_back(n);
    group->pieces.Add(node.span.length(), 0, [&] {
      return source_.InstanceOf(node, source_.FunctionOf(node.track, node.row));
    });
  }

  void AddCall(uint32_t n) {
    const DependencyNode& node = source_.nodes()[n];
    const std::string& name = source_.FunctionOf(node.track, node.row);
    if (IsAllocation(name)) return Add(n, &allocations_);
    if (node.category == results::TIME_CATEGORY_COMPILE) return Add(n, &loads_);
    // Copies and memsets have rules of their own.
    const bool is_copy = Has(name, "Memcpy") || Has(name, "Memset");
    if (node.category != results::TIME_CATEGORY_SYNC && !is_copy) Add(n, &others_[name]);
  }

  // Adds what the driver compiled and loaded within calls of other kinds.
  void AddOverheads() {
    for (const Track& track : source_.process().tracks) {
      const OverheadTable& table = track.overhead;
      for (size_t i = 0; i < table.rows(); ++i) {
        const Interval span = {table.end_ns[i] - table.duration_ns[i], table.end_ns[i]};
        const std::string name(OverheadName(table.operation[i]));
        const bool is_code = Has(name, "load") || Has(name, "compil") || Has(name, "link");
        if (!is_code || !source_.InHostSteps(span.start)) continue;
        loads_.pieces.Add(span.length(), 0, [&] { return Named(track, span, name); });
      }
    }
  }

  // Adds what a framework traces and compiles, by the names of operations and Python functions.
  void AddRecompiles(DeviceFacts* facts) {
    for (const Track& track : source_.process().tracks) {
      std::vector<std::pair<Interval, uint32_t>> found = CompilesIn(track.op);
      for (const auto& each : CompilesIn(track.python)) found.push_back(each);
      // The outermost count: they contain each other.
      std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.first.start != b.first.start ? a.first.start < b.first.start
                                              : a.first.end > b.first.end;
      });
      int64_t until = INT64_MIN;
      for (const auto& [span, name] : found) {
        if (span.start < until) continue;
        until = span.end;
        facts->recompiles.Add(span.length(), 0, [&, name = name, span = span] {
          return Named(track, span, source_.process().String(name));
        });
      }
    }
    facts->compile_is_of_framework = facts->recompiles.total_ns > loads_.pieces.total_ns;
  }

  template <typename Table>
  std::vector<std::pair<Interval, uint32_t>> CompilesIn(const Table& table) {
    std::vector<std::pair<Interval, uint32_t>> found;
    for (size_t i = 0; i < table.rows(); ++i) {
      const auto [at, is_new] = is_compile_.try_emplace(table.name[i], false);
      if (is_new)
        at->second = HostCategoryOfName(source_.process().String(table.name[i])) ==
                     results::TIME_CATEGORY_COMPILE;
      const Interval span = {table.end_ns[i] - table.duration_ns[i], table.end_ns[i]};
      if (at->second && source_.InHostSteps(span.start)) found.emplace_back(span, at->first);
    }
    return found;
  }

  Instance Named(const Track& track, Interval span, std::string name) const {
    Instance instance;
    instance.name = std::move(name);
    instance.start_ns = span.start;
    instance.duration_ns = span.length();
    instance.step = source_.HostStepAt(span.start);
    if (!track.is_stream) instance.tid = track.tid;
    return instance;
  }

  // Takes the second node of a call that waits: the first has the begin of the call.
  void AddWait(uint32_t n, DeviceFacts* facts) {
    const DependencyNode& node = source_.nodes()[n];
    const ApiTable& api = source_.process().tracks[node.track].api;
    const int64_t length = api.duration_ns[node.row];
    const std::string& name = source_.FunctionOf(node.track, node.row);
    const auto instance = [&] {
      Instance made = source_.InstanceOf(node, name);
      made.start_ns = api.end_ns[node.row] - length;
      made.duration_ns = length;
      return made;
    };
    const bool waits = HostCategoryOfCall(name) == results::TIME_CATEGORY_SYNC ||
                       waiting_copies_.count(KeyOf(node)) != 0;
    if (!waits) {
      const bool is_of_queue = !node.is_of_own_work && blocking_.count(KeyOf(node)) == 0;
      if (is_of_queue && (Has(name, "Launch") || Has(name, "Async")))
        full_queue_.pieces.Add(length, 0, instance);
      return;
    }
    // What comes before the first step belongs to no step.
    if (node.span.start >= source_.graph().start_ns()) waits_.push_back(n);
    const int64_t idle = IdleAfter(api.end_ns[node.row]);
    if (idle < source_.limits().Whole("SY-001.min_idle")) return;
    // The wait that costs most is the one after which the device has nothing to do for longest.
    facts->waits.Add(idle, 0, [&] {
      Instance made = instance();
      made.duration_ns = idle;
      facts->longest_wait_ns = length;
      return made;
    });
    auto& [count, sum] = facts->waits_by_call[name];
    ++count;
    sum += length;
  }

  // Returns how long no device has work from a moment on.
  int64_t IdleAfter(int64_t time_ns) const {
    const auto at =
        std::upper_bound(busy_.begin(), busy_.end(), time_ns,
                         [](int64_t time, const Interval& span) { return time < span.end; });
    return at == busy_.end() ? 0 : std::max<int64_t>(at->start - time_ns, 0);
  }

  // Finds the function whose slowest calls are slow, and that takes most time.
  Pieces FindSlow() {
    CallGroup* most = nullptr;
    for (auto& [name, group] : others_) {
      std::vector<int64_t> lengths;
      for (const uint32_t n : group.nodes) lengths.push_back(source_.nodes()[n].span.length());
      const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() * 99 / 100);
      std::nth_element(lengths.begin(), at, lengths.end());
      if (*at < source_.limits().Whole("LA-005.min_p99")) continue;
      // The usual calls are what a launch costs: they are no matter of this rule.
      std::erase_if(group.nodes, [&](uint32_t n) {
        return source_.nodes()[n].span.length() < source_.limits().Whole("LA-005.min_p99");
      });
      CallGroup slow;
      for (const uint32_t n : group.nodes) Add(n, &slow);
      group = std::move(slow);
      if (most == nullptr || group.pieces.total_ns > most->pieces.total_ns) most = &group;
    }
    return most == nullptr ? Pieces() : FinishSlow(*most);
  }

  // Work that a slow call launched comes to the device at once without the call.
  Pieces FinishSlow(CallGroup& group) const {
    if (!source_.IsWorthAsking(group.pieces.total_ns)) return group.pieces;
    FreeNodes free = source_.graph().NoneFree();
    std::set<Key> calls;
    for (const uint32_t n : group.nodes) {
      free.own[n] = true;
      calls.insert(KeyOf(source_.nodes()[n]));
    }
    for (uint32_t n = 0; n < source_.nodes().size(); ++n) {
      if (source_.nodes()[n].kind != DependencyNode::Kind::kWork) continue;
      const std::optional<Call> call = source_.LaunchOf(source_.nodes()[n]);
      if (call && calls.count({call->track, call->row}) != 0) free.before[n] = true;
    }
    group.pieces.saved_per_step_ns = source_.graph().SavedPerStep(free);
    return group.pieces;
  }

  Pieces Finish(CallGroup& group) const {
    if (!group.nodes.empty() && source_.IsWorthAsking(group.pieces.total_ns)) {
      FreeNodes free = source_.graph().NoneFree();
      for (const uint32_t n : group.nodes) free.own[n] = true;
      group.pieces.saved_per_step_ns = source_.graph().SavedPerStep(free);
    }
    return std::move(group.pieces);
  }

  FactSource& source_;
  std::vector<Interval> busy_;
  CallGroup allocations_, loads_, full_queue_;
  std::vector<uint32_t> waits_;
  std::set<Key> waiting_copies_;  // their calls
  std::set<Key> blocking_;
  std::map<std::string, CallGroup> others_;        // by function
  std::unordered_map<uint32_t, bool> is_compile_;  // by name
};

}  // namespace

void FillCallFacts(FactSource& source, DeviceFacts* facts) { CallFinder(source).Find(facts); }

}  // namespace gpuprof::analysis
