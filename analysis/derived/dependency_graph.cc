// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How the graph is made. See dependency_graph.h; it is played in dependency_play.cc.

#include "analysis/derived/dependency_graph.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <unordered_map>
#include <utility>

#include "analysis/base/reorder.h"
#include "analysis/base/sort_lists.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/own_work.h"
#include "analysis/derived/queued_work.h"
#include "analysis/model/span_order.h"

namespace gpuprof::analysis {

using results::TimeCategory;

namespace {

// A wait for the device takes at least this long on the host, as the short waits of real traces do.
constexpr int64_t kShortWaitNs = 2000;
// The clocks of host and device agree to so much: a long call that ends just before its work
// waited.
constexpr int64_t kClockErrorNs = 20'000;
constexpr int64_t kLongCallNs = 50'000;
// Work that lay in the queue for longer, with nothing known to wait for, waited for another stream.
constexpr int64_t kLongInQueueNs = 20'000;
// At one moment the end of a wait comes before the thread's next call, and a call before its work.
constexpr int kOrderOfWaits = 0, kOrderOfCalls = 1, kOrderOfWork = 2;

int OrderOf(const DependencyNode& node) {
  return node.kind == DependencyNode::Kind::kCall   ? kOrderOfCalls
         : node.kind == DependencyNode::Kind::kWork ? kOrderOfWork
                                                    : kOrderOfWaits;
}

int64_t ClockSlack(Interval call) {
  return call.length() < kLongCallNs ? 0 : std::min(kClockErrorNs, call.length() / 5);
}

}  // namespace

// Makes the nodes and edges of one process.
class GraphMaker {
 public:
  GraphMaker(const Process& process, uint32_t main_track, const CallIndex& calls, ProcessOps* ops,
             KernelClasses* classes, HostActivity* host, DependencyGraph* out)
      : process_(process),
        main_track_(main_track),
        calls_(calls),
        ops_(ops),
        classes_(classes),
        host_(host),
        records_(process, calls),
        out_(out),
        own_work_(process) {}

  void Make() {
    AddWork();
    AddCalls();
    SortNodes();
    IndexNodes();
    FindUsualLaunch();
    out_->edges_.reserve(out_->nodes_.size() * 3 / 2);
    out_->parts_.reserve(out_->nodes_.size() * 3 / 2);
    for (uint32_t n = 0; n < out_->nodes_.size(); ++n) AddEdges(n);
  }

 private:
  // The call that launched a piece of work.
  struct Launch {
    uint32_t track = kNoNode;  // kNoNode: it is not known
    uint32_t row = 0;
    int64_t start_ns = 0;
  };

  void AddWork() {
    call_node_.resize(process_.tracks.size());
    ends_by_launch_.resize(process_.tracks.size());
    Reserve();
    for (uint32_t t = 0; t < process_.tracks.size(); ++t) {
      const Track& track = process_.tracks[t];
      ForEachDeviceWork(track, [&](const DeviceWork& work) {
        DependencyNode node;
        node.kind = DependencyNode::Kind::kWork;
        node.span = work.span;
        node.track = t;
        node.row = static_cast<uint32_t>(work.row);
        node.work = work.kind;
        node.category = WorkCategory(track, work, classes_);
        AddNode(node);
        const std::optional<Call> call = calls_.Find(work.correlation);
        if (!call) return;
        launches_.back() = {call->track, call->row, call->start_ns};
        own_work_.Add(call->track, call->row, t, work.span);
        ends_by_launch_[t].emplace_back(call->start_ns, work.span.end);
        queued_.Add(call->start_ns, work.span.end);
      });
      std::vector<std::pair<int64_t, int64_t>>& ends = ends_by_launch_[t];
      SortLists(&ends);
      for (size_t i = 1; i < ends.size(); ++i)
        ends[i].second = std::max(ends[i].second, ends[i - 1].second);
    }
    queued_.Sort();
  }

  // Takes room for all nodes, unless calls wait: a table that grows is copied again and again.
  void Reserve() {
    size_t work = 0, calls = 0;
    for (const Track& track : process_.tracks) {
      work += track.kernel.rows() + track.memcpy.rows() + track.memset.rows() +
              track.graph_launch.rows();
      calls += track.api.rows();
    }
    out_->nodes_.reserve(work + calls);
    launches_.reserve(work + calls);
    queued_.Reserve(work);
  }

  void AddNode(const DependencyNode& node) {
    out_->nodes_.push_back(node);
    launches_.emplace_back();
  }

