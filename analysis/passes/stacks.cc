// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `stacks`: call stacks folded by name, outermost frame first, with what each weighs. See
// passes.h; the weights are in stack_weights.h.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/passes/folded_name.h"
#include "analysis/passes/follow_heap.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/sampled_activity.h"
#include "analysis/passes/stack_weights.h"
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

bool IsOfCuda(const Process& process, uint64_t pc) {
  for (const proto::Module& module : process.modules) {
    if (pc < module.start() || pc >= module.end()) continue;
    const std::string name = module.path().substr(module.path().rfind('/') + 1);
    for (const std::string_view library : {"libcupti.so", "libcuda.so", "libcudart.so"}) {
      if (name.compare(0, library.size(), library) == 0) return true;
    }
    return false;
  }
  return false;
}

// Innermost first, as far as they are CUDA's.
void DropCudaFrames(const Process& process, std::vector<uint64_t>* pcs) {
  const auto own = std::find_if(pcs->begin(), pcs->end(),
                                [&](uint64_t pc) { return !IsOfCuda(process, pc - 1); });
  pcs->erase(pcs->begin(), own);
}

// Lines of all processes. Names are numbers until the end: a line is compared often.
class Folder {
 public:
  explicit Folder(PassContext& context) : context_(context) {}

  void AddProcess(size_t index, const std::string& root, const StackWeights& weights) {
    by_pc_.clear();
    const Process& process = context_.process(index);
    for (const auto& [key, weight] : weights.by_stack) {
      if (weight == 0) continue;
      Line line{{IdOf(root)}, process.pid, weight};
      std::vector<uint64_t> pcs = context_.StackPcs(index, key.first);
      const bool is_truncated = process.stack_depth > 0 && pcs.size() >= process.stack_depth;
      if (weights.without_cuda) DropCudaFrames(process, &pcs);
      if (pcs.empty()) line.frames.push_back(IdOf(kNoStack));
      if (is_truncated) {
        line.frames.push_back(IdOf(kTruncated));
        truncated_ += weight;
      }
      for (auto pc = pcs.rbegin(); pc != pcs.rend(); ++pc) {
        line.frames.push_back(NameOf(index, *pc));
      }
      if (!key.second.empty()) line.frames.push_back(IdOf(key.second));
      lines_.push_back(std::move(line));
    }
  }

  // Equal lines become one; by name.
  void Finish(results::Stacks* out) {
    out->set_truncated(truncated_);
    RankNames();
    std::sort(lines_.begin(), lines_.end(),
              [](const Line& a, const Line& b) { return a.frames < b.frames; });
    const std::vector<uint32_t>* before = nullptr;
    for (const Line& line : lines_) {
      if (before == nullptr || *before != line.frames) {
        results::FoldedStack* row = out->add_stacks();
        row->set_pid(line.pid);
        for (const uint32_t name : line.frames) row->add_frames(names_[name]);
      }
      before = &line.frames;
      results::FoldedStack* row = out->mutable_stacks(out->stacks_size() - 1);
      row->set_value(row->value() + line.weight);
    }
  }

 private:
  struct Line {
    std::vector<uint32_t> frames;  // outermost first
    int32_t pid;
    uint64_t weight;
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
      at->second = IdOf(frame.name());
    }
    return at->second;
  }

  // Numbers the names in their own order, so that lines are ordered by numbers as by names.
  void RankNames() {
    std::vector<uint32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [this](uint32_t a, uint32_t b) { return names_[a] < names_[b]; });
    std::vector<uint32_t> rank(names_.size());
    std::vector<std::string> sorted(names_.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      sorted[i] = std::move(names_[order[i]]);
    }
    names_ = std::move(sorted);
    for (Line& line : lines_) {
      for (uint32_t& name : line.frames) name = rank[name];
    }
  }

  PassContext& context_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::unordered_map<uint64_t, uint32_t> by_pc_;  // of the process at hand
  std::vector<Line> lines_;
  uint64_t truncated_ = 0;
};

// Where the heap was recorded, what allocates; else what is waited for.
std::string_view DefaultKey(PassContext& context) {
  for (const size_t index : context.selected()) {
    for (const Track& track : context.process(index).tracks) {
      if (track.heap.rows() > 0) return "heap_alloc";
    }
  }
  return "wait";
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
