// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_modules.h.

#include "analysis/passes/kernels/op_modules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/backward_links.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/derived/module_paths.h"
#include "analysis/derived/origin.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

struct Sums {
  uint64_t count = 0;
  int64_t sum_ns = 0, min_ns = 0, max_ns = 0;  // of the spans
  int64_t total_ns = 0, self_ns = 0;
  int64_t device_ns = 0, device_self_ns = 0, device_backward_ns = 0;
  uint64_t device_count = 0;
  FamilyTimes families;
  std::vector<int64_t> durations;

  void AddSpan(int64_t duration_ns) {
    min_ns = count == 0 ? duration_ns : std::min(min_ns, duration_ns);
    max_ns = count == 0 ? duration_ns : std::max(max_ns, duration_ns);
    sum_ns += duration_ns;
    ++count;
    durations.push_back(duration_ns);
  }
  void Join(const Sums& other) {
    min_ns = count == 0 ? other.min_ns : other.count == 0 ? min_ns : std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    count += other.count;
    sum_ns += other.sum_ns;
    total_ns += other.total_ns;
    self_ns += other.self_ns;
    device_ns += other.device_ns;
    device_self_ns += other.device_self_ns;
    device_backward_ns += other.device_backward_ns;
    device_count += other.device_count;
    for (const auto& [family, ns] : other.families) families[family] += ns;
    durations.insert(durations.end(), other.durations.begin(), other.durations.end());
  }
};

// The sums of one process, by path.
class ModuleSums {
 public:
  ModuleSums(PassContext& context, size_t index, bool instances)
      : context_(context),
        index_(index),
        paths_(&context.ops(index), instances),
        around_(context.process(index).tracks.size()) {}

  void Add() {
    const Process& process = context_.process(index_);
    for (uint32_t track = 0; track < process.tracks.size(); ++track) {
      if (paths_.source() == results::MODULE_SOURCE_SCOPES) {
        AddScopes(track);
      } else {
        AddSpans(track);
      }
    }
    AddDeviceWork();
    sums_.resize(paths_.paths().size());
    // Parts lie behind those around them: from the end, each is complete when it is reached.
    for (size_t path = sums_.size(); path-- > 1;) {
      Sums& own = sums_[path];
      own.total_ns += own.self_ns;
      own.device_ns += own.device_self_ns;
      Sums& around = sums_[paths_.paths()[path].parent];
      around.total_ns += own.total_ns;
      around.device_ns += own.device_ns;
      around.device_backward_ns += own.device_backward_ns;
    }
  }

  const ModulePaths& paths() const { return paths_; }
  std::vector<Sums>& sums() { return sums_; }
  bool has_device_work() const { return has_device_work_; }
  int64_t device_ns() const { return device_ns_; }

  std::string NameOf(uint32_t path) const {
    const ModulePath& own = paths_.paths()[path];
    return own.parent == 0 ? own.name : NameOf(own.parent) + "/" + own.name;
  }

 private:
  Sums& Of(uint32_t path) {
    if (path >= sums_.size()) sums_.resize(paths_.paths().size());
    return sums_[path];
  }

  void AddSpans(uint32_t track) {
    for (const ModuleSpan& span : paths_.SpansOf(track)) {
      Sums& sums = Of(span.path);
      sums.AddSpan(span.span.length());
      sums.self_ns += span.self_ns;
    }
  }

  // Operations with scopes in their names take the place of spans.
  void AddScopes(uint32_t track) {
    const Process& process = context_.process(index_);
    const OpTable& table = process.tracks[track].op;
    const OpTree& tree = context_.ops(index_).tree(track);
    for (uint32_t row = 0; row < table.rows(); ++row) {
      if (IsUserRange(table, row)) continue;
      const uint32_t path = PathOfOp(table, row);
      if (path == 0) continue;
      Sums& sums = Of(path);
      sums.AddSpan(table.duration_ns[row]);
      sums.self_ns += tree.self_ns(row);
    }
  }

  uint32_t PathOfOp(const OpTable& table, uint32_t row) {
    const auto name = context_.process(index_).strings.find(table.name[row]);
    const uint32_t path =
        name == context_.process(index_).strings.end() ? 0 : paths_.OfScopes(name->second);
    return path != 0 ? path : paths_.OfDetail(DetailOf(table, row));
  }

  void AddDeviceWork() {
    const Process& process = context_.process(index_);
    Origin& origins = context_.origin(index_);
    const BackwardLinks links(process);
    KernelFamilies& families = context_.families(index_);
    ForEachDeviceWork(process, [&](const Track& track, const DeviceWork& work) {
      const int64_t ns = work.span.length() * work.weight;
      has_device_work_ = true;
      device_ns_ += ns;
      std::optional<OpRef> op = origins.Find(work.correlation, work.external);
      bool is_backward = false;
      uint32_t path = 0;
      if (paths_.source() == results::MODULE_SOURCE_SCOPES) {
        if (work.kind == DeviceWorkKind::kKernel)
          path = paths_.OfDetail(DetailOf(track.kernel, work.row));
        if (op && path == 0) path = PathAround(*op);
      } else {
        path = PathAt(work, op);
        // Modules are not open in the backward pass, which runs behind them on another thread.
        if (op && path == 0) {
          path = ForwardPathAround(*op, links);
          is_backward = path != 0;
        }
      }
      Sums& sums = Of(path);
      sums.device_self_ns += ns;
      sums.device_backward_ns += is_backward ? ns : 0;
      sums.device_count += work.weight;
      families.Add(track, work, &sums.families);
    });
  }

