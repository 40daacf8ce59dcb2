// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The kernels of the counted steps, by the way they were launched: how they fill the device, and
// how long they take now and then. See fact_source.h.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/advice/facts/fact_source.h"
#include "analysis/derived/origin.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/kernels/occupancy.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/short_names.h"

namespace gpuprof::analysis {
namespace {

std::string_view LimitWords(OccupancyResource limit) {
  switch (limit) {
    case OccupancyResource::kRegisters:
      return "registers";
    case OccupancyResource::kSharedMemory:
      return "shared memory";
    case OccupancyResource::kBlocks:
      return "blocks";
    case OccupancyResource::kWarps:
      break;
  }
  return "warps";
}

bool HasAny(std::string_view text, std::initializer_list<std::string_view> pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [&](std::string_view piece) {
    return text.find(piece) != std::string_view::npos;
  });
}

struct Names {
  std::string full, brief;
  bool is_product = false, is_attention = false, is_layout = false, is_softmax = false;
};

Names NamesOf(std::string full) {
  Names names;
  names.brief = ShortKernelNames({full}).at(full);
  const std::string_view brief = names.brief;
  names.is_attention = HasAny(full, {"flash", "fmha", "attention", "attn", "sdpa"});
  // The short name has no types of arguments, which name libraries too.
  names.is_product = HasAny(brief, {"gemm", "conv", "bmm", "matmul", "nvjet", "gemv"});
  names.is_softmax = HasAny(full, {"softmax", "SoftMax", "Softmax"}) &&
                     !HasAny(full, {"log_softmax", "LogSoftMax", "LogSoftmax"});
  names.is_layout = !names.is_product && !names.is_attention &&
                    HasAny(full, {"direct_copy", "bfloat16_copy", "float16_copy", "float8_copy",
                                  "nchwToNhwc", "nhwcToNchw", "transpose", "Transpose", "permute",
                                  "_to_copy", "CastKernel", "_cast_", "convert_element_type"});
  names.full = std::move(full);
  return names;
}

uint64_t BlocksOf(const proto::Signature& signature) {
  uint64_t blocks = signature.grid().empty() ? 0 : 1;
  for (const uint32_t size : signature.grid()) blocks *= size;
  return blocks;
}

// All launches of one signature.
struct Launches {
  std::vector<uint32_t> nodes;  // by begin
  int64_t total_ns = 0;
};

// A group that is being filled.
struct Building {
  KernelGroup group;
  std::vector<uint32_t> nodes;
  double remains_ns = 0;
  int64_t largest_ns = 0;
};

class KernelFinder {
 public:
  explicit KernelFinder(FactSource& source) : source_(source) {}

  void Find(DeviceFacts* facts) {
    KernelFacts& out = facts->in_steps;
    const proto::Device* device = source_.process().FindDevice(facts->series.device());
    if (device != nullptr) out.multiprocessors = device->multiprocessors();
    Collect(&out);
    for (const auto& [signature, launches] : by_signature_) {
      FindShape(device, signature, launches);
      FindDrift(launches);
      FindSlowed(launches);
      if (NamesOfSignature(signature).is_layout)
        AddAll(launches, 1 - source_.limits()("GP-015.gain"), 0, &layout_);
      // What only changes elements is fused rather than narrowed.
      const results::TimeCategory type = source_.nodes()[launches.nodes.front()].category;
      const bool is_wide = type == results::TIME_CATEGORY_COMPUTE_FP32 ||
                           type == results::TIME_CATEGORY_COMPUTE_TF32;
      if (is_wide && NamesOfSignature(signature).is_product)
        AddAll(launches, 1 - source_.limits()("GP-007.gain"), 0, &wide_types_);
    }
    FindAttention(static_cast<uint32_t>(MainStream(source_.process(), facts->series.device())),
                  &out);
    out.low_occupancy = Finish(&low_occupancy_);
    out.few_blocks = Finish(&few_blocks_);
    out.tails = Finish(&tails_);
    out.wide_types = Finish(&wide_types_);
    out.drifting = Finish(&drifting_);
    out.layout = Finish(&layout_);
    out.attention = Finish(&attention_);
    out.slowed = Finish(&slowed_);
  }

