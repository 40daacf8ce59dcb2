// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `stacks`: call stacks folded by name, outermost frame first, with what each weighs. See
// passes.h; the weights are in stack_weights.h.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/code_frame.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/host/folded_name.h"
#include "analysis/passes/host/stack_weights.h"
#include "analysis/passes/memory/follow_heap.h"
#include "analysis/passes/passes.h"
#include "proto/results/meta.pb.h"
#include "proto/results/stacks.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kNoStack = "[no stack]";
constexpr std::string_view kTruncated = "[truncated]";

// The name of each selected process; those of one name carry their pid, and their host where that
// differs too.
std::vector<std::string> RootNames(PassContext& context) {
  using Place = std::pair<std::string, int32_t>;  // host, pid
  std::map<std::string, std::set<Place>> places;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    places[ProcessName(process)].insert({process.host, process.pid});
  }
  std::vector<std::string> names;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    std::string name = ProcessName(process);
    const std::set<Place>& all = places[name];
    if (all.size() > 1) {
      const bool same_host = all.begin()->first == all.rbegin()->first;
      name +=
          " (" + (same_host ? "" : process.host + " ") + "pid " + std::to_string(process.pid) + ")";
    }
    names.push_back(std::move(name));
  }
  return names;
}

// Stacks of all processes as one tree of names, each with what its stacks weigh. Names are numbers
// until the end.
class Folder {
 public:
  explicit Folder(PassContext& context) : context_(context), nodes_(1) {}

  void AddProcess(size_t index, const std::string& root, const StackWeights& weights) {
    by_pc_.clear();
    by_function_ = weights.by_function;
    const Process& process = context_.process(index);
    for (const auto& [key, weight] : weights.by_stack) {
      if (weight == 0) continue;
      std::vector<uint64_t> pcs = context_.StackPcs(index, key.stack);
      const bool is_truncated = process.stack_depth > 0 && pcs.size() >= process.stack_depth;
      if (weights.without_cuda) DropCudaFrames(process, &pcs);
      uint32_t node = Callee(0, IdOf(root));
      if (pcs.empty()) node = Callee(node, IdOf(kNoStack));
      if (is_truncated) {
        node = Callee(node, IdOf(kTruncated));
        truncated_ += weight;
      }
      for (auto pc = pcs.rbegin(); pc != pcs.rend(); ++pc) node = Callee(node, NameOf(index, *pc));
      if (!key.kind.empty()) node = Callee(node, IdOf(key.kind));
      if (nodes_[node].weight == 0) nodes_[node].pid = process.pid;
      nodes_[node].weight += weight;
    }
  }

  // In the order of the names, a stack before the stacks that it is the beginning of.
  void Finish(results::Stacks* out) {
    out->set_truncated(truncated_);
    callees_ = {};
    const std::vector<uint32_t> order = OrderByCaller();
    results::CallStacks* stacks = out->mutable_call_stacks();
    for (const std::string& name : names_) stacks->add_frames()->set_name(name);
    stacks->add_frame(0);
    stacks->add_caller(0);
    // What is still to be written, last first: place in `order`, and the number of the caller.
    std::vector<std::pair<uint32_t, uint32_t>> open;
    const auto add_callees = [&](uint32_t node, uint32_t number) {
      const auto first = std::lower_bound(
          order.begin(), order.end(), node,
          [&](uint32_t each, uint32_t caller) { return nodes_[each].caller < caller; });
      const auto behind = std::upper_bound(
          first, order.end(), node,
          [&](uint32_t caller, uint32_t each) { return caller < nodes_[each].caller; });
      for (auto at = behind; at != first;) open.emplace_back(*--at, number);
    };
    add_callees(0, 0);
    while (!open.empty()) {
      const auto [at, caller] = open.back();
      open.pop_back();
      const auto number = static_cast<uint32_t>(stacks->frame_size());
      stacks->add_frame(nodes_[at].name);
      stacks->add_caller(caller);
      if (nodes_[at].weight != 0) {
        results::FoldedStack* row = out->add_stacks();
        row->set_pid(nodes_[at].pid);
        row->set_value(nodes_[at].weight);
        row->set_call_stack(number);
      }
      add_callees(at, number);
    }
  }

 private:
  struct Node {
    uint32_t caller = 0;
    uint32_t name = 0;
    int32_t pid = 0;
    uint64_t weight = 0;
  };

