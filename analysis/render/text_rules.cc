// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of the table of rules. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/rule_words.h"
#include "analysis/render/text.h"
#include "proto/results/advice.pb.h"

namespace gpuprof::analysis {

const char* NeedWords(results::RuleNeed need) {
  switch (need) {
    case results::RULE_NEED_STEPS:
      return "steps";
    case results::RULE_NEED_DEVICE_WORK:
      return "work of a GPU";
    case results::RULE_NEED_CALLS:
      return "CUDA calls";
    case results::RULE_NEED_OPERATIONS:
      return "operations";
    case results::RULE_NEED_HEAP:
      return "heap";
    case results::RULE_NEED_LOCKS:
      return "waits";
    case results::RULE_NEED_FILES:
      return "file reads";
    case results::RULE_NEED_THREADS:
      return "processor time";
    case results::RULE_NEED_PYTHON:
      return "Python functions";
    case results::RULE_NEED_PAGES:
      return "managed memory";
    case results::RULE_NEED_SHAPES:
      return "shapes";
    case results::RULE_NEED_DEVICE_MEMORY:
      return "GPU memory";
    case results::RULE_NEED_SAMPLES:
      return "samples of stacks";
    case results::RULE_NEED_PAUSES:
      return "pauses of Python";
    case results::RULE_NEED_READINGS:
      return "readings of NVML";
    default:
      return "";
  }
}

std::string ThresholdWords(results::ThresholdUnit unit, double value) {
  switch (unit) {
    case results::THRESHOLD_UNIT_RATIO:
      return FormatPercent(value);
    case results::THRESHOLD_UNIT_COUNT:
      return FormatNumber(static_cast<uint64_t>(value));
    case results::THRESHOLD_UNIT_NS:
      return FormatDuration(static_cast<int64_t>(value));
    case results::THRESHOLD_UNIT_BYTES:
      return FormatBytes(static_cast<uint64_t>(value));
    default:
      return FormatReal(value) + " times";
  }
}

std::string RulesText(const results::Rules& result, const TextOptions& options) {
  std::string out;
  for (const results::Rule& rule : result.rules()) {
    std::string needs;
    for (const int need : rule.needs())
      needs += (needs.empty() ? " Needs: " : ", ") +
               std::string(NeedWords(static_cast<results::RuleNeed>(need)));
    out += WrapText(rule.id() + ": " + rule.name() + "." + needs + (needs.empty() ? "" : "."), "",
                    "  ", options.width);
    TextTable table;
    table.AddColumn("threshold", TextTable::Align::kLeft);
    table.AddColumn("value", TextTable::Align::kRight);
    table.AddColumn("default", TextTable::Align::kRight);
    table.AddColumn("meaning", TextTable::Align::kLeft, true);
    for (const results::RuleThreshold& each : rule.thresholds())
      table.AddRow({each.name(), ThresholdWords(each.unit(), each.value()),
                    ThresholdWords(each.unit(), each.default_value()), each.meaning()});
    if (!table.empty()) out += table.Render(options.table_width);
    out += "\n";
  }
  return out;
}

}  // namespace gpuprof::analysis
