// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See compress_text.h.

#include "proto/codec/compress_text.h"

#include <zstd.h>

namespace gpuprof::codec {

std::string CompressText(std::string_view text) {
  // Results are written once and mailed. Higher levels save four parts in a hundred at most, and
  // take more than three times as long.
  constexpr int kLevel = 8;
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), kLevel);
  if (ZSTD_isError(size)) return "";
  frame.resize(size);
  return frame;
}

}  // namespace gpuprof::codec