  // The outermost calls of each thread. The runtime's calls contain those of the driver.
  void AddCalls() {
    FindAwaited();
    for (uint32_t t = 0; t < process_.tracks.size(); ++t) {
      const ApiTable& api = process_.tracks[t].api;
      if (api.has_ids_alone()) continue;
      std::vector<SpanNs> spans;
      spans.reserve(api.rows());
      const Column<int64_t>::Reader ends(api.end_ns), durations(api.duration_ns);
      for (size_t row = 0; row < api.rows(); ++row)
        spans.push_back({ends[row] - durations[row], ends[row]});
      int64_t until = std::numeric_limits<int64_t>::min();
      for (const uint32_t row : OutermostFirst(spans)) {
        if (spans[row].start < until) continue;
        until = spans[row].end;
        AddCall(t, row, {spans[row].start, until});
      }
    }
  }

  void AddCall(uint32_t track, uint32_t row, Interval span) {
    DependencyNode node;
    node.span = span;
    node.track = track;
    node.row = row;
    node.category = CallCategory(track, row);
    const OwnWork* const own = own_work_.Of(track, row);
    if (own != nullptr && span.length() >= 2 * kShortWaitNs && own->LastsAsLongAs(span))
      return AddCallOfOwnWork(node);
    const std::optional<int64_t> awaited = AwaitedEnd(track, row, span);
    if (!awaited) return AddNode(node);
    // A call that waits is two nodes: it begins, and it ends behind the work.
    DependencyNode end = node;
    end.kind = DependencyNode::Kind::kWaited;
    end.category = results::TIME_CATEGORY_SYNC;
    end.awaited_ns = *awaited;
    // A launch that waited for room goes on when any work has ended, which is not recorded: what
    // passed since the work before it belongs to the work.
    const int64_t room = std::max(*awaited, span.end - kShortWaitNs);
    end.span = {std::min(IsLaunch(track, row) ? room : *awaited, span.end), span.end};
    node.category = results::TIME_CATEGORY_SYNC;
    node.span.end = std::min({span.start + kShortWaitNs, *awaited, span.end});
    AddNode(node);
    AddNode(end);
  }

  void AddCallOfOwnWork(DependencyNode node) {
    DependencyNode end = node;
    end.kind = DependencyNode::Kind::kWaited;
    end.is_of_own_work = true;
    end.span.start = end.span.end;
    node.span.end = node.span.start + kShortWaitNs;
    AddNode(node);
    AddNode(end);
  }

  TimeCategory CallCategory(uint32_t track, uint32_t row) {
    const uint32_t function = process_.tracks[track].api.function[row];
    const auto [known, is_new] =
        category_of_function_.try_emplace(function, results::TIME_CATEGORY_NONE);
    if (is_new) {
      const auto name = process_.functions.find(function);
      if (name != process_.functions.end())
        known->second = HostCategoryOfCall(process_.String(name->second));
    }
    if (known->second != results::TIME_CATEGORY_NONE) return known->second;
    return own_work_.Of(track, row) != nullptr ? results::TIME_CATEGORY_LAUNCH
                                               : results::TIME_CATEGORY_HOST;
  }

  // Collects what waits were for: a stream, or a recording.
  void FindAwaited() {
    for (uint32_t t = 0; t < process_.tracks.size(); ++t) {
      const SyncTable& waits = process_.tracks[t].sync;
      for (size_t i = 0; i < waits.rows(); ++i) {
        if (waits.operation[i] == kStreamWait) wait_stream_[waits.correlation[i]] = t;
        if (waits.operation[i] != kEventWait) continue;
        if (const EventRecord* record = records_.Find(waits, i))
          wait_record_[waits.correlation[i]] = *record;
      }
    }
  }

  // Returns the end of the latest work that a stream was given before a moment.
  std::optional<int64_t> LatestEnd(uint32_t stream, int64_t launched_before) const {
    const auto& ends = ends_by_launch_[stream];
    const auto at = std::lower_bound(
        ends.begin(), ends.end(), launched_before,
        [](const std::pair<int64_t, int64_t>& each, int64_t time) { return each.first < time; });
    if (at == ends.begin()) return std::nullopt;
    return (at - 1)->second;
  }

