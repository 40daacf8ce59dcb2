// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See selection.h.

#include "launcher/reading/selection.h"

#include <charconv>

#include "launcher/base/values.h"

namespace gpuprof::launcher {
namespace {

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string Wrong(std::string_view text, std::string_view form) {
  return "'" + std::string(text) + "' is not " + std::string(form);
}

// A moment may be finer than durations of other options.
std::string ReadMoment(std::string_view text, uint64_t* nanoseconds) {
  const bool is_us = text.ends_with("us");
  if (!is_us && !text.ends_with("ns")) return ParseDuration(text, nanoseconds);
  const uint64_t scale = is_us ? 1000 : 1;
  if (!ReadNumber(text.substr(0, text.size() - 2), nanoseconds) ||
      *nanoseconds > static_cast<uint64_t>(INT64_MAX) / scale)
    return Wrong(text, "a moment; write a whole number of us or ns, or 1.5s");
  *nanoseconds *= scale;
  return "";
}

// Reads seconds with up to nine places behind the point.
bool ReadClock(std::string_view text, int64_t* nanoseconds) {
  constexpr size_t kPlaces = 9;
  constexpr uint64_t kMostSeconds = INT64_MAX / 1'000'000'000 - 1;
  if (!text.starts_with('@')) return false;
  text.remove_prefix(1);
  const size_t point = text.find('.');
  std::string places(point == std::string_view::npos ? "" : text.substr(point + 1));
  uint64_t seconds = 0, rest = 0;
  if (places.size() > kPlaces || !ReadNumber(text.substr(0, point), &seconds) ||
      seconds > kMostSeconds)
    return false;
  places.resize(kPlaces, '0');
  if (!ReadNumber(places, &rest)) return false;
  *nanoseconds = static_cast<int64_t>(seconds * 1'000'000'000 + rest);
  return true;
}

}  // namespace

std::string ParseClockWindow(std::string_view text, std::pair<int64_t, int64_t>* window) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos || !ReadClock(text.substr(0, dash), &window->first) ||
      !ReadClock(text.substr(dash + 1), &window->second))
    return Wrong(text, "@FROM-@TO in seconds since 1970, as in @1764370000.5-@1764370005");
  return window->first < window->second ? "" : Wrong(text, "FROM-TO: it ends before it begins");
}

std::string ParseWindow(std::string_view text, std::optional<std::pair<int64_t, int64_t>>* window) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return Wrong(text, "FROM-TO, as in 1.5s-3s");
  uint64_t from = 0, to = 0;
  std::string error = ReadMoment(text.substr(0, dash), &from);
  if (error.empty()) error = ReadMoment(text.substr(dash + 1), &to);
  if (!error.empty()) return error;
  if (from >= to || to > INT64_MAX) return Wrong(text, "FROM-TO: it ends before it begins");
  *window = {static_cast<int64_t>(from), static_cast<int64_t>(to)};
  return "";
}

std::string ParseSteps(std::string_view text, std::optional<std::pair<uint64_t, uint64_t>>* steps) {
  const size_t dash = text.find('-');
  const std::string_view last = dash == std::string_view::npos ? text : text.substr(dash + 1);
  std::pair<uint64_t, uint64_t> read;
  if (!ReadNumber(text.substr(0, dash), &read.first) || !ReadNumber(last, &read.second) ||
      read.first > read.second)
    return Wrong(text, "FIRST-LAST, as in 10-15");
  *steps = read;
  return "";
}

std::string ParseDevices(std::string_view text, std::vector<uint32_t>* devices) {
  devices->clear();
  for (const std::string& item : Split(text, ',')) {
    uint32_t number = 0;
    if (!ReadNumber(item, &number)) return Wrong(item, "the number of a device");
    devices->push_back(number);
  }
  return "";
}

}  // namespace gpuprof::launcher
