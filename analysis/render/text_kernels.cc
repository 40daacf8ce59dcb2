// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of kernels. See text.h.

#include <algorithm>
#include <cstdio>
#include <string>

#include "analysis/base/enum_word.h"
#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/kernels.pb.h"

namespace gpuprof::analysis {

namespace {

std::string TensorCoresText(const results::Kernels& result) {
  if (result.tensor_cores_ns() == 0 || result.total_ns() == 0) return "";
  const auto share = [&](int64_t ns) {
    return FormatPercent(static_cast<double>(ns) / static_cast<double>(result.total_ns()));
  };
  std::string text = ", " + share(result.tensor_cores_ns()) + " with tensor cores";
  if (result.tensor_cores_unknown_ns() != 0)
    text += " (" + share(result.tensor_cores_unknown_ns()) + " not known)";
  return text;
}

std::string TensorCoresWords(const results::Kernel& k) {
  const std::string& input = k.tensor_cores_input();
  return WordOf(k.tensor_cores()) + (input.empty() ? "" : ", " + input);
}

std::string LimitWords(const results::Kernel& k) {
  std::string words = WordOf(k.occupancy_limit());
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

// Returns lines such as "By family: matrix 85.3 %, normalisation 5.3 %".
std::string FamiliesText(const results::Kernels& result, const TextOptions& options) {
  if (result.families().empty() || result.by() == "family") return "";
  std::string words;
  for (const results::KernelFamilyTime& each : result.families()) {
    words += (words.empty() ? "" : ", ") + WordOf(each.family()) + " " +
             FormatPercent(each.total_ratio());
  }
  return WrapText("By family: " + words + ".", "", "  ", options.width);
}

// "bf16 tc": the type, and whether the tensor cores were used.
std::string PrecisionWords(const results::Kernel& k) {
  const std::string type =
      k.precision() == results::PRECISION_UNKNOWN ? "-" : WordOf(k.precision());
  if (k.tensor_cores() == results::TENSOR_CORE_USE_YES) return type + " tensor";
  return type;
}

bool IsNotEager(const results::Kernel& k) { return k.execution() > results::EXECUTION_EAGER; }

std::string FlopWords(const results::Kernel& k) {
  if (!k.has_flop_per_s()) return "";
  constexpr double kTera = 1e12;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", k.flop_per_s() / kTera);
  return text;
}

std::string SharedWords(const results::Kernel& k) {
  return FormatBytes(k.static_shared_bytes() + k.dynamic_shared_bytes());
}

std::string JoinedWords(const google::protobuf::RepeatedPtrField<std::string>& list) {
  std::string words;
  for (const std::string& each : list) words += (words.empty() ? "" : ", ") + each;
  return words;
}

std::string FusedWords(const results::Kernel& k) { return JoinedWords(k.fused_operations()); }
std::string FusedOfCompiled(const results::CompiledKernel& k) {
  return JoinedWords(k.fused_operations());
}

std::string CodeWords(const results::CompiledKernel& k) {
  return k.sources().empty() ? "" : k.sources(0).code();
}

std::string SourceWords(const results::CompiledKernel& k) {
  const int others = k.sources_size() - 1;
  return others <= 0 ? k.source() : k.source() + ", and " + std::to_string(others) + " more";
}

std::string GridWords(const results::Kernel& k) {
  return k.has_grid() ? k.grid() : std::to_string(k.signature_count()) + " different";
}

constexpr TableColumn kColumns[] = {
    {.field = "name", .title = "kernel", .flexible = true, .except_by = "stream family"},
    {.field = "name", .title = "family", .only_by = "family"},
    {.field = "name_count", .title = "kernels", .only_by = "family"},
    {.field = "name", .title = "stream", .flexible = true, .only_by = "stream"},
    {.field = "family",
     .title = "family",
     .except_by = "stream family",
     .on_page = OnPage::kOffered},
    {.field = "op", .title = "operation", .blank = "(none)", .flexible = true, .only_by = "op"},
    {.field = "launched_by",
     .title = "launched by",
     .flexible = true,
     .shown = ShownIf::kAny,
     .on_page = OnPage::kOffered},
    {.field = "source",
     .title = "source",
     .flexible = true,
     .shown = ShownIf::kAny,
     .except_by = "stream family",
     .tip = "The line of the program that torch.compile made it from",
     .on_page = OnPage::kIfWide},
    {.field = "fused_operations",
     .title = "fused",
     .cell = CellOf<results::Kernel, FusedWords>,
     .shown = ShownIf::kAny,
     .except_by = "stream family",
     .tip = "The operations that torch.compile made one kernel of",
     .on_page = OnPage::kOffered,
     .in_text = false},
    kWhosePid,
    kWhoseContext,
    {.field = "count", .title = "count"},
    {.field = "total_ns", .title = "total"},
    {.field = "total_ratio", .title = "share"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "median_ns", .title = "median", .except_by = "op", .on_page = OnPage::kOffered},
    {.field = "min_ns", .title = "min", .except_by = "op", .on_page = OnPage::kIfWide},
    {.field = "max_ns", .title = "max", .except_by = "op"},
    {.field = "count_per_step",
     .title = "a step",
     .shown = ShownIf::kAny,
     .on_page = OnPage::kOffered},
    {.field = "device", .title = "device", .shown = ShownIf::kDifferent},
    {.field = "registers_per_thread_count",
     .title = "registers",
     .only_by = "signature",
     .in_text = false},
    {.field = "dynamic_shared_bytes",
     .title = "shared",
     .cell = CellOf<results::Kernel, SharedWords>,
     .only_by = "signature",
     .tip = "Shared memory of a block",
     .scale = kOwnUnits,
     .in_text = false},
    {.field = "occupancy_ratio",
     .title = "occupancy",
     .shown = ShownIf::kAny,
     .tip = "Estimated occupancy",
     .on_page = OnPage::kIfWide},
    {.field = "occupancy_limit",
     .title = "limit",
     .cell = CellOf<results::Kernel, LimitWords>,
     .shown = ShownIf::kAny,
     .shown_by = "occupancy_ratio",
     .on_page = OnPage::kOffered},
    {.field = "wave_count",
     .title = "waves",
     .shown = ShownIf::kAny,
     .shown_by = "occupancy_ratio",
     .on_page = OnPage::kOffered},
    {.field = "tensor_cores",
     .title = "tensor cores",
     .cell = CellOf<results::Kernel, TensorCoresWords>,
     .except_by = "stream op family",
     .tip = "Used, or could be and are not"},
    {.field = "precision",
     .title = "type",
     .cell = CellOf<results::Kernel, PrecisionWords>,
     .only_by = "op"},
    {.field = "precision", .title = "type", .except_by = "stream op family", .in_text = false},
    {.field = "execution",
     .title = "runs",
     .needs = "execution",
     .blank = "-",
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::Kernel, IsNotEager>,
     .except_by = "stream family"},
    {.field = "flop_per_s",
     .title = "TFLOP/s",
     .cell = CellOf<results::Kernel, FlopWords>,
     .align = ColumnAlign::kRight,
     .shown = ShownIf::kAny,
     .scale = kTera,
     .on_page = OnPage::kOffered},
    {.field = "peak_flop_ratio",
     .title = "of peak",
     .shown = ShownIf::kAny,
     .on_page = OnPage::kOffered},
    {.field = "moved_gb_per_s",
     .title = "GB/s",
     .shown = ShownIf::kAny,
     .scale = kWholes,
     .on_page = OnPage::kOffered},
    {.field = "estimate_gb_per_s",
     .title = "GB/s at least",
     .shown = ShownIf::kAny,
     .scale = kWholes,
     .on_page = OnPage::kOffered},
    {.field = "grid",
     .title = "grid",
     .cell = CellOf<results::Kernel, GridWords>,
     .except_by = "op family"},
    {.field = "block", .title = "block", .except_by = "op family"},
};
constexpr TableColumn kCompiledColumns[] = {
    {.field = "name", .title = "kernel", .flexible = true},
    {.field = "source",
     .title = "source",
     .cell = CellOf<results::CompiledKernel, SourceWords>,
     .blank = "(not told)",
     .flexible = true},
    {.field = "sources",
     .title = "line",
     .cell = CellOf<results::CompiledKernel, CodeWords>,
     .flexible = true},
    {.field = "fused_operations",
     .title = "fused",
     .cell = CellOf<results::CompiledKernel, FusedOfCompiled>,
     .flexible = true,
     .shown = ShownIf::kAny},
    {.field = "launch_count", .title = "on GPUs", .shown = ShownIf::kAny},
    kWhosePid,
};
constexpr TableLayout kLayouts[] = {{.rows = "kernels",
                                     .row = results::Kernel::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "total_ns"},
                                    {.rows = "compiled_kernels",
                                     .row = results::CompiledKernel::descriptor,
                                     .columns = kCompiledColumns,
                                     .sorted_by = "launch_count",
                                     .title = "Kernels that torch.compile made"}};

std::string CompiledText(const results::Kernels& result, const TextOptions& options) {
  if (result.compiled_kernels().empty()) return "";
  const auto count = static_cast<uint64_t>(result.compiled_kernels_size());
  const std::string heading =
      FormatNumber(count) + (count == 1 ? " kernel was" : " kernels were") +
      " made by torch.compile. The source is the line of the last operation in each";
  return TableText(heading, kLayouts[1], result, options);
}

}  // namespace

std::span<const TableLayout> KernelsLayouts() { return kLayouts; }

std::string KernelsText(const results::Kernels& result, const TextOptions& asked) {
  // Words are not wider than the table, also in a file.
  TextOptions options = asked;
  if (options.width == 0) options.width = options.table_width;
  if (result.kernels().empty())
    return (result.has_under_range()
                ? "No kernel was launched under " + result.under_range() + ".\n"
                : "No kernel was recorded.\n") +
           CompiledText(result, options) + MetaText(result.meta(), options);
  const std::string busy =
      result.has_busy_ns() ? ", GPU busy " + FormatDuration(result.busy_ns()) : "";
  const std::string heading = FormatNumber(result.count()) + " kernels, " +
                              FormatDuration(result.total_ns()) + " of kernel time" + busy +
                              TensorCoresText(result) +
                              (result.has_under_range() ? ", under " + result.under_range() : "");
  return TableText(heading, kLayouts[0], result, options) + FamiliesText(result, options) +
         CompiledText(result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
