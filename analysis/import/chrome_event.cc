// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See chrome_event.h.

#include "analysis/import/chrome_event.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "analysis/import/json_cursor.h"
#include "analysis/import/json_string.h"

namespace gpuprof::analysis::import {
namespace {

constexpr int64_t kMostNs = 4'600'000'000'000'000'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number as it is written: digits with a point somewhere, times a power of ten.
struct Decimal {
  bool is_negative = false;
  std::string_view whole, fraction;
  int64_t exponent = 0;

  size_t digits() const { return whole.size() + fraction.size(); }
  char digit(size_t place) const {
    if (place < whole.size()) return whole[place];
    place -= whole.size();
    return place < fraction.size() ? fraction[place] : '0';
  }
};

std::string_view TakeDigits(std::string_view* text) {
  const auto end = std::find_if_not(text->begin(), text->end(), IsDigit);
  const std::string_view digits = text->substr(0, static_cast<size_t>(end - text->begin()));
  text->remove_prefix(digits.size());
  return digits;
}

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

bool TakeSign(std::string_view* text) {
  const bool is_negative = text->starts_with('-');
  if (is_negative || text->starts_with('+')) text->remove_prefix(1);
  return is_negative;
}

std::optional<Decimal> ParseDecimal(std::string_view text) {
  // Beyond this power nothing fits, whatever the digits are.
  constexpr int64_t kMostExponent = 1'000'000'000;
  text = WithoutBlanks(text);
  Decimal decimal;
  decimal.is_negative = TakeSign(&text);
  decimal.whole = TakeDigits(&text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    decimal.fraction = TakeDigits(&text);
  }
  if (decimal.digits() == 0) return std::nullopt;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    const bool is_negative = TakeSign(&text);
    const std::string_view digits = TakeDigits(&text);
    if (digits.empty()) return std::nullopt;
    for (const char c : digits)
      decimal.exponent = std::min(decimal.exponent * 10 + (c - '0'), kMostExponent);
    if (is_negative) decimal.exponent = -decimal.exponent;
  }
  if (!text.empty()) return std::nullopt;
  return decimal;
}

// Returns the decimal times ten to the power of `shift`. Further digits are cut; with `is_whole`
// they must be zeros. None: it does not fit.
std::optional<int64_t> Scale(const Decimal& decimal, int64_t shift, bool is_whole) {
  const size_t digits = decimal.digits();
  size_t first = 0;
  while (first < digits && decimal.digit(first) == '0') ++first;
  if (first == digits) return 0;
  // The number of digits in front of the point of the result.
  const int64_t wanted = static_cast<int64_t>(decimal.whole.size()) + decimal.exponent + shift;
  const int64_t begin = static_cast<int64_t>(first);
  if (wanted - begin > 19) return std::nullopt;
  uint64_t value = 0;  // 19 digits fit
  for (int64_t i = begin; i < wanted; ++i)
    value = value * 10 + static_cast<uint64_t>(decimal.digit(static_cast<size_t>(i)) - '0');
  if (is_whole) {
    for (size_t i = static_cast<size_t>(std::max(wanted, begin)); i < digits; ++i) {
      if (decimal.digit(i) != '0') return std::nullopt;
    }
  }
  const uint64_t most = uint64_t{INT64_MAX} + (decimal.is_negative ? 1 : 0);
  if (value > most) return std::nullopt;
  return static_cast<int64_t>(decimal.is_negative ? ~value + 1 : value);
}

// Steps over commas and blanks. Returns whether the array or object ends there.
bool IsAtEnd(std::string_view text, size_t* at) {
  while (*at < text.size() && (IsBlank(text[*at]) || text[*at] == ',')) ++*at;
  return *at >= text.size() || text[*at] == ']' || text[*at] == '}';
}

// Reads the value at `*at` and steps over it.
std::optional<JsonValue> TakeValue(std::string_view text, size_t* at) {
  const size_t begin = SkipBlanks(text, *at);
  *at = begin;
  if (SkipValue(text, at) != Reading::kWhole) return std::nullopt;
  const std::string_view value = text.substr(begin, *at - begin);
  if (value[0] == '"')
    return JsonValue{JsonValue::Kind::kString, value.substr(1, value.size() - 2)};
  if (value[0] == '[') return JsonValue{JsonValue::Kind::kArray, value};
  if (value[0] == '{') return JsonValue{JsonValue::Kind::kObject, value};
  TextFaults faults;
  JsonValue read;
  ReadWord(value, &read, &faults);
  return read;
}

// Returns microseconds as nanoseconds where the text is digits with at most three decimals, as
// nearly all times are. None: it is something else, or is long.
std::optional<int64_t> PlainNanoseconds(std::string_view text) {
  constexpr size_t kMostDigits = 16;  // three more fit into 64 bits
  const auto digit = [&](size_t at) { return static_cast<uint64_t>(text[at] - '0'); };
  const size_t most = std::min(text.size(), kMostDigits);
  uint64_t value = 0;
  size_t at = 0;
  for (; at < most && IsDigit(text[at]); ++at) value = value * 10 + digit(at);
  if (at == 0) return std::nullopt;
  int missing = 3;
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && IsDigit(text[at]) && missing > 0; ++at, --missing)
      value = value * 10 + digit(at);
  }
  if (at != text.size()) return std::nullopt;
  for (; missing > 0; --missing) value *= 10;
  if (value > static_cast<uint64_t>(kMostNs)) return std::nullopt;
  return static_cast<int64_t>(value);
}

