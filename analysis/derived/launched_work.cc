// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See launched_work.h.

#include "analysis/derived/launched_work.h"

#include <algorithm>

#include "analysis/derived/device_work.h"
#include "analysis/derived/op_work.h"

namespace gpuprof::analysis {

LaunchedWork::LaunchedWork(ProcessOps* ops, Origin* origins, RowDetails* details) {
  const Process& process = ops->process();
  const bool has_details = std::any_of(process.tracks.begin(), process.tracks.end(),
                                       [](const Track& track) { return !track.op.detail.empty(); });
  if (!has_details) return;
  struct Launched {
    uint64_t count = 0;
    int64_t longest_ns = -1;
    uint64_t longest = 0;  // KeyOf
  };
  std::unordered_map<uint64_t, Launched> by_op;
  for (uint32_t track = 0; track < process.tracks.size(); ++track) {
    ForEachRowOfWork(DeviceWorkKind::kKernel, process.tracks[track].kernel,
                     [&](const DeviceWork& work) {
                       const auto op = work.in_graph ? std::nullopt : origins->Owner(work);
                       if (!op) return;
                       Launched& launched = by_op[KeyOf(op->track, op->row)];
                       ++launched.count;
                       if (work.span.length() <= launched.longest_ns) return;
                       launched.longest_ns = work.span.length();
                       launched.longest = KeyOf(track, work.row);
                     });
  }
  for (const auto& [key, launched] : by_op) {
    const OpTable& table = process.tracks[key >> 40].op;
    const size_t row = key & ((uint64_t{1} << 40) - 1);
    const uint32_t detail = DetailOf(table, row);
    if (detail == 0) continue;
    const RowDetail& told = details->Of(detail);
    const std::string name = process.String(table.name[row]);
    if (const auto flops = analysis::FlopsOf(name, told)) flops_[launched.longest] = *flops;
    // As with the operations, the longest kernel is the one that multiplies.
    if (const auto bytes = ProductBytesOf(name, told)) bytes_[launched.longest] = *bytes;
    if (launched.count != 1) continue;
    if (const auto bytes = ElementwiseBytesOf(name, told)) bytes_[launched.longest] = *bytes;
  }
}

}  // namespace gpuprof::analysis