  // Returns the part of the operation, or of the nearest one around it that has one.
  uint32_t PathAround(OpRef op) {
    const OpTable& table = context_.process(index_).tracks[op.track].op;
    return around_[op.track].Find(context_.ops(index_).tree(op.track), op.row,
                                  [&](uint32_t row) { return PathOfOp(table, row); });
  }

  // The same for the forward operations that these belong to.
  uint32_t ForwardPathAround(OpRef op, const BackwardLinks& links) {
    ProcessOps& ops = context_.ops(index_);
    return around_[op.track].Find(ops.tree(op.track), op.row, [&](uint32_t row) {
      const std::optional<OpRef> forward = links.ForwardOf({op.track, row});
      if (!forward) return uint32_t{0};
      return paths_.At(forward->track, ops.tree(forward->track).start(forward->row));
    });
  }

  uint32_t PathAt(const DeviceWork& work, const std::optional<OpRef>& op) {
    if (const auto call = context_.calls(index_).Find(work.correlation)) {
      const uint32_t path = paths_.At(call->track, call->start_ns);
      if (path != 0) return path;
    }
    return op ? paths_.At(op->track, context_.ops(index_).tree(op->track).start(op->row)) : 0;
  }

  PassContext& context_;
  size_t index_;
  ModulePaths paths_;
  std::vector<InheritedValue> around_;  // by track: parts of operations
  std::vector<Sums> sums_;              // by path; 0: outside of all parts
  bool has_device_work_ = false;
  int64_t device_ns_ = 0;
};

struct Row {
  Sums sums;
  std::set<size_t> processes;
  uint32_t module_count = 0;
};

void FillModules(PassContext& context, bool instances, results::Ops* out) {
  std::map<std::string, Row> rows;
  int64_t device_ns = 0, outside_ns = 0, self_ns = 0;
  bool has_device_work = false;
  for (const size_t index : context.selected()) {
    ModuleSums sums(context, index, instances);
    sums.Add();
    if (out->module_source() == results::MODULE_SOURCE_NONE)
      out->set_module_source(sums.paths().source());
    has_device_work |= sums.has_device_work();
    device_ns += sums.device_ns();
    if (!sums.sums().empty()) outside_ns += sums.sums()[0].device_self_ns;
    for (uint32_t path = 1; path < sums.sums().size(); ++path) {
      Row& row = rows[sums.NameOf(path)];
      row.sums.Join(sums.sums()[path]);
      row.processes.insert(context.Owner(index));
      row.module_count += sums.paths().paths()[path].instance_count;
      self_ns += sums.sums()[path].self_ns;
      out->set_count(out->count() + sums.sums()[path].count);
    }
  }
  out->set_self_ns(self_ns);
  if (has_device_work) {
    out->set_device_ns(device_ns);
    out->set_device_outside_ns(outside_ns);
  }
  for (auto& [name, row] : rows) {
    results::Op* op = out->add_ops();
    Sums& sums = row.sums;
    op->set_name(name);
    op->set_scope("module");
    op->set_count(sums.count);
    op->set_total_ns(sums.total_ns);
    op->set_self_ns(sums.self_ns);
    op->set_self_ratio(Ratio(sums.self_ns, self_ns));
    if (sums.count != 0) op->set_mean_ns(sums.sum_ns / static_cast<int64_t>(sums.count));
    op->set_median_ns(Samples(std::move(sums.durations)).median());
    op->set_min_ns(sums.min_ns);
    op->set_max_ns(sums.max_ns);
    if (out->module_source() == results::MODULE_SOURCE_MODULES)
      op->set_module_count(row.module_count);
    op->set_process_count(static_cast<uint32_t>(row.processes.size()));
    if (!has_device_work) continue;
    op->set_device_ns(sums.device_ns);
    op->set_device_self_ns(sums.device_self_ns);
    op->set_device_count(sums.device_count);
    FillFamily(sums.families, op);
    op->set_device_self_ratio(Ratio(sums.device_self_ns, device_ns));
    if (sums.device_backward_ns != 0) op->set_device_backward_ns(sums.device_backward_ns);
  }
}

}  // namespace

void ComputeOpModules(PassContext& context, bool instances, results::Ops* out) {
  *out = KeptRows<results::Ops>(context.kept_of_all(), instances ? "instance" : "module",
                                [&](results::Ops* rows) { FillModules(context, instances, rows); });
}

}  // namespace gpuprof::analysis