bool IsNumeric(const JsonValue& value) {
  return value.kind == JsonValue::Kind::kNumber || value.kind == JsonValue::Kind::kString;
}

}  // namespace

std::optional<int64_t> WholeNumber(const JsonValue& value) {
  if (!IsNumeric(value)) return std::nullopt;
  int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, number);
  if (read.ec == std::errc() && read.ptr == end) return number;
  const std::optional<Decimal> decimal = ParseDecimal(value.text);
  return decimal ? Scale(*decimal, 0, true) : std::nullopt;
}

std::optional<double> RealNumber(const JsonValue& value) {
  if (!IsNumeric(value)) return std::nullopt;
  // The check refuses what is a number to C++ alone, as inf.
  if (!ParseDecimal(value.text)) return std::nullopt;
  std::string_view text = WithoutBlanks(value.text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<int64_t> Nanoseconds(const JsonValue& microseconds) {
  if (!IsNumeric(microseconds)) return std::nullopt;
  const std::optional<int64_t> plain = PlainNanoseconds(microseconds.text);
  if (plain) return plain;
  const std::optional<Decimal> decimal = ParseDecimal(microseconds.text);
  if (!decimal) return std::nullopt;
  const std::optional<int64_t> nanoseconds = Scale(*decimal, 3, false);
  if (!nanoseconds || *nanoseconds > kMostNs || *nanoseconds < -kMostNs) return std::nullopt;
  return nanoseconds;
}

std::optional<int64_t> ScaledNumber(const JsonValue& value, int decimals) {
  if (!IsNumeric(value)) return std::nullopt;
  const std::optional<Decimal> decimal = ParseDecimal(value.text);
  return decimal ? Scale(*decimal, decimals, false) : std::nullopt;
}

std::vector<JsonValue> Elements(const JsonValue& array, size_t most) {
  std::vector<JsonValue> elements;
  if (array.kind != JsonValue::Kind::kArray) return elements;
  size_t at = 1;
  while (elements.size() < most && !IsAtEnd(array.text, &at)) {
    const std::optional<JsonValue> value = TakeValue(array.text, &at);
    if (!value) break;
    elements.push_back(*value);
  }
  return elements;
}

JsonValue ChromeEvent::Arg(std::string_view key) const {
  const auto found = std::find_if(args.rbegin(), args.rend(),
                                  [key](const auto& argument) { return argument.first == key; });
  return found == args.rend() ? JsonValue{} : found->second;
}

}  // namespace gpuprof::analysis::import