 private:
  uint32_t SignatureOf(uint32_t n) const {
    const DependencyNode& node = source_.nodes()[n];
    return source_.process().tracks[node.track].kernel.signature[node.row];
  }
  const proto::Signature* Find(uint32_t signature) const {
    const auto found = source_.process().signatures.find(signature);
    return found == source_.process().signatures.end() ? nullptr : &found->second;
  }
  const Names& NamesOfSignature(uint32_t signature) {
    const auto [at, is_new] = names_.try_emplace(signature);
    if (is_new) at->second = NamesOf(source_.KernelName(FirstOf(signature)));
    return at->second;
  }
  const DependencyNode& FirstOf(uint32_t signature) const {
    return source_.nodes()[by_signature_.at(signature).nodes.front()];
  }

  void Collect(KernelFacts* out) {
    std::vector<Interval> collectives;
    std::vector<uint32_t> collective_nodes;
    for (uint32_t n = 0; n < source_.nodes().size(); ++n) {
      const DependencyNode& node = source_.nodes()[n];
      const bool is_kernel = node.kind == DependencyNode::Kind::kWork &&
                             node.work == DeviceWorkKind::kKernel && source_.Counts(node);
      if (!is_kernel) continue;
      if (node.category == results::TIME_CATEGORY_COLLECTIVE) {
        collectives.push_back(node.span);
        collective_nodes.push_back(n);
        continue;
      }
      Launches& launches = by_signature_[SignatureOf(n)];
      launches.nodes.push_back(n);
      launches.total_ns += node.span.length();
      out->total_ns += node.span.length();
    }
    collectives_ = UnionOf(std::move(collectives));
    out->longest_collective = source_.LongestOf(collective_nodes, "");
    std::map<std::string, std::vector<uint32_t>> by_name;
    for (const auto& [signature, launches] : by_signature_) {
      std::vector<uint32_t>& nodes = by_name[NamesOfSignature(signature).full];
      nodes.insert(nodes.end(), launches.nodes.begin(), launches.nodes.end());
    }
    for (const auto& [name, nodes] : by_name)
      out->longest_launches[name] = source_.LongestOf(nodes, name);
  }

  void Add(uint32_t n, double remains, Building* group) {
    const DependencyNode& node = source_.nodes()[n];
    group->nodes.push_back(n);
    group->remains_ns += remains * static_cast<double>(node.span.length());
    group->group.pieces.Add(node.span.length(), 0, [&] { return source_.InstanceOf(node, ""); });
  }
  // Adds launches of one signature. The one with most time names the group.
  void AddNodes(const std::vector<uint32_t>& nodes, double remains, double figure,
                Building* group) {
    int64_t total = 0;
    for (const uint32_t n : nodes) {
      Add(n, remains, group);
      total += source_.nodes()[n].span.length();
    }
    if (nodes.empty() || total <= group->largest_ns) return;
    group->largest_ns = total;
    group->group.largest = NamesOfSignature(SignatureOf(nodes.front())).brief;
    group->group.largest_launch = source_.LongestOf(nodes, group->group.largest);
    group->group.figure = figure;
  }
  void AddAll(const Launches& launches, double remains, double figure, Building* group) {
    AddNodes(launches.nodes, remains, figure, group);
  }

