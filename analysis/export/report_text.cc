// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See report_text.h.

#include "analysis/export/report_text.h"

#include <zlib.h>

#include <array>
#include <limits>

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

std::string Gzip(std::string_view text) {
  constexpr int kGzip = 16;  // added to the bits of the window
  constexpr int kMemory = 9;
  z_stream stream{};
  if (text.size() > std::numeric_limits<uInt>::max() ||
      deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(is_whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return packed;
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
