// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/host/wait_graph.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/steps/wait_kind.h"
#include "proto/record.h"

namespace gpuprof::analysis {
namespace {

// The graph as it changes: which wait each thread is in, and to whom that is charged at present.
class Sweep {
 public:
  explicit Sweep(const std::vector<ContendedWait>& waits, std::map<int32_t, Blame>* blame)
      : waits_(waits), blame_(blame) {}

  void Begin(size_t wait) {
    const ContendedWait& w = waits_[wait];
    // Two waits of one thread cannot overlap, but a lost record may make it look so.
    if (waiting_.count(w.waiter) != 0) End(waiting_[w.waiter].wait, w.start_ns);
    waiting_[w.waiter] = {wait, w.start_ns, 0};
    if (w.holder != 0) waiters_of_[w.holder].insert(w.waiter);
    Charge(w.waiter, w.start_ns);
  }

  void End(size_t wait, int64_t now) {
    const ContendedWait& w = waits_[wait];
    const auto found = waiting_.find(w.waiter);
    if (found == waiting_.end() || found->second.wait != wait) return;
    Settle(&found->second, now);
    waiting_.erase(found);
    if (w.holder != 0) waiters_of_[w.holder].erase(w.waiter);
    Charge(w.waiter, now);
  }

 private:
  struct Waiting {
    size_t wait;
    int64_t since_ns;  // charged up to here
    int32_t root;      // to whom from then on; 0: nobody
  };

  void Settle(Waiting* w, int64_t now) {
    if (w->root != 0) (*blame_)[w->root].root_ns += now - w->since_ns;
    w->since_ns = now;
  }

  // The end of the path from a waiting thread; 0: not known, or a circle.
  int32_t Root(int32_t thread) const {
    int32_t at = thread;
    for (size_t steps = 0; steps <= waiting_.size(); ++steps) {
      const auto found = waiting_.find(at);
      if (found == waiting_.end()) return at;
      at = waits_[found->second.wait].holder;
      if (at == 0) return 0;
    }
    return 0;
  }

  // A thread began or ended to wait: the paths of all that wait for it, however far off, now end
  // elsewhere.
  void Charge(int32_t thread, int64_t now) {
    std::vector<int32_t> pending{thread};
    std::set<int32_t> seen{thread};
    while (!pending.empty()) {
      const int32_t at = pending.back();
      pending.pop_back();
      const auto found = waiting_.find(at);
      if (found != waiting_.end()) {
        Settle(&found->second, now);
        found->second.root = Root(at);
      }
      const auto waiters = waiters_of_.find(at);
      if (waiters == waiters_of_.end()) continue;
      for (const int32_t waiter : waiters->second) {
        if (seen.insert(waiter).second) pending.push_back(waiter);
      }
    }
  }

  const std::vector<ContendedWait>& waits_;
  std::map<int32_t, Blame>* blame_;
  std::map<int32_t, Waiting> waiting_;
  std::map<int32_t, std::set<int32_t>> waiters_of_;
};

struct Edge {
  int64_t time;
  bool begins;
  size_t wait;
};

// At one moment ends come before begins.
std::vector<Edge> EdgesOf(const std::vector<ContendedWait>& waits) {
  std::vector<Edge> edges;
  edges.reserve(waits.size() * 2);
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].end_ns <= waits[i].start_ns) continue;
    edges.push_back({waits[i].start_ns, true, i});
    edges.push_back({waits[i].end_ns, false, i});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.time != b.time ? a.time < b.time : a.begins < b.begins;
  });
  return edges;
}

// Everybody whose path leads into the circle.
std::set<int32_t> BlockedBy(const std::map<int32_t, size_t>& open,
                            const std::vector<ContendedWait>& waits, std::set<int32_t> blocked) {
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [thread, wait] : open) {
      if (blocked.count(waits[wait].holder) != 0) grew = blocked.insert(thread).second || grew;
    }
  }
  return blocked;
}