  uint32_t IdOf(std::string_view name) {
    const auto [at, added] =
        ids_.try_emplace(FoldedName(name), static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(at->first);
    return at->second;
  }

  uint32_t NameOf(size_t index, uint64_t pc) {
    const auto [at, added] = by_pc_.try_emplace(pc, 0);
    if (added) {
      results::Frame frame;
      context_.Resolve(index, pc, PcKind::kReturnAddress, &frame);
      const bool is_function = by_function_ && IsNamedFrame(pc);
      at->second = IdOf(is_function ? FunctionText(ReadFrameName(frame.name())) : frame.name());
    }
    return at->second;
  }

  uint32_t Callee(uint32_t caller, uint32_t name) {
    const auto [at, added] = callees_.try_emplace(uint64_t{caller} << 32 | name, 0);
    if (added) {
      at->second = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({caller, name});
    }
    return at->second;
  }

  // Returns all nodes but the first, those of one caller together, in the order of their names.
  // Names get numbers in their own order.
  std::vector<uint32_t> OrderByCaller() {
    std::vector<uint32_t> by_name(names_.size());
    std::iota(by_name.begin(), by_name.end(), 0);
    std::sort(by_name.begin(), by_name.end(),
              [this](uint32_t a, uint32_t b) { return names_[a] < names_[b]; });
    std::vector<uint32_t> rank(names_.size());
    std::vector<std::string> sorted(names_.size());
    for (uint32_t i = 0; i < by_name.size(); ++i) {
      rank[by_name[i]] = i;
      sorted[i] = std::move(names_[by_name[i]]);
    }
    names_ = std::move(sorted);
    for (size_t i = 1; i < nodes_.size(); ++i) nodes_[i].name = rank[nodes_[i].name];
    std::vector<uint32_t> order(nodes_.size() - 1);
    std::iota(order.begin(), order.end(), 1);
    std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return std::tie(nodes_[a].caller, nodes_[a].name) <
             std::tie(nodes_[b].caller, nodes_[b].name);
    });
    return order;
  }

  PassContext& context_;
  bool by_function_ = false;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::unordered_map<uint64_t, uint32_t> by_pc_;    // of the process at hand
  std::unordered_map<uint64_t, uint32_t> callees_;  // caller and name to node
  std::vector<Node> nodes_;                         // the first one calls the processes
  uint64_t truncated_ = 0;
};

// Where the heap was recorded, what allocates; else what ran; else what is waited for.
std::string_view DefaultKey(PassContext& context) {
  bool has_samples = false;
  for (const size_t index : context.selected()) {
    for (const Track& track : context.process(index).tracks) {
      if (track.heap.rows() > 0) return "heap_alloc";
      has_samples = has_samples || track.sample.rows() > 0;
    }
  }
  return has_samples ? "cpu" : "wait";
}

const StackWeight& FindWeight(std::string_view name) {
  for (const StackWeight& weight : StackWeightTable()) {
    if (weight.name == name) return weight;
  }
  return StackWeightTable().front();
}

void AddTo(Estimate* sum, const Estimate& part) {
  sum->sum += part.sum;
  sum->variance += part.variance;
  sum->seen += part.seen;
  sum->heaviest = std::max(sum->heaviest, part.heaviest);
}

}  // namespace

std::vector<std::string_view> StackWeightKeys() {
  std::vector<std::string_view> keys;
  for (const StackWeight& weight : StackWeightTable()) keys.push_back(weight.name);
  return keys;
}

Error RunStacks(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Stacks>();
  const std::string& by = context.options().by;
  const StackWeight& weight = FindWeight(by.empty() ? DefaultKey(context) : by);
  out->set_by(std::string(weight.name));
  out->set_by_default(by.empty());
  out->set_unit(std::string(weight.unit));
  out->set_meaning(std::string(weight.meaning));

  const std::vector<std::string> roots = RootNames(context);
  Folder folder(context);
  Estimate estimate;
  uint64_t samples = 0;
  for (size_t i = 0; i < roots.size(); ++i) {
    const size_t index = context.selected()[i];
    const StackWeights weights = weight.collect(context, index);
    folder.AddProcess(index, roots[i], weights);
    out->set_total(out->total() + weights.total);
    AddTo(&estimate, weights.estimate);
    if (!weights.estimated) continue;
    samples += weights.samples;
    out->set_estimated(true);
  }
  folder.Finish(out.get());
  out->set_total_low(out->estimated() ? std::min(estimate.low(), out->total()) : out->total());
  out->set_total_high(out->estimated() ? std::max(estimate.high(), out->total()) : out->total());

  context.FillCountMeta("stacks", out->mutable_meta());
  if (out->by() == "kernel") {
    AddSampledNote(context, "", out->mutable_meta());
    AddLaunchesNote(context, out->mutable_meta());
  }
  if (out->estimated()) LimitToSamples(samples, out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