  // Returns when the work ended that a call waited for. None: it waited for none.
  std::optional<int64_t> AwaitedEnd(uint32_t track, uint32_t row, Interval span) {
    std::optional<int64_t> end;
    const uint32_t id = process_.tracks[track].api.correlation[row];
    if (const OwnWork* const own = own_work_.Of(track, row)) {
      const bool is_waited =
          own->last_end > span.start && own->last_end <= span.end + ClockSlack(span);
      // By the clocks' error short work may lie behind the call: then the work before it counts.
      if (is_waited && own->first.start >= span.end) {
        end = LatestEnd(own->stream, span.start);
      } else if (is_waited) {
        end = own->last_end;
      } else if (queued_.IsHeldUp(span)) {
        end = queued_.LastEnd(span.end);
      }
    } else if (CallCategory(track, row) == results::TIME_CATEGORY_SYNC) {
      if (const auto stream = wait_stream_.find(id); stream != wait_stream_.end()) {
        end = LatestEnd(stream->second, span.start);
      } else if (const auto record = wait_record_.find(id); record != wait_record_.end()) {
        end = LatestEnd(record->second.track, record->second.time_ns);
      } else {
        for (uint32_t t = 0; t < process_.tracks.size(); ++t) {
          const std::optional<int64_t> of_stream = LatestEnd(t, span.start);
          if (of_stream && *of_stream <= span.end)
            end = std::max(end.value_or(*of_stream), *of_stream);
        }
      }
    }
    return end && *end > span.start && *end <= span.end + ClockSlack(span) ? end : std::nullopt;
  }

  // Returns whether a call launched work that it did not wait for itself.
  bool IsLaunch(uint32_t track, uint32_t row) const {
    const OwnWork* const own = own_work_.Of(track, row);
    if (own == nullptr) return false;
    const ApiTable& api = process_.tracks[track].api;
    const Interval span = {api.end_ns[row] - api.duration_ns[row], api.end_ns[row]};
    return own->last_end > span.end + ClockSlack(span);
  }

  void SortNodes() {
    std::vector<SpanNs> keys;  // of one start, the one with the greater second number first
    keys.reserve(out_->nodes_.size());
    for (const DependencyNode& node : out_->nodes_)
      keys.push_back({node.span.start, -OrderOf(node)});
    const std::vector<uint32_t> from = OutermostFirst(keys);
    keys = {};
    Reorder(from, &out_->nodes_, &launches_);
  }

  void IndexNodes() {
    before_on_track_.resize(out_->nodes_.size(), kNoNode);
    // By track: the last call, or the work that ended last so far.
    std::vector<uint32_t> last(process_.tracks.size(), kNoNode);
    for (const DependencyNode& node : out_->nodes_)
      if (node.kind == DependencyNode::Kind::kWaited) ends_.try_emplace(node.awaited_ns);
    for (uint32_t n = 0; n < out_->nodes_.size(); ++n) {
      const DependencyNode& node = out_->nodes_[n];
      uint32_t& before = last[node.track];
      before_on_track_[n] = before;
      const bool is_later = before == kNoNode || node.kind != DependencyNode::Kind::kWork ||
                            out_->nodes_[before].span.end <= node.span.end;
      if (is_later) before = n;
      if (node.kind == DependencyNode::Kind::kCall) SetCallNode(node, n);
      if (node.kind == DependencyNode::Kind::kWork) queued_.AddNode(node.span.end, n);
      if (node.kind == DependencyNode::Kind::kWork && !ends_.empty()) {
        const auto awaited = ends_.find(node.span.end);
        if (awaited != ends_.end()) awaited->second.push_back(n);
      }
      if (node.track == main_track_ && node.kind != DependencyNode::Kind::kWork) main_.push_back(n);
    }
    FindStreamWaits();
    FindBackward();
  }

  void SetCallNode(const DependencyNode& call, uint32_t n) {
    std::vector<uint32_t>& nodes = call_node_[call.track];
    if (nodes.empty()) nodes.resize(process_.tracks[call.track].api.rows(), kNoNode);
    nodes[call.row] = n;
  }

  // Finds the calls of other threads in autograd's nodes: the main thread waits for them in
  // backward().
  void FindBackward() {
    std::vector<std::vector<Interval>> spans(process_.tracks.size());
    for (uint32_t t = 0; t < process_.tracks.size(); ++t) {
      const OpTable& ops = process_.tracks[t].op;
      for (size_t i = 0; t != main_track_ && i < ops.rows(); ++i) {
        if (ops_->name_kind(ops.name[i]) == NameKind::kAutograd)
          spans[t].push_back({ops.end_ns[i] - ops.duration_ns[i], ops.end_ns[i]});
      }
      spans[t] = UnionOf(std::move(spans[t]));
    }
    for (uint32_t n = 0; n < out_->nodes_.size(); ++n) {
      const DependencyNode& node = out_->nodes_[n];
      if (node.kind == DependencyNode::Kind::kWork || spans[node.track].empty()) continue;
      const int64_t start = node.span.start;
      if (CoveredLength(spans[node.track], {start, start + 1}) != 0) backward_.push_back(n);
    }
  }

