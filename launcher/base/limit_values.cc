// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/base/limit_values.h"

#include <charconv>
#include <cmath>

#include "launcher/base/values.h"

namespace gpuprof::launcher {
namespace {

// Reads a whole text of digits with at most one point. False: it is none.
bool ReadDecimal(std::string_view text, double* value) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return false;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

bool TakeEnd(std::string_view* text, std::string_view end) {
  if (text->size() <= end.size() || text->substr(text->size() - end.size()) != end) return false;
  text->remove_suffix(end.size());
  return true;
}

std::string ReadTrigger(std::string_view part, Triggers* triggers) {
  constexpr std::string_view kStep = "step:";
  constexpr std::string_view kStall = "stall:";
  if (part == "exit") {
    triggers->at_failed_exit = true;
    return "";
  }
  if (part.substr(0, kStall.size()) == kStall) {
    const std::string error = ParseDuration(part.substr(kStall.size()), &triggers->stall_ns);
    if (!error.empty()) return error;
    return triggers->stall_ns < 100'000'000 ? "a stall is at least 100ms long" : "";
  }
  if (part.substr(0, kStep.size()) != kStep)
    return "'" + std::string(part) +
           "' is not a trigger; write step:N, stall:DURATION or exit, comma separated";
  std::string_view factor = part.substr(kStep.size());
  double value = 0;
  TakeEnd(&factor, "x");
  if (!ReadDecimal(factor, &value) || value < 1.1 || value > 10'000)
    return "'" + std::string(part) + "': a slow step takes 1.1 to 10000 times the median; " +
           "write for example step:3";
  triggers->step_percent = static_cast<uint64_t>(std::llround(value * 100));
  return "";
}

}  // namespace

std::string ParseBudget(std::string_view text, Budget* budget) {
  *budget = {};
  std::string_view number = text;
  double value = 0;
  if (TakeEnd(&number, "%")) {
    if (!ReadDecimal(number, &value) || value < 0.01 || value > 100)
      return "'" + std::string(text) + "' is not a budget; write 0.01% to 100%, for example 3%";
    budget->ppm = static_cast<uint64_t>(std::llround(value * 1e4));
    return "";
  }
  const bool is_short = TakeEnd(&number, "us");
  uint64_t nanoseconds = 0;
  if (is_short && ReadDecimal(number, &value) && value < 1e9)
    nanoseconds = static_cast<uint64_t>(std::llround(value * 1e3));
  if (!is_short && !ParseDuration(text, &nanoseconds).empty()) nanoseconds = 0;
  if (nanoseconds < 1000 || nanoseconds > 60'000'000'000)
    return "'" + std::string(text) +
           "' is not a budget; write a part of the time (3%) or a time for each step (1us to 1m)";
  budget->step_ns = nanoseconds;
  return "";
}

std::string ParseTriggers(std::string_view text, Triggers* triggers) {
  *triggers = {};
  for (const std::string& part : Split(text, ',')) {
    const std::string error = ReadTrigger(part, triggers);
    if (!error.empty()) return error;
  }
  return "";
}

}  // namespace gpuprof::launcher
