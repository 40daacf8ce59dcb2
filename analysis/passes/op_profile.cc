// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `op_profile`: the time of devices as a tree of programs, categories and operations. See
// passes.h. Operations that XLA compiled once are one row.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes/device/device_window.h"
#include "analysis/passes/device/op_costs.h"
#include "analysis/passes/device/used_devices.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/op_profile.pb.h"

namespace gpuprof::analysis {
namespace {

// A row of the tree. Work of several models of device has a mean peak: weighted by its time.
struct OpNode {
  results::OpProfileLevel level = results::OP_PROFILE_LEVEL_NONE;
  std::string name, program, category;
  uint64_t operations = 0;
  WorkSums sums;
  // How long known bytes take at the peak of the memory, and the time that they took.
  double memory_ns = 0;
  int64_t moved_ns = 0;
  std::map<std::string, OpNode> parts;

  void Add(const OpCost& op, const DeviceModel& model) {
    sums.Join(op.sums);
    if (!model.gb_per_s || !op.sums.bytes.is_known()) return;
    memory_ns += static_cast<double>(op.sums.bytes.value) / *model.gb_per_s;
    moved_ns += op.sums.bytes.ns;
  }
};

OpNode& PartOf(OpNode* parent, const std::string& name, results::OpProfileLevel level) {
  const auto [at, is_new] = parent->parts.try_emplace(name);
  OpNode& node = at->second;
  if (!is_new) return node;
  node.level = level;
  node.name = name;
  node.program =
      parent->level == results::OP_PROFILE_LEVEL_PROGRAM ? parent->name : parent->program;
  if (parent->level == results::OP_PROFILE_LEVEL_CATEGORY) node.category = parent->name;
  return node;
}

// Fills the rows of a tree, each before its parts.
class TreeFiller {
 public:
  TreeFiller(const OpNode& root, results::OpProfile* out) : all_ns_(root.sums.total_ns), out_(out) {
    FillParts(root);
  }

 private:
  void FillParts(const OpNode& parent) {
    std::vector<const OpNode*> parts;
    for (const auto& part : parent.parts) parts.push_back(&part.second);
    std::stable_sort(parts.begin(), parts.end(), [](const OpNode* x, const OpNode* y) {
      return x->sums.total_ns > y->sums.total_ns;
    });
    for (const OpNode* part : parts) {
      results::OpProfileRow* const row = out_->add_rows();
      Fill(*part, row);
      if (parent.level != results::OP_PROFILE_LEVEL_NONE)
        row->set_parent_ratio(Ratio(part->sums.total_ns, parent.sums.total_ns));
      FillParts(*part);
    }
  }

  void Fill(const OpNode& node, results::OpProfileRow* row) const {
    const WorkSums& sums = node.sums;
    row->set_level(node.level);
    row->set_name(node.name);
    row->set_program(node.program);
    row->set_category(node.category);
    row->set_operation_count(node.operations);
    row->set_count(sums.count);
    row->set_total_ns(sums.total_ns);
    row->set_total_ratio(Ratio(sums.total_ns, all_ns_));
    row->set_flop_evidence(sums.flops.evidence());
    row->set_bytes_evidence(sums.bytes.evidence());
    row->set_flop_known_ratio(Ratio(sums.flops.ns, sums.total_ns));
    if (sums.flops.is_known()) row->set_flop_count(sums.flops.value);
    if (sums.bytes.is_known()) row->set_bytes(sums.bytes.value);
    const RoofPoint point = PointOf(sums, std::nullopt);
    if (point.flop_per_s) row->set_flop_per_s(*point.flop_per_s);
    if (point.peak_flop_ratio) row->set_peak_flop_ratio(*point.peak_flop_ratio);
    if (point.gb_per_s) row->set_gb_per_s(*point.gb_per_s);
    if (node.moved_ns > 0)
      row->set_peak_gb_ratio(Ratio(node.memory_ns, static_cast<double>(node.moved_ns)));
  }

  int64_t all_ns_;
  results::OpProfile* out_;
};

// Adds the idle time, and the shares of the devices' time.
void FillTreeWindow(PassContext& context, results::OpProfile* out) {
  if (HasMuchWork(context)) {
    out->mutable_meta()->add_notes(
        "GPU: idle time was left out, as there are more than 2 million pieces of work: 'gpuprof "
        "stats streams' has it, and needs more memory");
    return;
  }
  DeviceWindow all;
  const UsedDevices devices(context);
  for (const UsedDevice& device : devices.all()) {
    const DeviceWindow window = WindowOf(context, device);
    all.window_ns += window.window_ns;
    all.busy_ns += window.busy_ns;
  }
  if (devices.all().empty()) return;
  const int64_t idle_ns = all.window_ns - all.busy_ns;
  out->set_window_ns(all.window_ns);
  out->set_busy_ns(all.busy_ns);
  out->set_idle_ns(idle_ns);
  results::OpProfileRow* const idle = out->add_rows();
  idle->set_level(results::OP_PROFILE_LEVEL_IDLE);
  idle->set_name("idle");
  idle->set_total_ns(idle_ns);
  for (results::OpProfileRow& row : *out->mutable_rows())
    row.set_window_ratio(Ratio(row.total_ns(), all.window_ns));
}

}  // namespace

Error RunOpProfile(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::OpProfile>();
  const OpCosts& costs = OpCostsOf(context);
  const bool has_programs = std::any_of(costs.ops.begin(), costs.ops.end(),
                                        [](const OpCost& op) { return !op.program.empty(); });
  const std::string by = context.By(has_programs ? "program" : "category");
  OpNode root;
  for (const OpCost& op : costs.ops) {
    const DeviceModel& model = costs.models[op.model];
    OpNode* parent = &root;
    root.Add(op, model);
    const auto enter = [&](const std::string& name, results::OpProfileLevel level) {
      parent = &PartOf(parent, name, level);
      parent->Add(op, model);
      ++parent->operations;
    };
    if (by == "program")
      enter(op.program.empty() ? "(no program)" : op.program, results::OP_PROFILE_LEVEL_PROGRAM);
    enter(op.category, results::OP_PROFILE_LEVEL_CATEGORY);
    enter(op.shared_name.empty() ? op.name : op.shared_name, results::OP_PROFILE_LEVEL_OPERATION);
  }
  out->set_by(by);
  out->set_total_ns(root.sums.total_ns);
  TreeFiller(root, out.get());
  context.FillCountMeta("op_profile", out->mutable_meta());
  FillTreeWindow(context, out.get());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