  // Returns the last call of autograd's threads that ended between two moments before a node.
  uint32_t BackwardBefore(uint32_t n, int64_t after_ns) const {
    const int64_t until = out_->nodes_[n].span.start;
    auto at = std::lower_bound(backward_.begin(), backward_.end(), n);
    while (at != backward_.begin()) {
      --at;
      const Interval& span = out_->nodes_[*at].span;
      if (span.end <= until) return span.end > after_ns ? *at : kNoNode;
    }
    return kNoNode;
  }

  // The last work before a recording holds up the work that the waiting stream is given next.
  void FindStreamWaits() {
    const bool has_waits =
        std::any_of(process_.tracks.begin(), process_.tracks.end(), [](const Track& track) {
          return std::find(track.sync.operation.begin(), track.sync.operation.end(),
                           kStreamEventWait) != track.sync.operation.end();
        });
    if (!has_waits) return;
    std::vector<std::vector<std::pair<int64_t, uint32_t>>> launched(process_.tracks.size());
    for (uint32_t n = 0; n < out_->nodes_.size(); ++n) {
      const DependencyNode& node = out_->nodes_[n];
      if (node.kind != DependencyNode::Kind::kWork) continue;
      if (launches_[n].track != kNoNode)
        launched[node.track].emplace_back(launches_[n].start_ns, n);
    }
    for (auto& each : launched) std::sort(each.begin(), each.end());
    const auto first_from = [&](uint32_t track, int64_t time) {
      return std::lower_bound(launched[track].begin(), launched[track].end(),
                              std::pair<int64_t, uint32_t>(time, 0));
    };
    for (uint32_t t = 0; t < process_.tracks.size(); ++t) {
      const SyncTable& waits = process_.tracks[t].sync;
      for (size_t i = 0; i < waits.rows(); ++i) {
        if (waits.operation[i] != kStreamEventWait) continue;
        const EventRecord* record = records_.Find(waits, i);
        if (record == nullptr) continue;
        const uint32_t own = records_.OfDevice(t);
        const std::optional<Call> call = calls_.Find(waits.correlation[i]);
        const auto next =
            first_from(own, call ? call->start_ns : waits.end_ns[i] - waits.duration_ns[i]);
        const auto behind = first_from(record->track, record->time_ns);
        if (next == launched[own].end() || behind == launched[record->track].begin()) continue;
        held_by_[next->second].push_back((behind - 1)->second);
      }
    }
  }

  // Returns the node of the call that launched a node's work.
  uint32_t LaunchNode(uint32_t work) const {
    const Launch& launch = launches_[work];
    if (launch.track == kNoNode || call_node_[launch.track].empty()) return kNoNode;
    return call_node_[launch.track][launch.row];
  }

  // How long a launch takes to come to an idle device.
  void FindUsualLaunch() {
    std::vector<int64_t> delays;
    for (uint32_t n = 0; n < out_->nodes_.size(); ++n) {
      const DependencyNode& node = out_->nodes_[n];
      if (node.kind != DependencyNode::Kind::kWork) continue;
      const uint32_t launch = LaunchNode(n);
      if (launch == kNoNode || launch >= n) continue;
      const uint32_t before = before_on_track_[n];
      const int64_t start = out_->nodes_[launch].span.start;
      if (before == kNoNode || out_->nodes_[before].span.end <= start)
        delays.push_back(node.span.start - start);
    }
    if (delays.empty()) return;
    const auto quartile = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 4);
    std::nth_element(delays.begin(), quartile, delays.end());
    usual_launch_ns_ = *quartile;
  }

  void AddEdges(uint32_t n) {
    out_->nodes_[n].first_edge = static_cast<uint32_t>(out_->edges_.size());
    switch (out_->nodes_[n].kind) {
      case DependencyNode::Kind::kCall:
        AddCallEdges(n);
        break;
      case DependencyNode::Kind::kWork:
        AddWorkEdges(n);
        break;
      case DependencyNode::Kind::kWaited:
        AddWaitedEdges(n);
        break;
    }
    out_->nodes_[n].edges = static_cast<uint32_t>(out_->edges_.size()) - out_->nodes_[n].first_edge;
  }

