// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_links.h.

#include "analysis/export/op_links.h"

#include <algorithm>
#include <numeric>

#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

// Rows of operations by start. Of equal starts the longer one comes first.
std::vector<uint32_t> OpsByStart(const OpTable& ops) {
  std::vector<uint32_t> order;
  for (size_t row = ops.rows(); row-- > 0;) {
    if (!IsUserRange(ops, row)) order.push_back(static_cast<uint32_t>(row));
  }
  const auto start = [&](uint32_t row) { return ops.end_ns[row] - ops.duration_ns[row]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return start(a) < start(b); });
  return order;
}

// Calls are on CUPTI's clock and operations on ours. The middle of a call at an edge decides: the
// distance between the two clocks does not move it across.
int64_t MiddleOf(const ApiTable& calls, size_t row) {
  return calls.end_ns[row] - calls.duration_ns[row] / 2;
}

}  // namespace

OpLinks::OpLinks(const Process& process, const CallIndex& calls, bool is_imported)
    : process_(&process), index_(&calls), is_imported_(is_imported) {
  const size_t tracks = process.tracks.size();
  first_.resize(tracks);
  calls_.resize(tracks);
  has_work_.resize(tracks);
  uint64_t next = 1;
  for (size_t track = 0; track < tracks; ++track) {
    first_[track] = next;
    next += process.tracks[track].op.rows();
    if (!is_imported) LinkCalls(track);
  }
  for (const Track& track : process.tracks) {
    MarkWork(track.kernel.correlation);
    MarkWork(track.memcpy.correlation);
    MarkWork(track.memset.correlation);
    MarkWork(track.host_function.correlation);
  }
}

uint64_t OpLinks::OfOp(size_t track, size_t row) const {
  return is_imported_ ? ExternalOf(process_->tracks[track].op, row) : first_[track] + row;
}

uint64_t OpLinks::OfCall(size_t track, size_t row) const {
  if (is_imported_) return ExternalOf(process_->tracks[track].api, row);
  return calls_[track].empty() ? 0 : calls_[track][row];
}

uint64_t OpLinks::OfCorrelation(uint32_t correlation) const {
  const std::optional<Call> call = correlation == 0 ? std::nullopt : index_->Find(correlation);
  return call ? OfCall(call->track, call->row) : 0;
}

void OpLinks::LinkCalls(size_t track) {
  const OpTable& ops = process_->tracks[track].op;
  const ApiTable& calls = process_->tracks[track].api;
  if (ops.rows() == 0 || calls.rows() == 0) return;
  std::vector<uint32_t> by_middle(calls.rows());
  std::iota(by_middle.begin(), by_middle.end(), 0);
  std::sort(by_middle.begin(), by_middle.end(),
            [&](uint32_t a, uint32_t b) { return MiddleOf(calls, a) < MiddleOf(calls, b); });
  const std::vector<uint32_t> by_start = OpsByStart(ops);
  std::vector<uint32_t> open;
  size_t next = 0;
  calls_[track].resize(calls.rows());
  for (const uint32_t call : by_middle) {
    const int64_t middle = MiddleOf(calls, call);
    while (next < by_start.size() &&
           ops.end_ns[by_start[next]] - ops.duration_ns[by_start[next]] <= middle) {
      const uint32_t op = by_start[next++];
      while (!open.empty() && ops.end_ns[open.back()] <= ops.end_ns[op] - ops.duration_ns[op])
        open.pop_back();
      open.push_back(op);
    }
    while (!open.empty() && ops.end_ns[open.back()] < middle) open.pop_back();
    if (!open.empty()) calls_[track][call] = OfOp(track, open.back());
  }
}

void OpLinks::MarkWork(const Column<uint32_t>& correlations) {
  for (const uint32_t correlation : correlations) {
    const std::optional<Call> call = correlation == 0 ? std::nullopt : index_->Find(correlation);
    if (!call) continue;
    std::vector<bool>& marks = has_work_[call->track];
    if (marks.empty()) marks.resize(process_->tracks[call->track].api.rows());
    marks[call->row] = true;
  }
}

}  // namespace gpuprof::analysis
