// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_sums.h.

#include "analysis/passes/device/step_sums.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/derived/call_steps.h"
#include "analysis/model/input_shapes.h"
#include "analysis/passes/kernels/kernel_pieces.h"
#include "analysis/symbols/mangled_names.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

// FNV-1a. Baselines keep it: it must not change.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

std::string ShapeOf(const proto::Signature& signature) {
  std::string text;
  for (const auto* dimensions : {&signature.grid(), &signature.block()}) {
    for (const uint32_t extent : *dimensions) text += std::to_string(extent) + ",";
    text += ";";
  }
  return text + std::to_string(signature.dynamic_shared_bytes());
}

// What the sums of one signature, or of one name and shape, become.
struct Sums {
  uint64_t count = 0;
  int64_t total_ns = 0;
  std::vector<int64_t> step_ns;
};

// A range that is a step has the step's number in its name: "step 12", "ProfilerStep#12".
std::string WithoutNumber(std::string name) {
  const size_t end = name.find_last_not_of("0123456789");
  if (end == std::string::npos || end + 1 == name.size()) return name;
  name.resize(name.find_last_not_of(" #:_-", end) + 1);
  return name;
}

class Summer {
 public:
  Summer(PassContext& context, std::span<const Interval> steps)
      : context_(context), steps_(steps), sample_of_(SampledSteps(steps.size())) {
    for (const int sample : sample_of_) samples_ += sample >= 0 ? 1 : 0;
  }

  StepSums Run() {
    for (const size_t index : context_.selected()) {
      AddKernels(index);
      AddOps(index);
    }
    return std::move(result_);
  }

 private:
  void Add(uint32_t step, uint64_t count, int64_t ns, Sums* sums) {
    sums->count += count;
    sums->total_ns += ns;
    if (steps_.empty() || sample_of_[step] < 0) return;
    if (sums->step_ns.empty()) sums->step_ns.resize(samples_);
    sums->step_ns[static_cast<size_t>(sample_of_[step])] += ns;
  }

  // `shape`: 0 if it is not known.
  void Join(const Sums& from, uint64_t shape, NameSums* to) {
    to->count += from.count;
    to->total_ns += from.total_ns;
    if (shape != 0) to->shapes[shape] += from.count;
    if (from.step_ns.empty()) return;
    to->step_ns.resize(samples_);
    for (size_t i = 0; i < samples_; ++i) to->step_ns[i] += from.step_ns[i];
  }

  void AddKernels(size_t index) {
    const Process& process = context_.process(index);
    const bool has_kernels =
        std::any_of(process.tracks.begin(), process.tracks.end(),
                    [](const Track& track) { return track.kernel.rows() != 0; });
    if (!has_kernels) return;
    SignaturePlaces places;
    std::vector<std::pair<uint32_t, Sums>> sums;  // by place: the signature, and what it took
    const CallSteps calls(process, context_.calls(index), steps_);
    for (const Track& track : process.tracks) AddTrack(track, calls, &places, &sums);
    for (const auto& [id, each] : sums) {
      if (each.count == 0) continue;
      const auto signature = process.signatures.find(id);
      const bool is_known = signature != process.signatures.end();
      const std::string name = process.String(is_known ? signature->second.name() : 0);
      Join(each, is_known ? HashOf(ShapeOf(signature->second)) : 0,
           &result_.kernels[Demangle(name.c_str())]);
    }
  }

  void AddTrack(const Track& track, const CallSteps& calls, SignaturePlaces* places,
                std::vector<std::pair<uint32_t, Sums>>* sums) {
    const KernelTable& table = track.kernel;
    StepFinder finder(steps_);
    KernelRows rows;
    int64_t ends[KernelRows::kMost];
    for (size_t first = 0; first < table.rows(); first += rows.count) {
      rows.Load(table, first, table.rows(), true);
      table.end_ns.Copy(first, rows.count, ends);
      for (size_t i = 0; i < rows.count; ++i) {
        uint32_t step = 0;
        if (!steps_.empty()) {
          const auto launch = calls.Find(rows.correlation[i]);
          step = launch ? *launch : finder.StepAt(ends[i] - rows.duration_ns[i]);
          if (step == kNoStep) continue;
        }
        uint32_t place = places->Find(rows.signature[i]);
        if (place == SignaturePlaces::kNone) {
          place = static_cast<uint32_t>(places->size());
          places->Add(rows.signature[i]);
          sums->emplace_back(rows.signature[i], Sums());
        }
        Add(step, rows.weight[i], rows.duration_ns[i] * rows.weight[i], &(*sums)[place].second);
      }
    }
  }

  void AddOps(size_t index) {
    const Process& process = context_.process(index);
    std::unordered_map<uint64_t, Sums> sums;  // by the ids of name and detail
    std::unordered_set<uint32_t> marks;       // names of ranges that are steps
    for (size_t t = 0; t < process.tracks.size(); ++t) {
      const OpTable& table = process.tracks[t].op;
      if (table.rows() == 0) continue;
      const OpTree& tree = context_.ops(index).tree(t);
      StepFinder finder(steps_);
      const bool has_details = !table.detail.empty();
      const Column<uint32_t>::Reader names(table.name), details(table.detail);
      for (size_t row = 0; row < table.rows(); ++row) {
        const uint32_t step = steps_.empty() ? 0 : finder.StepAt(tree.start(row));
        if (step == kNoStep) continue;
        const uint64_t detail = has_details ? details[row] : 0;
        Add(step, 1, tree.self_ns(row), &sums[detail << 32 | names[row]]);
        if (!steps_.empty() && steps_[step] == Interval{tree.start(row), tree.end(row)})
          marks.insert(names[row]);
      }
    }
    // The order of an unordered map must not matter: sums are whole numbers.
    std::unordered_map<uint32_t, uint64_t> shape_of_detail;
    for (const auto& [key, each] : sums) {
      const auto detail = static_cast<uint32_t>(key >> 32);
      const auto [shape, is_new] = shape_of_detail.try_emplace(detail, 0);
      if (is_new && detail != 0) {
        const std::string shapes = InputShapes(process.String(detail));
        shape->second = shapes.empty() ? 0 : HashOf(shapes);
      }
      const auto id = static_cast<uint32_t>(key);
      const std::string name = process.String(id);
      Join(each, shape->second, &result_.ops[marks.count(id) != 0 ? WithoutNumber(name) : name]);
    }
  }

  PassContext& context_;
  std::span<const Interval> steps_;
  std::vector<int> sample_of_;
  size_t samples_ = 0;
  StepSums result_;
};

}  // namespace

std::vector<int> SampledSteps(size_t steps) {
  std::vector<int> samples(steps, -1);
  const size_t count = std::min(steps, kSampledSteps);
  for (size_t i = 0; i < count; ++i) samples[i * steps / count] = static_cast<int>(i);
  return samples;
}

StepSums SumSteps(PassContext& context, std::span<const Interval> steps) {
  return Summer(context, steps).Run();
}

}  // namespace gpuprof::analysis