  void AddEdge(uint32_t from, bool is_from_start, std::initializer_list<TimePart> parts) {
    DependencyEdge edge;
    edge.from = from;
    edge.is_from_start = is_from_start;
    edge.first_part = static_cast<uint32_t>(out_->parts_.size());
    for (const TimePart& part : parts) {
      if (part.ns != 0) out_->parts_.push_back(part);
    }
    edge.parts = static_cast<uint32_t>(out_->parts_.size()) - edge.first_part;
    out_->edges_.push_back(edge);
  }

  // Adds an edge from the end of a node: what the thread did in the gap.
  void AddHostEdge(uint32_t from, uint32_t track, Interval gap) {
    AddEdge(from, false, {});
    if (gap.length() <= 0) return;
    DeviceTimes times{};
    host_->Split(track, gap, &times);
    for (size_t i = 0; i < times.size(); ++i) {
      if (times[i] == 0) continue;
      out_->parts_.push_back({static_cast<TimeCategory>(i), times[i]});
      ++out_->edges_.back().parts;
    }
  }

  // Returns when the thread began what it was in at a moment: its outermost operation. The moment
  // itself: it was in none.
  int64_t OutermostStart(uint32_t track, int64_t time) {
    const OpTree& tree = ops_->tree(track);
    std::vector<Interval>& busy = busy_[track];
    if (busy.empty() && tree.rows() != 0) busy = tree.Busy();
    const auto at = std::upper_bound(busy.begin(), busy.end(), time,
                                     [](int64_t t, const Interval& each) { return t < each.end; });
    return at != busy.end() && at->start <= time ? at->start : time;
  }

  void AddCallEdges(uint32_t n) {
    const DependencyNode node = out_->nodes_[n];
    uint32_t from = before_on_track_[n];
    if (node.track != main_track_) {
      // Another thread that was in nothing since its last call was given its work.
      const int64_t began = OutermostStart(node.track, node.span.start);
      const int64_t before_end =
          from == kNoNode ? std::numeric_limits<int64_t>::min() : out_->nodes_[from].span.end;
      if (began > before_end) {
        const uint32_t given = MainBefore(n, began);
        if (given != kNoNode && out_->nodes_[given].span.end > before_end) from = given;
      }
    }
    if (node.track == main_track_ && from != kNoNode) {
      const uint32_t backward = BackwardBefore(n, out_->nodes_[from].span.end);
      if (backward != kNoNode) from = backward;
    }
    if (from == kNoNode) return AddEdge(kNoNode, false, {});
    const Interval gap = {out_->nodes_[from].span.end, node.span.start};
    AddHostEdge(from, node.track, gap);
  }

  // Returns the last node of the main thread that ended by then.
  uint32_t MainBefore(uint32_t n, int64_t time) const {
    auto at = std::lower_bound(main_.begin(), main_.end(), n);
    while (at != main_.begin()) {
      --at;
      if (out_->nodes_[*at].span.end <= time) return *at;
    }
    return kNoNode;
  }

  void AddWorkEdges(uint32_t n) {
    const DependencyNode node = out_->nodes_[n];
    const uint32_t launch = LaunchNode(n);
    const uint32_t before = before_on_track_[n];
    std::vector<uint32_t> holders;  // takes no memory while it is empty
    if (const auto held = held_by_.find(n); held != held_by_.end()) {
      for (const uint32_t holder : held->second)
        if (holder < n && out_->nodes_[holder].span.end <= node.span.start)
          holders.push_back(holder);
    }
    int64_t ready = std::numeric_limits<int64_t>::min();
    const bool has_launch = launch != kNoNode && launch < n;
    if (has_launch) ready = out_->nodes_[launch].span.start;
    const bool has_before = before != kNoNode;
    // Work may begin a little before the end of the work before it on its stream, and branches of a
    // graph run beside each other on one. It then follows the begin of that work.
    const bool is_beside = has_before && out_->nodes_[before].span.end > node.span.start;
    if (has_before)
      ready = std::max(ready, std::min(out_->nodes_[before].span.end, node.span.start));
    for (const uint32_t holder : holders) ready = std::max(ready, out_->nodes_[holder].span.end);
    const bool is_long =
        has_launch && node.span.start - ready > std::max(kLongInQueueNs, 3 * usual_launch_ns_);
    const uint32_t handed_over = is_long ? EndedBefore(n, launches_[n].start_ns) : kNoNode;
    if (handed_over != kNoNode) {
      holders.push_back(handed_over);
      ready = std::max(ready, out_->nodes_[handed_over].span.end);
    }
    const auto lag = [&](int64_t from, int64_t usual) {
      return from == ready ? node.span.start - from : std::min(usual, node.span.start - from);
    };
    if (has_launch) {
      const int64_t start = out_->nodes_[launch].span.start;
      AddEdge(launch, true, {{results::TIME_CATEGORY_LAUNCH, lag(start, usual_launch_ns_)}});
    }
    if (is_beside) {
      const DependencyNode& other = out_->nodes_[before];
      AddEdge(before, true, {{other.category, node.span.start - other.span.start}});
    } else if (has_before) {
      const int64_t end = out_->nodes_[before].span.end;
      AddEdge(before, false, {{results::TIME_CATEGORY_LAUNCH, lag(end, 0)}});
    }
    for (const uint32_t holder : holders) {
      const int64_t end = out_->nodes_[holder].span.end;
      AddEdge(holder, false, {{results::TIME_CATEGORY_DEPENDENCY, lag(end, 0)}});
    }
    // A program whose streams overlap may have work that began before the work before it ended.
    if (!has_launch && !has_before && holders.empty()) AddEdge(kNoNode, false, {});
  }