template <typename Wanted>
std::vector<ContendedWait> WaitsOf(const Process& process, const Wanted& is_wanted) {
  std::vector<ContendedWait> waits;
  for (const Track& track : process.tracks) {
    const WaitTable& table = track.wait;
    for (size_t row = 0; row < table.rows(); ++row) {
      const proto::WaitKind kind = proto::WaitKindOf(table.operation[row]);
      const uint8_t flags = proto::FlagsOf(table.operation[row]);
      if (!is_wanted(kind, flags)) continue;
      waits.push_back({table.end_ns[row] - table.duration_ns[row], table.end_ns[row], track.tid,
                       table.owner[row], static_cast<uint8_t>(kind),
                       (flags & proto::kFlagIncomplete) != 0, table.object[row], table.caller[row],
                       table.stack[row]});
    }
  }
  std::stable_sort(waits.begin(), waits.end(), [](const ContendedWait& a, const ContendedWait& b) {
    return a.start_ns < b.start_ns;
  });
  return waits;
}

}  // namespace

std::vector<ContendedWait> ContendedWaits(const Process& process) {
  return WaitsOf(process, [](proto::WaitKind kind, uint8_t) { return IsContention(kind); });
}

std::vector<ContendedWait> WaitsWithoutEnd(const Process& process) {
  return WaitsOf(process, [](proto::WaitKind kind, uint8_t flags) {
    return (IsContention(kind) || kind == proto::WaitKind::kJoin) &&
           (flags & proto::kFlagIncomplete) != 0 && (flags & proto::kFlagLimited) == 0;
  });
}

std::map<int32_t, Blame> BlameHolders(const std::vector<ContendedWait>& waits) {
  std::map<int32_t, Blame> blame;
  for (const ContendedWait& wait : waits) {
    if (wait.holder == 0 || wait.holder == wait.waiter) continue;
    Blame& of = blame[wait.holder];
    of.direct_ns += wait.end_ns - wait.start_ns;
    of.waiters.insert(wait.waiter);
  }
  Sweep sweep(waits, &blame);
  for (const Edge& edge : EdgesOf(waits)) {
    if (edge.begins) {
      sweep.Begin(edge.wait);
    } else {
      sweep.End(edge.wait, edge.time);
    }
  }
  return blame;
}

std::vector<WaitCircle> FindCircles(const std::vector<ContendedWait>& waits) {
  std::map<int32_t, size_t> open;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].incomplete && waits[i].holder != 0) open[waits[i].waiter] = i;
  }
  std::vector<WaitCircle> circles;
  std::set<int32_t> done;
  for (const auto& [thread, wait] : open) {
    std::vector<int32_t> path;
    int32_t at = thread;
    while (open.count(at) != 0 && done.insert(at).second) {
      path.push_back(at);
      at = waits[open[at]].holder;
    }
    const auto first = std::find(path.begin(), path.end(), at);
    if (first == path.end()) continue;
    WaitCircle circle;
    int64_t first_end_ns = std::numeric_limits<int64_t>::max();
    for (auto it = first; it != path.end(); ++it) {
      const ContendedWait& link = waits[open[*it]];
      circle.waits.push_back(open[*it]);
      circle.start_ns = it == first ? link.start_ns : std::max(circle.start_ns, link.start_ns);
      circle.end_ns = it == first ? link.end_ns : std::max(circle.end_ns, link.end_ns);
      first_end_ns = std::min(first_end_ns, link.end_ns);
      circle.blocked.insert(*it);
    }
    if (first_end_ns < circle.start_ns) continue;
    circle.blocked = BlockedBy(open, waits, std::move(circle.blocked));
    circles.push_back(std::move(circle));
  }
  return circles;
}

std::vector<uint32_t> MostWaiters(const std::vector<ContendedWait>& waits, int64_t start_ns,
                                  int64_t length_ns, size_t count) {
  std::vector<uint32_t> most(count, 0);
  size_t at = 0;
  uint32_t now = 0;
  for (const Edge& edge : EdgesOf(waits)) {
    // An end at the very border of an interval does not reach into the next.
    const int64_t inside = edge.begins ? edge.time : edge.time - 1;
    const auto interval = static_cast<size_t>(std::max<int64_t>(inside - start_ns, 0) / length_ns);
    for (; at < interval && at + 1 < count; ++at) most[at + 1] = std::max(most[at + 1], now);
    edge.begins ? ++now : --now;
    if (at < count) most[at] = std::max(most[at], now);
  }
  return most;
}

}  // namespace gpuprof::analysis