  // How the grid and the blocks fill the device. A short kernel gains nothing: its launch and its
  // first blocks are its time.
  void FindShape(const proto::Device* device, uint32_t id, const Launches& launches) {
    const proto::Signature* signature = Find(id);
    const auto count = static_cast<int64_t>(launches.nodes.size());
    if (device == nullptr || device->multiprocessors() == 0 || signature == nullptr ||
        launches.total_ns / count < source_.limits().Whole("LA-002.max_kernel"))
      return;
    const uint64_t blocks = BlocksOf(*signature);
    const double fill = Ratio(blocks, uint64_t{device->multiprocessors()});
    if (blocks != 0 && fill < source_.limits()("GP-004.max_fill")) {
      // With the same work beside it, the device would do more in the same time.
      const int64_t before = few_blocks_.largest_ns;
      AddAll(launches, fill, fill, &few_blocks_);
      if (few_blocks_.largest_ns != before) few_blocks_.group.blocks = blocks;
      return;
    }
    const std::optional<Occupancy> occupancy = OccupancyOf(*device, *signature);
    if (!occupancy) return;
    FindTail(*occupancy, launches);
    const Names& names = NamesOfSignature(id);
    // Products keep few large blocks by design: they hide latency within the block.
    if (names.is_product || names.is_attention || occupancy->limit == OccupancyResource::kWarps)
      return;
    if (occupancy->ratio >= source_.limits()("GP-003.max_occupancy") || occupancy->waves < 1)
      return;
    const int64_t before = low_occupancy_.largest_ns;
    AddAll(launches, 1 - source_.limits()("GP-003.gain"), occupancy->ratio, &low_occupancy_);
    if (low_occupancy_.largest_ns != before)
      low_occupancy_.group.limit = std::string(LimitWords(occupancy->limit));
  }

  // The last wave of blocks is nearly empty.
  void FindTail(const Occupancy& occupancy, const Launches& launches) {
    const double whole = std::floor(occupancy.waves), rest = occupancy.waves - whole;
    if (whole < 1 || whole > source_.limits()("GP-005.max_waves") || rest <= 0 ||
        rest > source_.limits()("GP-005.max_rest"))
      return;
    const int64_t before = tails_.largest_ns;
    AddAll(launches, occupancy.waves / (whole + 1), occupancy.waves / (whole + 1), &tails_);
    if (tails_.largest_ns != before) tails_.group.waves = occupancy.waves;
  }

  int64_t Mean(const std::vector<uint32_t>& nodes) const {
    int64_t sum = 0;
    for (const uint32_t n : nodes) sum += source_.nodes()[n].span.length();
    return nodes.empty() ? 0 : sum / static_cast<int64_t>(nodes.size());
  }
  int64_t Median(const std::vector<uint32_t>& nodes) const {
    std::vector<int64_t> lengths;
    for (const uint32_t n : nodes) lengths.push_back(source_.nodes()[n].span.length());
    return Samples(std::move(lengths)).median();
  }

  // The same launch takes longer in the second half of the steps.
  void FindDrift(const Launches& launches) {
    if (source_.steps().empty()) return;
    const int64_t middle = source_.steps()[source_.steps().size() / 2].start;
    std::vector<uint32_t> first, second;
    for (const uint32_t n : launches.nodes)
      (source_.nodes()[n].span.start < middle ? first : second).push_back(n);
    const auto least = static_cast<size_t>(source_.limits()("GP-014.min_launches"));
    if (first.size() < least || second.size() < least) return;
    const double ratio = Ratio(Mean(second), Mean(first));
    // One long launch is not a drift: the median has to follow.
    if (ratio < source_.limits()("GP-014.min_ratio") ||
        Ratio(Median(second), Median(first)) < source_.limits()("GP-014.min_ratio"))
      return;
    AddAll(launches, Ratio(Mean(first), Mean(launches.nodes)), ratio, &drifting_);
  }