  // Returns the work of other streams of the device that ended last before work begins, and after
  // that work was launched: what a stream can wait for was launched before it. kNoNode: none did.
  uint32_t EndedBefore(uint32_t n, int64_t launched_ns) {
    const DependencyNode& node = out_->nodes_[n];
    const auto fits = [&](uint32_t other) {
      const uint32_t track = out_->nodes_[other].track;
      return track != node.track &&
             process_.tracks[track].device == process_.tracks[node.track].device && other < n &&
             launches_[other].start_ns < launched_ns;
    };
    return queued_.LastNode({launched_ns, node.span.start}, fits).value_or(kNoNode);
  }

  void AddWaitedEdges(uint32_t n) {
    const DependencyNode node = out_->nodes_[n];
    const uint32_t begin = before_on_track_[n];
    if (begin != kNoNode) AddEdge(begin, false, {});
    if (node.is_of_own_work) {
      const OwnWork& own = *own_work_.Of(node.track, node.row);
      const uint32_t work = out_->FindWork(own.stream, own.first.start);
      if (work < n)
        AddEdge(work, true, {{out_->nodes_[work].category, node.span.start - own.first.start}});
      return;
    }
    const auto ended = ends_.find(node.awaited_ns);
    if (ended == ends_.end()) return;
    for (const uint32_t work : ended->second) {
      // By the clocks' error the call may end before the work: then the time is negative.
      if (work < n)
        AddEdge(work, false, {{out_->nodes_[work].category, node.span.start - node.awaited_ns}});
    }
  }

  const Process& process_;
  const uint32_t main_track_;
  const CallIndex& calls_;
  ProcessOps* ops_;
  KernelClasses* classes_;
  HostActivity* host_;
  const EventRecords records_;
  DependencyGraph* out_;
  std::vector<Launch> launches_;  // by node
  OwnWorkOfCalls own_work_;
  // By track: pairs of launch and latest end so far, by launch.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> ends_by_launch_;
  std::unordered_map<uint32_t, uint32_t> wait_stream_;  // by correlation
  std::unordered_map<uint32_t, EventRecord> wait_record_;
  std::unordered_map<uint32_t, TimeCategory> category_of_function_;
  QueuedWork queued_;
  std::vector<uint32_t> before_on_track_;
  std::vector<std::vector<uint32_t>> call_node_;             // by track and row
  std::unordered_map<int64_t, std::vector<uint32_t>> ends_;  // work by its end, if it was awaited
  std::vector<uint32_t> main_;                               // nodes of the main thread
  std::vector<uint32_t> backward_;  // calls in autograd's nodes on other threads, by index
  std::unordered_map<uint32_t, std::vector<uint32_t>> held_by_;
  std::unordered_map<uint32_t, std::vector<Interval>> busy_;  // by track: when it was in operations
  int64_t usual_launch_ns_ = 0;
};

DependencyGraph::DependencyGraph(const Process& process, uint32_t main_track,
                                 const CallIndex& calls, ProcessOps* ops, KernelClasses* classes,
                                 HostActivity* host) {
  GraphMaker(process, main_track, calls, ops, classes, host, this).Make();
}

}  // namespace gpuprof::analysis
