// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See detail_text.h.

#include "analysis/import/detail_text.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis::import {
namespace {

void AppendString(std::string_view text, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  *out += '"';
  for (size_t at = 0; at < text.size();) {
    const auto code = static_cast<unsigned char>(text[at]);
    const size_t bytes = code < 0x80 ? 1 : CodePointBytes(text.substr(at));
    if (bytes == 0) {
      *out += kReplacement;
    } else if (code < 0x20) {
      *out += "\\u00";
      *out += kDigits[code >> 4];
      *out += kDigits[code & 15];
    } else {
      if (code == '"' || code == '\\') *out += '\\';
      *out += text.substr(at, bytes);
    }
    at += bytes == 0 ? 1 : bytes;
  }
  *out += '"';
}

template <typename Number>
void AppendNumber(Number value, std::string* out) {
  char digits[40];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  if (error == std::errc()) out->append(digits, end);
}

}  // namespace

std::string* DetailText::PlaceOf(std::string_view key) {
  std::string text;
  AppendString(key, &text);
  for (auto& [known, value] : members_) {
    if (known != text) continue;
    value.clear();
    return &value;
  }
  if (members_.size() == kMostMembers) return nullptr;
  return &members_.emplace_back(std::move(text), std::string()).second;
}

void DetailText::AddText(std::string_view key, std::string_view value) {
  if (std::string* const place = PlaceOf(key)) AppendString(value, place);
}

void DetailText::AddSigned(std::string_view key, int64_t value) {
  if (std::string* const place = PlaceOf(key)) AppendNumber(value, place);
}

void DetailText::AddUnsigned(std::string_view key, uint64_t value) {
  if (std::string* const place = PlaceOf(key)) AppendNumber(value, place);
}

void DetailText::AddReal(std::string_view key, double value) {
  if (!std::isfinite(value)) return;
  if (std::string* const place = PlaceOf(key)) AppendNumber(value, place);
}

std::string DetailText::Take() {
  std::string text;
  for (const auto& [key, value] : members_) {
    text += text.empty() ? '{' : ',';
    text += key;
    text += ':';
    text += value;
  }
  if (!text.empty()) text += '}';
  members_.clear();
  return text;
}

}  // namespace gpuprof::analysis::import