  // Compares launches next to a collective with launches of the same kernel without one.
  void FindSlowed(const Launches& launches) {
    if (collectives_.empty()) return;
    std::vector<uint32_t> beside, alone;
    for (const uint32_t n : launches.nodes) {
      const Interval& span = source_.nodes()[n].span;
      const int64_t shared = Shared(span);
      if (shared == 0) alone.push_back(n);
      if (shared * 2 >= span.length() && shared != 0) beside.push_back(n);
    }
    const auto least = static_cast<size_t>(source_.limits()("CO-006.min_launches"));
    if (beside.size() < least || alone.size() < least) return;
    const double ratio = Ratio(Median(beside), Median(alone));
    if (ratio < source_.limits()("CO-006.min_ratio")) return;
    AddNodes(beside, 1 / ratio, ratio, &slowed_);
  }
  int64_t Shared(const Interval& span) const {
    int64_t shared = 0;
    auto at = std::lower_bound(collectives_.begin(), collectives_.end(), span.start,
                               [](const Interval& each, int64_t time) { return each.end <= time; });
    for (; at != collectives_.end() && at->start < span.end; ++at)
      shared += std::min(at->end, span.end) - std::max(at->start, span.start);
    return shared;
  }

  // An attention without a fused kernel is a batched product, a softmax and a batched product.
  void FindAttention(uint32_t main, KernelFacts* out) {
    constexpr size_t kFar = 6;  // kernels: scale, mask, casts, dropout
    std::vector<uint32_t> kernels;
    for (const auto& [signature, launches] : by_signature_) {
      if (NamesOfSignature(signature).is_attention) return;  // some of it is fused already
      for (const uint32_t n : launches.nodes)
        if (source_.nodes()[n].track == main) kernels.push_back(n);
    }
    std::sort(kernels.begin(), kernels.end());
    std::map<uint32_t, std::vector<uint32_t>> between;  // by signature
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (!NamesOfSignature(SignatureOf(kernels[i])).is_softmax) continue;
      size_t from = i, to = i;
      while (from > 0 && i - from < kFar && !IsProduct(kernels[from])) --from;
      while (to + 1 < kernels.size() && to - i < kFar && !IsProduct(kernels[to])) ++to;
      if (!IsBatched(kernels[from]) || !IsBatched(kernels[to])) continue;
      ++out->attention_count;
      for (size_t k = from + 1; k < to; ++k) between[SignatureOf(kernels[k])].push_back(kernels[k]);
    }
    for (const auto& [signature, nodes] : between) AddNodes(nodes, 0, 0, &attention_);
  }
  bool IsProduct(uint32_t n) { return NamesOfSignature(SignatureOf(n)).is_product; }
  bool IsBatched(uint32_t n) {
    if (!IsProduct(n)) return false;
    Origin& origin = source_.context().origin(source_.index());
    const DependencyNode& node = source_.nodes()[n];
    const KernelTable& table = source_.process().tracks[node.track].kernel;
    if (const auto op = origin.Find(table.correlation[node.row], ExternalOf(table, node.row))) {
      const std::string name =
          source_.process().String(source_.process().tracks[op->track].op.name[op->row]);
      if (name.starts_with("aten::")) return HasAny(name, {"bmm", "einsum"});
      if (HasAny(name, {"BatchMatMul", "einsum", "dot_general"})) return true;
    }
    const proto::Signature* signature = Find(SignatureOf(n));
    return signature != nullptr && signature->grid_size() == 3 && signature->grid(2) > 1;
  }

  KernelGroup Finish(Building* made) const {
    if (!made->nodes.empty() && source_.IsWorthAsking(made->group.pieces.total_ns)) {
      FreeNodes free = source_.graph().NoneFree();
      for (const uint32_t n : made->nodes) free.own[n] = true;
      free.remains = made->remains_ns / static_cast<double>(made->group.pieces.total_ns);
      made->group.pieces.saved_per_step_ns = source_.graph().SavedPerStep(free);
    }
    return std::move(made->group);
  }

  FactSource& source_;
  std::map<uint32_t, Launches> by_signature_;
  std::unordered_map<uint32_t, Names> names_;  // by signature
  std::vector<Interval> collectives_;          // sorted and disjoint
  Building low_occupancy_, few_blocks_, tails_, wide_types_, drifting_, layout_, attention_,
      slowed_;
};

}  // namespace

void FillKernelFacts(FactSource& source, DeviceFacts* facts) { KernelFinder(source).Find(facts); }

}  // namespace gpuprof::analysis
