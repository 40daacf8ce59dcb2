// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/host/range_values.h"

#include <algorithm>
#include <cstring>

#include "analysis/model/names.h"

namespace gpuprof::analysis {
namespace {

bool IsNumber(RangeValue type) {
  return type == RangeValue::kUint64 || type == RangeValue::kInt64 || type == RangeValue::kDouble;
}

double NumberOf(RangeValue type, uint64_t bits) {
  double wide;
  std::memcpy(&wide, &bits, sizeof wide);
  if (type == RangeValue::kDouble) return wide;
  return type == RangeValue::kInt64 ? static_cast<double>(static_cast<int64_t>(bits))
                                    : static_cast<double>(bits);
}

// As NCCL has it: "Message size [bytes]".
bool SaysBytes(const std::string& name) {
  return name.find("bytes") != std::string::npos || name.find("Bytes") != std::string::npos;
}

}  // namespace

void RangeValues::Add(const Process& process, const RangeValueTable& table, size_t row,
                      RangeValueKey key) {
  key.name = process.String(table.name[row]);
  Sums& sums = groups_[std::move(key)];
  ++sums.count;
  const RangeValue type = RangeValueOf(table.operation[row]);
  const uint64_t bits = table.value[row];
  if (!IsNumber(type)) {
    ++sums.texts[type == RangeValue::kText ? process.String(static_cast<uint32_t>(bits))
                                           : RangeValueText(type, bits)];
    return;
  }
  const double number = NumberOf(type, bits);
  sums.sum += number;
  sums.min = sums.numbers == 0 ? number : std::min(sums.min, number);
  sums.max = sums.numbers == 0 ? number : std::max(sums.max, number);
  ++sums.numbers;
}

void RangeValues::FillRow(const RangeValueKey& key, const Sums& sums, bool by_domain,
                          results::RangeValue* row) {
  row->set_name(key.name);
  row->set_range(by_domain ? key.domain : key.range);
  row->set_domain(key.domain);
  row->set_kind(static_cast<results::RangeKind>(key.kind));
  row->set_count(sums.count);
  if (sums.numbers != 0) {
    row->set_unit(SaysBytes(key.name) ? "bytes" : "");
    row->set_sum_value(sums.sum);
    row->set_mean_value(sums.sum / static_cast<double>(sums.numbers));
    row->set_min_value(sums.min);
    row->set_max_value(sums.max);
  }
  if (sums.texts.empty()) return;
  const auto most =
      std::max_element(sums.texts.begin(), sums.texts.end(),
                       [](const auto& x, const auto& y) { return x.second < y.second; });
  row->set_text_count(sums.texts.size());
  row->set_most_frequent(most->first);
  row->set_most_frequent_count(most->second);
}

void RangeValues::Fill(bool by_domain, results::Ranges* out) const {
  for (const auto& [key, sums] : groups_) FillRow(key, sums, by_domain, out->add_values());
}

}  // namespace gpuprof::analysis
