// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/xprof/op_rates.h"

#include "analysis/xprof/figures.h"

namespace gpuprof::analysis::xprof {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

OpRates RatesOf(const OpMetrics& op, const OpStats& stats) {
  const double ns = PicoToNano(op.time_ps);
  const auto bytes = static_cast<double>(op.bytes);
  const auto hbm_bytes = static_cast<double>(op.hbm_bytes());
  OpRates found;
  found.flop_rate = Divide(op.flops, ns);
  found.model_flop_rate = Divide(op.model_flops, ns);
  found.memory_rate = GigaToGibi(Divide(bytes, ns));
  found.hbm_rate = GigaToGibi(Divide(hbm_bytes, ns));
  found.intensity = Divide(op.flops, bytes);
  found.hbm_intensity = Divide(op.flops, hbm_bytes);
  double highest = 0;
  const auto use = [&](std::string_view resource, double part, double intensity) {
    if (!(highest < part)) return;
    highest = part;
    found.bound_by = resource;
    found.bottleneck_intensity = intensity;
  };
  use("Compute", Divide(found.flop_rate, stats.peaks.teraflops * 1E3), found.intensity);
  use("HBM", Divide(found.hbm_rate, GigaToGibi(stats.peaks.memory_gigabytes)), found.hbm_intensity);
  if (stats.hardware == Hardware::kGpu && stats.peaks.shared_gigabytes != 0)
    use("Shm/L1", Divide(found.hbm_rate, GigaToGibi(stats.peaks.shared_gigabytes)),
        found.hbm_intensity);
  return found;
}

std::string SourceCell(const OpMetrics& op) {
  if (op.source_file.empty() || op.source_line == -1) return {};
  return "<div class='source-info-cell' title='" + Escaped(op.stack) + "'>" +
         Escaped(op.source_file) + ":" + std::to_string(op.source_line) + "</div>";
}

}  // namespace gpuprof::analysis::xprof
