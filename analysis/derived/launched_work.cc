// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See launched_work.h.

#include "analysis/derived/launched_work.h"

#include <string>

#include "analysis/derived/device_work.h"
#include "analysis/derived/op_work.h"

namespace gpuprof::analysis {

namespace {

// Knows which details tell the inputs of an operation: no other operation has a figure. Most
// details of a file are of a few hundred texts.
class DetailsWithInputs {
 public:
  explicit DetailsWithInputs(const Process& process) : process_(&process) {}

  bool Has(uint32_t detail) {
    if (detail == 0) return false;
    const auto [at, is_new] = known_.try_emplace(detail, false);
    if (is_new) at->second = process_->String(detail).find("\"Input Dims\"") != std::string::npos;
    return at->second;
  }
  // Returns whether any operation has such a detail.
  bool Any() {
    for (const Track& track : process_->tracks) {
      const Column<uint32_t>::Reader details(track.op.detail);
      for (size_t row = 0; row < track.op.detail.size(); ++row)
        if (Has(details[row])) return true;
    }
    return false;
  }

 private:
  const Process* process_;
  std::unordered_map<uint32_t, bool> known_;
};

}  // namespace

LaunchedWork::LaunchedWork(ProcessOps* ops, Origin* origins, RowDetails* details)
    : hlo_(ops->process(), details) {
  const Process& process = ops->process();
  DetailsWithInputs with_inputs(process);
  if (!with_inputs.Any()) return;
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
                       if (!op || !with_inputs.Has(DetailOf(process.tracks[op->track].op, op->row)))
                         return;
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
    const RowDetail& told = details->Of(DetailOf(table, row));
    const std::string name = process.String(table.name[row]);
    if (const auto flops = analysis::FlopsOf(name, told)) {
      flops_[launched.longest] = *flops;
      flop_kernels_[key] = launched.longest;
    }
    // As with the operations, the longest kernel is the one that multiplies.
    auto bytes = ProductBytesOf(name, told);
    if (!bytes && launched.count == 1) bytes = ElementwiseBytesOf(name, told);
    if (!bytes) continue;
    bytes_[launched.longest] = *bytes;
    known_bytes_.insert(key);
  }
}

}  // namespace gpuprof::analysis
