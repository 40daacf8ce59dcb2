// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See backward_links.h.

#include "analysis/derived/backward_links.h"

#include <algorithm>

#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

struct NumberedOp {
  uint32_t track, row;
};

bool IsBackward(const OpTable& ops, size_t row) {
  return proto::OpScopeOf(ops.operation[row]) == proto::OpScope::kBackward;
}

int64_t StartOf(const OpTable& ops, size_t row) { return ops.end_ns[row] - ops.duration_ns[row]; }

}  // namespace

BackwardLinks::BackwardLinks(const Process& process) {
  links_.resize(process.tracks.size());
  const auto table = [&](const NumberedOp& op) -> const OpTable& {
    return process.tracks[op.track].op;
  };
  std::vector<NumberedOp> numbered;
  for (uint32_t track = 0; track < process.tracks.size(); ++track) {
    const OpTable& ops = process.tracks[track].op;
    const size_t before = numbered.size();
    for (uint32_t row = 0; row < ops.sequence.size(); ++row) {
      if (ops.sequence[row] != 0) numbered.push_back({track, row});
    }
    if (numbered.size() != before) links_[track].resize(ops.sequence.size());
  }
  std::stable_sort(numbered.begin(), numbered.end(), [&](const NumberedOp& x, const NumberedOp& y) {
    return table(x).end_ns[x.row] < table(y).end_ns[y.row];
  });
  // Each thread counts for itself, and the forward thread of a backward operation is not known. Of
  // forward operations in several threads the one that ended last is taken.
  std::unordered_map<uint64_t, std::vector<NumberedOp>> forward;  // by number, one each thread
  uint32_t arrows = 0;
  for (const NumberedOp& op : numbered) {
    std::vector<NumberedOp>& candidates = forward[table(op).sequence[op.row]];
    if (!IsBackward(table(op), op.row)) {
      const auto same =
          std::find_if(candidates.begin(), candidates.end(),
                       [&](const NumberedOp& each) { return each.track == op.track; });
      if (same == candidates.end()) {
        candidates.push_back(op);
      } else if (StartOf(table(op), op.row) >= StartOf(table(*same), same->row)) {
        candidates.erase(same);
        candidates.push_back(op);
      }
    } else if (!candidates.empty()) {
      ++arrows;
      links_[candidates.back().track][candidates.back().row] = arrows;
      links_[op.track][op.row] = arrows;
      forward_.push_back({static_cast<uint32_t>(candidates.back().track),
                          static_cast<uint32_t>(candidates.back().row)});
      candidates.pop_back();
    }
  }
}

}  // namespace gpuprof::analysis
