// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels and their launches in steps: short kernels, kernels that repeat, and whether each step
// launches the same. See fact_source.h.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/advice/facts/fact_source.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/symbols/short_names.h"

namespace gpuprof::analysis {
namespace {

// The longest sequence of kernels whose repetition is looked for.
constexpr size_t kLongestUnit = 4;

class LaunchFinder {
 public:
  LaunchFinder(FactSource& source) : source_(source) {}  // NOLINT(google-explicit-constructor)

  void Find(DeviceFacts* facts) {
    const auto main = static_cast<uint32_t>(MainStream(source_.process(), facts->series.device()));
    for (uint32_t n = 0; n < source_.nodes().size(); ++n) {
      const DependencyNode& node = source_.nodes()[n];
      if (node.kind != DependencyNode::Kind::kWork || !source_.Counts(node)) continue;
      facts->uses_graphs |= IsOfGraph(node);
      if (node.work != DeviceWorkKind::kKernel) continue;
      if (node.span.length() < source_.limits().Whole("LA-002.max_kernel")) AddTiny(n);
      if (node.track == main) {
        kernels_.push_back(n);
        names_.push_back(NameOf(n));
      }
      ++facts->kernel_count;
    }
    facts->tiny_kernels = Finish(&tiny_, tiny_nodes_);
    FindSame(facts);
    FindHeld(facts);
    if (!facts->uses_graphs) FindRepeats(facts);
  }

 private:
  // Repetitions of one unit.
  struct Run {
    Pieces pieces;
    uint32_t first = 0;
    uint64_t kernels = 0;
  };

  bool IsOfGraph(const DependencyNode& node) const {
    const Track& track = source_.process().tracks[node.track];
    return node.work == DeviceWorkKind::kGraph ||
           (node.work == DeviceWorkKind::kKernel && track.kernel.graph[node.row] != 0);
  }
  uint32_t SignatureOf(uint32_t n) const {
    const DependencyNode& node = source_.nodes()[n];
    return source_.process().tracks[node.track].kernel.signature[node.row];
  }

  // Kernels of one name do the same to arrays of different sizes.
  uint32_t NameOf(uint32_t n) {
    const uint32_t signature = SignatureOf(n);
    const auto [at, is_new] = name_of_signature_.try_emplace(signature, 0);
    if (!is_new) return at->second;
    const auto found = source_.process().signatures.find(signature);
    if (found != source_.process().signatures.end()) at->second = found->second.name();
    return at->second;
  }

  void AddTiny(uint32_t n) {
    const DependencyNode& node = source_.nodes()[n];
    tiny_nodes_.push_back(n);
    tiny_.Add(node.span.length(), 0, [&] { return source_.InstanceOf(node, ""); });
  }

  // Finds work that the legacy default stream and other streams keep from each other: it was
  // launched long before, and begins as soon as the work of the other ends.
  void FindHeld(DeviceFacts* facts) const {
    constexpr uint32_t kBlocking = 1, kLegacy = 3;  // CUpti_ActivityStreamFlag
    constexpr int64_t kAtOnceNs = 10'000;
    int64_t legacy_end = INT64_MIN, others_end = INT64_MIN;
    std::map<uint32_t, int64_t> ends;  // by track
    std::set<uint32_t> held;
    for (const DependencyNode& node : source_.nodes()) {
      if (node.kind != DependencyNode::Kind::kWork || !source_.Counts(node)) continue;
      const Track& track = source_.process().tracks[node.track];
      if (!track.is_described || (track.stream_flag != kBlocking && track.stream_flag != kLegacy))
        continue;
      const bool is_legacy = track.stream_flag == kLegacy;
      const int64_t other = is_legacy ? others_end : legacy_end;
      const auto [own, is_first] = ends.try_emplace(node.track, INT64_MIN);
      const std::optional<Call> call = source_.LaunchOf(node);
      const bool is_held = call && call->end_ns < other && own->second < other &&
                           node.span.start >= other && node.span.start - other <= kAtOnceNs;
      if (is_held) {
        facts->legacy_stream.Add(node.span.length(), 0, [&] {
          return source_.InstanceOf(node, node.work == DeviceWorkKind::kKernel
                                              ? ShortNameOf(node)
                                              : std::string("a copy"));
        });
        if (!is_legacy) held.insert(node.track);
      }
      own->second = std::max(own->second, node.span.end);
      int64_t& end = is_legacy ? legacy_end : others_end;
      end = std::max(end, node.span.end);
    }
    facts->held_streams = static_cast<uint32_t>(held.size());
  }

  std::string ShortNameOf(const DependencyNode& kernel) const {
    const std::string name = source_.KernelName(kernel);
    return ShortKernelNames({name}).at(name);
  }

  // Products and convolutions of one model follow each other because each needs the one before.
  bool IsProduct(uint32_t n) {
    const auto [at, is_new] = is_product_.try_emplace(NameOf(n), false);
    if (is_new) {
      const std::string name = ShortNameOf(source_.nodes()[n]);
      for (const char* piece : {"gemm", "conv", "bmm", "matmul", "attn", "flash"})
        at->second |= name.find(piece) != std::string::npos;
    }
    return at->second;
  }

