// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rank_kernels.h.

#include "analysis/passes/device/rank_kernels.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/derived/device_work.h"
#include "analysis/derived/origin.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

struct KernelSum {
  double count = 0, total_ns = 0;
};
// By name, launch size, and shapes of the operation that launched the kernel.
using KernelSums = std::map<std::string, KernelSum>;

std::string KeyOf(const Process& process, const proto::Signature& signature) {
  std::string key = Demangle(process.String(signature.name()).c_str());
  for (const auto* sizes : {&signature.grid(), &signature.block()}) {
    key += '\n';
    for (const uint32_t size : *sizes) key += std::to_string(size) + ",";
  }
  return key;
}

// Adds the kernels that began in pieces of the phase. Each counts 1 / `share`.
void AddKernels(PassContext& context, const RankLanes& lanes, size_t lane,
                const std::vector<size_t>& steps, LanePhase phase, double share, KernelSums* sums) {
  const int64_t offset = lanes.offsets[lane];
  std::vector<Interval> pieces;
  for (const size_t step : steps) {
    for (const LanePiece& piece : lanes.job.lanes[lane].steps[step].pieces)
      if (piece.phase == phase)
        pieces.push_back({piece.span.start - offset, piece.span.end - offset});
  }
  pieces = UnionOf(std::move(pieces));
  const size_t index = lanes.processes[lane];
  const Process& process = context.process(index);
  std::unordered_map<uint32_t, std::string> keys;  // by signature
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device != lanes.devices[lane]) continue;
    ForEachRowOfWork(DeviceWorkKind::kKernel, track.kernel, [&](const DeviceWork& row) {
      const auto after =
          std::partition_point(pieces.begin(), pieces.end(),
                               [&](const Interval& piece) { return piece.end <= row.span.start; });
      if (after == pieces.end() || after->start > row.span.start) return;
      const uint32_t id = track.kernel.signature[row.row];
      const auto signature = process.signatures.find(id);
      if (signature == process.signatures.end()) return;
      const auto [known, is_new] = keys.try_emplace(id);
      if (is_new) known->second = KeyOf(process, signature->second);
      std::string key = known->second;
      if (const auto op = context.origin(index).Owner(row)) {
        const OpTable& ops = process.tracks[op->track].op;
        if (op->row < ops.detail.size()) key += '\n' + process.String(ops.detail[op->row]);
      }
      KernelSum& sum = (*sums)[key];
      sum.count += row.weight / share;
      sum.total_ns += static_cast<double>(row.span.length()) * row.weight / share;
    });
  }
}

}  // namespace

std::optional<KernelAnswer> CompareKernels(PassContext& context, const RankLanes& lanes,
                                           const KernelQuestion& question) {
  if (!lanes.devices[question.lane] || question.others.empty()) return std::nullopt;
  KernelSums own, others;
  AddKernels(context, lanes, question.lane, question.steps[question.lane], question.phase, 1, &own);
  for (const size_t lane : question.others)
    AddKernels(context, lanes, lane, question.steps[lane], question.phase,
               static_cast<double>(question.others.size()), &others);
  double extra = 0, same = 0, most = 0;
  KernelAnswer answer;
  for (const auto& [key, sum] : own) {
    const auto found = others.find(key);
    const KernelSum other = found == others.end() ? KernelSum() : found->second;
    const double more = sum.total_ns - other.total_ns;
    extra += more;
    if (other.count > 0)
      same += std::min(sum.count, other.count) *
              (sum.total_ns / sum.count - other.total_ns / other.count);
    if (more <= most) continue;
    most = more;
    answer.kernel = key.substr(0, key.find('\n'));
  }
  for (const auto& [key, sum] : others)
    if (own.count(key) == 0) extra -= sum.total_ns;
  if (extra <= 0) return std::nullopt;
  answer.same_ratio = std::clamp(same / extra, 0.0, 1.0);
  return answer;
}

}  // namespace gpuprof::analysis
