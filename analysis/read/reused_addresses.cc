// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See reused_addresses.h.

#include "analysis/read/reused_addresses.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/model/modules.h"
#include "proto/record.h"

namespace gpuprof::analysis {
namespace {

// A recorder's stacks are less deep by far; of any other the way to the root must not be walked for
// each row.
constexpr size_t kDeepest = 4096;
// Stays of all ranges: no program comes near, a made-up table must not take all memory.
constexpr size_t kMostPlaces = 1u << 20;

// Addresses that the same modules had.
struct Range {
  uint64_t end;
  size_t usual;                   // the module that an address alone leads to
  std::vector<ModuleStay> stays;  // by end
};

class ReusedAddresses {
 public:
  ReusedAddresses(const std::vector<ModuleStay>& stays, Process* process) : process_(*process) {
    FindRanges(stays);
    for (const auto& [start, range] : ranges_) {
      for (const ModuleStay& stay : range.stays) ends_.push_back(stay.end_ns);
    }
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  }

  bool empty() const { return ranges_.empty(); }

  // The same program counter, moved if need be. `back` 1: it is a return address.
  uint64_t Pc(uint64_t pc, int64_t time_ns, uint64_t back) {
    const Range* range = RangeAt(pc - back);
    if (range == nullptr) return pc;
    // The first that was not gone yet; behind the last one's end, the last.
    auto stay = std::upper_bound(
        range->stays.begin(), range->stays.end(), time_ns,
        [](int64_t time, const ModuleStay& candidate) { return time < candidate.end_ns; });
    if (stay == range->stays.end()) --stay;
    return stay->module == range->usual ? pc : Moved(pc, stay->module);
  }

  uint32_t Stack(uint32_t id, int64_t time_ns) {
    if (id == last_harmless_ || !TouchesRange(id)) {
      last_harmless_ = id;
      return id;
    }
    // Between two ends nothing changes.
    const auto epoch =
        static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), time_ns) - ends_.begin());
    const auto [known, is_new] = separated_.try_emplace({id, epoch}, id);
    if (is_new) known->second = Separate(id, time_ns);
    return known->second;
  }

 private:
  void FindRanges(const std::vector<ModuleStay>& stays);
  void AddRange(uint64_t start, uint64_t end, const std::set<size_t>& modules,
                const std::map<size_t, std::vector<ModuleStay>>& stays_of);

  const Range* RangeAt(uint64_t address) const {
    auto range = ranges_.upper_bound(address);
    if (range == ranges_.begin()) return nullptr;
    --range;
    return address < range->second.end ? &range->second : nullptr;
  }

  uint64_t Moved(uint64_t pc, size_t module) {
    const auto [known, is_new] =
        moved_.try_emplace(module, kFirstMovedRange + uint64_t{moved_.size()});
    const uint64_t range = known->second;
    const bool is_near = process_.modules[module].end() >> kTrueAddressBits == 0;
    if (range >= kMovedRangeEnd || !is_near) return pc;
    if (is_new) {
      proto::Module copy = process_.modules[module];
      copy.set_start(MovedAddress(copy.start(), range));
      copy.set_end(MovedAddress(copy.end(), range));
      copy.set_bias(copy.bias() + (range << kTrueAddressBits));
      process_.modules.push_back(std::move(copy));
    }
    return MovedAddress(pc, range);
  }

  // Whether a frame of the stack lies in one of the ranges.
  bool TouchesRange(uint32_t id) {
    way_.clear();
    bool touches = false;
    StackNode node;
    while (id > 1 && way_.size() < kDeepest && process_.stacks.Find(id, &node)) {
      const auto known = touches_.find(id);
      if (known != touches_.end()) {
        touches = known->second;
        break;
      }
      way_.push_back({id, RangeAt(node.pc - 1) != nullptr});
      id = node.parent;
    }
    for (auto step = way_.rbegin(); step != way_.rend(); ++step)
      touches_[step->first] = touches = touches || step->second;
    return touches;
  }

  uint32_t Separate(uint32_t id, int64_t time_ns) {
    std::vector<StackNode> frames;  // innermost first; of each its own id
    StackNode node;
    for (uint32_t at = id; at != 0 && process_.stacks.Find(at, &node); at = node.parent) {
      if (frames.size() == kDeepest) return id;
      frames.push_back({at, node.pc});
    }
    uint32_t parent = 0;
    bool is_same = true;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      const uint64_t pc = Pc(frame->pc, time_ns, 1);
      is_same = is_same && pc == frame->pc;
      parent = is_same ? frame->parent : process_.stacks.Child(parent, pc);
      if (parent == 0) return id;  // as many stacks as there may be
    }
    return parent;
  }

  Process& process_;
  std::map<uint64_t, Range> ranges_;  // by start
  std::vector<int64_t> ends_;         // of all stays in them
  std::map<size_t, uint64_t> moved_;  // by module
  std::unordered_map<uint32_t, bool> touches_;
  std::vector<std::pair<uint32_t, bool>> way_;
  std::map<std::pair<uint32_t, size_t>, uint32_t> separated_;  // by stack and epoch
  uint32_t last_harmless_ = 0;
};

