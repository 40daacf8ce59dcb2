// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See hlo_work.h.

#include "analysis/derived/hlo_work.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/hlo/cost.h"

namespace gpuprof::analysis {
namespace {

constexpr double kMostHloFigure = 1e18;  // of a damaged program

std::optional<uint64_t> HloFigure(double value) {
  if (!(value >= 0 && value < kMostHloFigure)) return std::nullopt;
  return static_cast<uint64_t>(value);
}

// The programs of a process, each read when it is first asked for.
class AnalysedPrograms {
 public:
  explicit AnalysedPrograms(const Process& process) : process_(process) {}

  HloFigures Of(const RowDetail& detail) {
    const HloModule* module = Find(detail);
    if (module == nullptr) return {};
    std::unique_ptr<Analysed>& analysed = analysed_[module];
    if (analysed == nullptr) analysed = std::make_unique<Analysed>(module->proto);
    // An operation within others is the last of a path.
    std::string_view op = detail.hlo_op;
    if (const size_t parent = op.rfind("::"); parent != op.npos) op.remove_prefix(parent + 2);
    const hlo::Instruction* instruction = analysed->program.Find(op);
    if (instruction == nullptr) return {};
    const hlo::Cost& cost = analysed->costs.Of(*instruction);
    HloFigures figures;
    if (cost.knows_flops) figures.flops = HloFigure(cost.flops);
    if (cost.knows_bytes && cost.bytes != 0) figures.bytes = HloFigure(cost.bytes);
    return figures;
  }

 private:
  struct Analysed {
    explicit Analysed(std::string_view proto)
        : program(proto), costs(program, hlo::CostRules::kGpu) {}
    hlo::Program program;
    hlo::Costs costs;
  };

  // Without a number, a program that is the only one of its name.
  const HloModule* Find(const RowDetail& detail) const {
    const HloModule* found = nullptr;
    for (const auto& module : process_.hlo_modules) {
      if (detail.program_id) {
        if (module->program_id == *detail.program_id) return module.get();
      } else if (module->name == detail.hlo_module ||
                 module->name.starts_with(detail.hlo_module + "(")) {
        if (found != nullptr) return nullptr;
        found = module.get();
      }
    }
    return found;
  }

  const Process& process_;
  std::map<const HloModule*, std::unique_ptr<Analysed>> analysed_;
};

using HloOpKey = std::tuple<uint64_t, std::string, std::string>;  // number, program, operation

struct HloKernelSums {
  uint64_t count = 0;
  int64_t ns = 0;
};

struct HloOpKernels {
  HloFigures figures;
  std::map<uint32_t, HloKernelSums> by_name;
  std::set<std::pair<uint32_t, uint32_t>> rows;  // detail and signature
};

}  // namespace

HloWork::HloWork(const Process& process, RowDetails* details) {
  if (process.hlo_modules.empty()) return;
  AnalysedPrograms programs(process);
  std::map<HloOpKey, HloOpKernels> ops;
  std::map<uint32_t, HloOpKernels*> by_detail;  // null: nothing is known
  const auto name_of = [&](uint32_t signature) {
    const auto found = process.signatures.find(signature);
    return found == process.signatures.end() ? 0u : found->second.name();
  };
  for (const Track& track : process.tracks) {
    const KernelTable& kernels = track.kernel;
    for (size_t row = 0; row < kernels.detail.size(); ++row) {
      const uint32_t id = kernels.detail[row];
      if (id == 0) continue;
      const auto [at, is_new] = by_detail.try_emplace(id, nullptr);
      if (is_new) {
        const RowDetail& detail = details->Of(id);
        if (detail.hlo_op.empty() || detail.flops || detail.bytes) continue;
        const auto [op, is_first] = ops.try_emplace(
            HloOpKey{detail.program_id.value_or(0), detail.hlo_module, detail.hlo_op});
        if (is_first) op->second.figures = programs.Of(detail);
        if (op->second.figures.flops || op->second.figures.bytes) at->second = &op->second;
      }
      if (at->second == nullptr) continue;
      const uint32_t signature = kernels.signature[row];
      HloKernelSums& sums = at->second->by_name[name_of(signature)];
      sums.count += kernels.weight[row];
      sums.ns += kernels.duration_ns[row] * kernels.weight[row];
      at->second->rows.insert({id, signature});
    }
  }
  for (auto& [key, op] : ops) {
    uint32_t main = 0;
    const HloKernelSums* best = nullptr;
    for (const auto& [name, sums] : op.by_name) {
      if (best != nullptr &&
          (sums.count > best->count || (sums.count == best->count && sums.ns <= best->ns)))
        continue;
      main = name;
      best = &sums;
    }
    for (const auto& row : op.rows) {
      HloFigures figures = op.figures;
      if (op.by_name.size() > 1) figures.bytes.reset();
      figures.is_part = name_of(row.second) != main;
      if (figures.is_part && figures.flops) figures.flops = 0;
      figures_[row] = figures;
    }
  }
}

}  // namespace gpuprof::analysis
