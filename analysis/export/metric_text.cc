// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See metric_text.h.

#include "analysis/export/metric_text.h"

#include <charconv>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

// Values of labels: three characters are escaped.
void AppendLabel(std::string_view name, std::string_view value, std::string* out) {
  if (!out->empty()) *out += ',';
  *out += name;
  *out += "=\"";
  for (const char c : Utf8Of(value)) {
    if (c == '\\' || c == '"') *out += '\\';
    if (c == '\n') {
      *out += "\\n";
    } else if (c == '\r') {
      *out += ' ';  // readers of lines would end the line
    } else {
      *out += c;
    }
  }
  *out += '"';
}

std::string LabelText(const MetricLabels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (!value.empty()) AppendLabel(name, value, &text);
  }
  return text;
}

std::string ValueText(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

// Writes times to the nanosecond: sums of parts of a second are not exact.
std::string SecondsText(double value) {
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 9);
  std::string digits(text, end.ptr);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits;
}

void AppendSample(const std::string& name, const std::string& labels, const std::string& value,
                  std::string* out) {
  *out += name;
  if (!labels.empty()) *out += "{" + labels + "}";
  *out += " " + value + "\n";
}

}  // namespace

void MetricText::Add(std::string_view type, const std::string& name, std::string_view help,
                     std::string_view unit, const MetricLabels& labels, double value) {
  Family& family = families_[name];
  family.type = type;
  family.help = help;
  family.unit = unit;
  const auto [at, added] = family.samples.try_emplace(LabelText(labels), 0);
  at->second += value;
  if (added) ++samples_;
}

void MetricText::Histogram(const std::string& name, std::string_view help, std::string_view unit,
                           const MetricLabels& labels, const std::vector<double>& bounds,
                           const std::vector<double>& values) {
  Family& family = families_[name];
  family.type = "histogram";
  family.help = help;
  family.unit = unit;
  const std::string own = LabelText(labels);
  double sum = 0;
  for (const double value : values) sum += value;
  for (size_t i = 0; i <= bounds.size(); ++i) {
    uint64_t count = 0;
    for (const double value : values) count += i == bounds.size() || value <= bounds[i] ? 1 : 0;
    std::string bucket = own;
    std::string bound = i == bounds.size() ? "+Inf" : ValueText(bounds[i]);
    // The format wants numbers that look real.
    if (bound.find_first_of(".e+") == std::string::npos) bound += ".0";
    AppendLabel("le", bound, &bucket);
    AppendSample(name + "_bucket", bucket, std::to_string(count), &family.lines);
  }
  AppendSample(name + "_count", own, std::to_string(values.size()), &family.lines);
  AppendSample(name + "_sum", own, unit == "seconds" ? SecondsText(sum) : ValueText(sum),
               &family.lines);
  ++samples_;
}

std::string MetricText::Take() const {
  std::string out;
  for (const auto& [name, family] : families_) {
    out += "# HELP " + name + " " + std::string(family.help) + "\n";
    out += "# TYPE " + name + " " + std::string(family.type) + "\n";
    if (!family.unit.empty()) out += "# UNIT " + name + " " + std::string(family.unit) + "\n";
    const std::string sample = name + (family.type == "counter" ? "_total" : "");
    const bool are_seconds = family.unit == "seconds";
    for (const auto& [labels, value] : family.samples)
      AppendSample(sample, labels, are_seconds ? SecondsText(value) : ValueText(value), &out);
    out += family.lines;
  }
  return out + "# EOF\n";
}

}  // namespace gpuprof::analysis