// Cuts the addresses where modules begin and end; what two or more cover is of interest.
void ReusedAddresses::FindRanges(const std::vector<ModuleStay>& stays) {
  std::map<size_t, std::vector<ModuleStay>> stays_of;
  for (const ModuleStay& stay : stays) stays_of[stay.module].push_back(stay);
  std::map<uint64_t, std::pair<std::vector<size_t>, std::vector<size_t>>> edges;  // begin, end
  for (const auto& [module, unused] : stays_of) {
    const proto::Module& mapped = process_.modules[module];
    edges[mapped.start()].first.push_back(module);
    edges[mapped.end()].second.push_back(module);
  }
  std::set<size_t> open;
  uint64_t from = 0;
  size_t places = 0;
  for (const auto& [address, edge] : edges) {
    if (open.size() > 1) {
      for (const size_t module : open) places += stays_of[module].size();
      if (places > kMostPlaces) return;
      AddRange(from, address, open, stays_of);
    }
    for (const size_t module : edge.second) open.erase(module);
    for (const size_t module : edge.first) open.insert(module);
    from = address;
  }
}

void ReusedAddresses::AddRange(uint64_t start, uint64_t end, const std::set<size_t>& modules,
                               const std::map<size_t, std::vector<ModuleStay>>& stays_of) {
  Range range = {end, *modules.begin(), {}};
  for (const size_t module : modules) {
    if (Outlasts(process_.modules[module], process_.modules[range.usual])) range.usual = module;
    const std::vector<ModuleStay>& own = stays_of.at(module);
    range.stays.insert(range.stays.end(), own.begin(), own.end());
  }
  // Of several that were never seen to be gone the usual one comes first.
  std::stable_sort(range.stays.begin(), range.stays.end(),
                   [this](const ModuleStay& x, const ModuleStay& y) {
                     if (x.end_ns != y.end_ns) return x.end_ns < y.end_ns;
                     return Outlasts(process_.modules[x.module], process_.modules[y.module]);
                   });
  ranges_.emplace(start, std::move(range));
}

// Program counters and stacks of one table.
class Rows {
 public:
  Rows(ReusedAddresses* addresses, const Column<int64_t>& times, const int64_t* at_once)
      : addresses_(addresses), times_(times), at_once_(at_once) {}

  Rows& Stacks(Column<uint32_t>* column) {
    column->Rewrite(
        [&](size_t row, uint32_t stack) { return addresses_->Stack(stack, Time(row)); });
    return *this;
  }
  Rows& ReturnAddresses(Column<uint64_t>* column) {
    column->Rewrite(
        [&](size_t row, uint64_t pc) { return pc == 0 ? 0 : addresses_->Pc(pc, Time(row), 1); });
    return *this;
  }
  void StartRoutines(ThreadEventTable* table) {
    table->a.Rewrite([&](size_t row, uint64_t a) {
      const bool is_start = table->event[row] == static_cast<uint32_t>(proto::ThreadEvent::kStart);
      return is_start ? addresses_->Pc(a, Time(row), 0) : a;
    });
  }

 private:
  int64_t Time(size_t row) const { return at_once_ != nullptr ? *at_once_ : times_[row]; }

  ReusedAddresses* addresses_;
  const Column<int64_t>& times_;
  const int64_t* at_once_;
};

}  // namespace

void SeparateReusedAddresses(const std::vector<ModuleStay>& stays, bool at_once, Process* process) {
  ReusedAddresses addresses(stays, process);
  if (addresses.empty()) return;
  const int64_t first_ns = process->first_ns;
  const int64_t* const always = at_once ? &first_ns : nullptr;
  for (Track& track : process->tracks) {
    const auto rows = [&](const Column<int64_t>& times) { return Rows(&addresses, times, always); };
    rows(track.heap.time_ns).Stacks(&track.heap.stack);
    rows(track.wait.end_ns).Stacks(&track.wait.stack).ReturnAddresses(&track.wait.caller);
    rows(track.mapping.time_ns).Stacks(&track.mapping.stack);
    rows(track.launch.time_ns).Stacks(&track.launch.stack);
    rows(track.sample.end_ns).Stacks(&track.sample.stack);
    rows(track.device_memory.time_ns).ReturnAddresses(&track.device_memory.pc);
    rows(track.thread_event.time_ns).StartRoutines(&track.thread_event);
  }
}

}  // namespace gpuprof::analysis