  // Counts the steps whose kernels on the main stream are those of most steps, one by one.
  void FindSame(DeviceFacts* facts) {
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> by_hash;  // steps, kernels
    size_t at = 0;
    for (const Interval& step : source_.steps()) {
      uint64_t hash = 1469598103934665603u, kernels = 0;
      while (at < kernels_.size() && StartOf(kernels_[at]) < step.start) ++at;
      for (; at < kernels_.size() && StartOf(kernels_[at]) < step.end; ++at, ++kernels)
        hash = (hash ^ SignatureOf(kernels_[at])) * 1099511628211u;
      ++by_hash[hash].first;
      by_hash[hash].second = kernels;
    }
    for (const auto& [hash, found] : by_hash) {
      if (found.first <= facts->same_step_count) continue;
      facts->same_step_count = found.first;
      facts->same_kernel_count = found.second;
    }
  }

  int64_t StartOf(uint32_t n) const { return source_.nodes()[n].span.start; }

  // Finds kernels, or short sequences of kernels, that follow each other again and again.
  void FindRepeats(DeviceFacts* facts) {
    const auto least = static_cast<size_t>(source_.limits()("LA-003.min_repeats"));
    std::vector<uint32_t> nodes;
    std::map<std::pair<uint32_t, size_t>, Run> by_unit;  // by the unit's first kernel and length
    size_t step = 0;
    for (size_t i = 0; i < kernels_.size();) {
      // Repetitions end with their step.
      while (step < source_.steps().size() && source_.steps()[step].end <= StartOf(kernels_[i]))
        ++step;
      const int64_t step_end =
          step < source_.steps().size() ? source_.steps()[step].end : INT64_MAX;
      size_t best_unit = 0, best_length = 0;
      for (size_t unit = 1; unit <= kLongestUnit; ++unit) {
        size_t length = unit;
        while (i + length < kernels_.size() && names_[i + length] == names_[i + length - unit] &&
               StartOf(kernels_[i + length]) < step_end)
          ++length;
        length -= length % unit;
        if (length / unit >= least && length > best_length) {
          best_unit = unit;
          best_length = length;
        }
      }
      bool has_product = false;
      for (size_t k = 0; k < best_unit; ++k) has_product |= IsProduct(kernels_[i + k]);
      if (has_product) {
        i += best_length;
        continue;
      }
      if (best_unit == 0) {
        ++i;
        continue;
      }
      Run& run = by_unit[{names_[i], best_unit}];
      run.first = kernels_[i];
      run.kernels += best_length;
      const DependencyNode& first = source_.nodes()[kernels_[i]];
      const int64_t length =
          source_.nodes()[kernels_[i + best_length - 1]].span.end - first.span.start;
      run.pieces.Add(length, 0, [&] {
        Instance made = source_.InstanceOf(first, "");
        made.duration_ns = length;
        return made;
      });
      // The first unit has to be launched anyway.
      nodes.insert(nodes.end(), kernels_.begin() + static_cast<std::ptrdiff_t>(i + best_unit),
                   kernels_.begin() + static_cast<std::ptrdiff_t>(i + best_length));
      i += best_length;
    }
    const Run* most = nullptr;
    for (const auto& [unit, run] : by_unit) {
      if (most != nullptr && run.pieces.total_ns <= most->pieces.total_ns) continue;
      most = &run;
      facts->repeated_unit = unit.second;
    }
    if (most == nullptr || !source_.IsWorthAsking(most->pieces.total_ns)) return;
    facts->repeats = most->pieces;
    facts->repeated_kernel_count = most->kernels;
    facts->repeats.longest.name = ShortNameOf(source_.nodes()[most->first]);
    // What the launches cost: the calls, the host's time before each, and the way to the device.
    FreeNodes free = source_.graph().NoneFree();
    for (const uint32_t n : nodes) source_.graph().FreeLaunch(n, &free);
    facts->repeats.saved_per_step_ns = source_.graph().SavedPerStep(free);
  }

  Pieces Finish(Pieces* pieces, const std::vector<uint32_t>& nodes) const {
    if (!nodes.empty() && source_.IsWorthAsking(pieces->total_ns)) {
      FreeNodes free = source_.graph().NoneFree();
      for (const uint32_t n : nodes) free.own[n] = true;
      pieces->saved_per_step_ns = source_.graph().SavedPerStep(free);
    }
    return *pieces;
  }

  FactSource& source_;
  std::vector<uint32_t> kernels_;  // of the main stream, by begin
  std::vector<uint32_t> names_;    // of the same kernels
  std::unordered_map<uint32_t, uint32_t> name_of_signature_;
  std::map<uint32_t, bool> is_product_;  // by name
  Pieces tiny_;
  std::vector<uint32_t> tiny_nodes_;
};

}  // namespace

void FillLaunchFacts(FactSource& source, DeviceFacts* facts) { LaunchFinder(source).Find(facts); }

}  // namespace gpuprof::analysis
