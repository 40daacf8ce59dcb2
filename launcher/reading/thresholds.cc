// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See thresholds.h.

#include "launcher/reading/thresholds.h"

#include <charconv>
#include <cstdint>
#include <vector>

#include "analysis/analysis.h"
#include "launcher/base/nearest.h"
#include "launcher/base/values.h"

namespace gpuprof::launcher {
namespace {

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Reads digits with at most one point: no sign, no exponent.
bool ReadNumber(std::string_view text, double* value) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return false;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

std::string ReadRatio(std::string_view text, double* value) {
  const bool is_percent = text.ends_with("%");
  const bool is_number = ReadNumber(text.substr(0, text.size() - (is_percent ? 1 : 0)), value);
  if (is_percent) *value /= 100;
  if (is_number && *value <= 1) return "";
  return Quoted(text) + " is not a part of a whole; write 20% or 0.2, at most 1";
}

std::string ReadTime(std::string_view text, double* value) {
  uint64_t ns = 0;
  const bool is_us = text.ends_with("us");
  // A thousand times as much, in milliseconds.
  const std::string as_ms = is_us ? std::string(text.substr(0, text.size() - 2)) + "ms" : "";
  if (!ParseDuration(is_us ? as_ms : text, &ns).empty())
    return Quoted(text) + " is not a duration; write a number and its unit: 10us, 5ms, 1.5s";
  *value = static_cast<double>(ns) / (is_us ? 1000 : 1);
  return "";
}

std::string ReadValue(const std::string& unit, std::string_view text, double* value) {
  if (unit == "ratio") return ReadRatio(text, value);
  if (unit == "ns") return ReadTime(text, value);
  if (unit == "bytes") {
    uint64_t bytes = 0;
    const std::string error = ParseSize(text, &bytes);
    *value = static_cast<double>(bytes);
    return error;
  }
  return ReadNumber(text, value) ? "" : Quoted(text) + " is not a number; write 3 or 1.5";
}

}  // namespace

std::string ParseThreshold(const std::string& name, std::string_view value,
                           std::map<std::string, double>* thresholds) {
  std::vector<std::string> known;
  for (const analysis::ThresholdInfo& info : analysis::RuleThresholds()) {
    if (info.name != name) {
      known.push_back(info.name);
      continue;
    }
    const std::string error = ReadValue(info.unit, value, &(*thresholds)[name]);
    return error.empty() ? "" : name + ": " + error;
  }
  return Quoted(name) + " is not a threshold of a rule." + DidYouMean(name, known) +
         " 'gpuprof advise --rules' lists them";
}

std::string ParseThresholds(std::string_view text, std::map<std::string, double>* thresholds) {
  for (const std::string& part : Split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos)
      return Quoted(part) + " has no value; write NAME=VALUE: LA-001.min_share=20%";
    const std::string error = ParseThreshold(part.substr(0, equals),
                                             std::string_view(part).substr(equals + 1), thresholds);
    if (!error.empty()) return error;
  }
  return "";
}

std::string CheckThresholds(std::string_view text) {
  std::map<std::string, double> thresholds;
  return ParseThresholds(text, &thresholds);
}

}  // namespace gpuprof::launcher
