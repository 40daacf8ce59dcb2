// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See compress_text.h.

#include "proto/codec/compress_text.h"

#include <zstd.h>

namespace gpuprof::codec {

std::string CompressText(std::string_view text) {
  // Results are written once and mailed: a smaller file is worth more than a millisecond.
  constexpr int kLevel = 12;
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), kLevel);
  if (ZSTD_isError(size)) return "";
  frame.resize(size);
  return frame;
}

}  // namespace gpuprof::codec
