// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See execution.h.

#include "analysis/derived/execution.h"

#include "analysis/derived/op_names.h"
#include "analysis/derived/row_details.h"
#include "proto/operations.h"

namespace gpuprof::analysis {

void ExecutionTally::Add(const ExecutionFound& found) {
  if (found.execution == results::EXECUTION_NONE) return;
  if (found_.execution == results::EXECUTION_NONE) {
    found_ = found;
  } else if (found.execution != found_.execution) {
    found_ = {results::EXECUTION_MIXED, results::EXECUTION_EVIDENCE_NONE};
  }
}

ExecutionFinder::ExecutionFinder(ProcessOps* ops, bool may_be_eager)
    : ops_(ops), may_be_eager_(may_be_eager), regions_(ops->process().tracks.size()) {}

std::string_view ExecutionFinder::TextOf(uint32_t id) const {
  const auto found = ops_->process().strings.find(id);
  return found == ops_->process().strings.end() ? std::string_view()
                                                : std::string_view(found->second);
}

ExecutionFinder::Region ExecutionFinder::RegionOf(uint32_t name) {
  const auto [at, is_new] = by_name_.try_emplace(name, Region::kNone);
  if (is_new) {
    const std::string_view text = TextOf(name);
    at->second = IsCompiledRegion(text) ? Region::kCompiled
                 : IsEagerRegion(text)  ? Region::kEager
                                        : Region::kNone;
  }
  return at->second;
}

bool ExecutionFinder::IsHlo(uint32_t detail) {
  if (detail == 0) return false;
  const auto [at, is_new] = is_hlo_.try_emplace(detail, false);
  if (is_new) {
    const std::string_view text = TextOf(detail);
    at->second = text.find("\"hlo_op\":") != std::string_view::npos ||
                 text.find("\"hlo_category\":") != std::string_view::npos;
  }
  return at->second;
}

const std::vector<ExecutionFinder::Region>& ExecutionFinder::RegionsOf(uint32_t track) {
  std::vector<Region>& regions = regions_[track];
  const OpTable& table = ops_->process().tracks[track].op;
  if (regions.size() == table.rows()) return regions;
  const OpTree& tree = ops_->tree(track);
  regions.assign(table.rows(), Region::kNone);
  const Column<uint32_t>::Reader names(table.name);
  for (size_t i = 0; i < table.rows(); ++i) {  // parents come first
    const uint32_t row = tree.in_order(i);
    const uint32_t parent = tree.parent(row);
    const Region own = RegionOf(names[row]);
    regions[row] = own != Region::kNone || parent == OpTree::kNone ? own : regions[parent];
  }
  return regions;
}

ExecutionFound ExecutionFinder::OfOp(OpRef op) {
  const OpTable& table = ops_->process().tracks[op.track].op;
  switch (RegionsOf(op.track)[op.row]) {
    case Region::kCompiled:
      return {results::EXECUTION_COMPILED, results::EXECUTION_EVIDENCE_REGION};
    case Region::kEager:
      return {results::EXECUTION_EAGER, results::EXECUTION_EVIDENCE_REGION};
    case Region::kNone:
      break;
  }
  if (IsHlo(DetailOf(table, op.row)))
    return {results::EXECUTION_COMPILED, results::EXECUTION_EVIDENCE_HLO};
  if (may_be_eager_ && !IsUserRange(table, op.row))
    return {results::EXECUTION_EAGER, results::EXECUTION_EVIDENCE_OPERATION};
  return {};
}

ExecutionFound ExecutionFinder::OfKernel(const KernelTable& kernels, size_t row,
                                         const std::optional<OpRef>& op, bool in_graph) {
  if (IsHlo(DetailOf(kernels, row)))
    return {results::EXECUTION_COMPILED, results::EXECUTION_EVIDENCE_HLO};
  const uint32_t signature = kernels.signature[row];
  const auto [at, is_new] = is_compiled_name_.try_emplace(signature, false);
  if (is_new) {
    const auto known = ops_->process().signatures.find(signature);
    at->second =
        known != ops_->process().signatures.end() && IsCompiledKernel(TextOf(known->second.name()));
  }
  if (at->second) return {results::EXECUTION_COMPILED, results::EXECUTION_EVIDENCE_NAME};
  if (in_graph || kernels.graph[row] != 0)
    return {results::EXECUTION_GRAPH, results::EXECUTION_EVIDENCE_CUDA_GRAPH};
  return op ? OfOp(*op) : ExecutionFound{};
}

}  // namespace gpuprof::analysis
