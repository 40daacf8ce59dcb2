// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See report_text.h.

#include "analysis/export/report_text.h"

#include <array>

namespace gpuprof::analysis {

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(Base64Length(bytes.size()));
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    std::array<uint32_t, 3> three = {};
    for (size_t k = 0; k < 3 && k < left; ++k) three[k] = static_cast<uint8_t>(bytes[i + k]);
    const uint32_t bits = three[0] << 16 | three[1] << 8 | three[2];
    text += kDigits[bits >> 18];
    text += kDigits[bits >> 12 & 63];
    text += left > 1 ? kDigits[bits >> 6 & 63] : '=';
    text += left > 2 ? kDigits[bits & 63] : '=';
  }
  return text;
}

std::string AttributeText(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

std::string ScriptJson(std::string_view json) {
  // These three stand inside strings only, so an escape of JSON can replace them.
  std::string safe;
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else if (c == '>')
      safe += "\\u003e";
    else if (c == '&')
      safe += "\\u0026";
    else
      safe += c;
  }
  return safe;
}

}  // namespace gpuprof::analysis
