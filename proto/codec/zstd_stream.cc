// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See zstd_stream.h.

#include "proto/codec/zstd_stream.h"

#include <zstd.h>

namespace gpuprof::codec {

struct ZstdStream::Context {
  ZSTD_DCtx* context = nullptr;
  ~Context() { ZSTD_freeDCtx(context); }
};

ZstdStream::ZstdStream() : context_(new Context) {}

ZstdStream::~ZstdStream() = default;

bool ZstdStream::Begins(std::string_view text) {
  return text.starts_with(std::string_view("\x28\xb5\x2f\xfd", kMagicBytes));
}

bool ZstdStream::Start() {
  if (context_->context == nullptr) context_->context = ZSTD_createDCtx();
  return context_->context != nullptr &&
         ZSTD_isError(ZSTD_DCtx_reset(context_->context, ZSTD_reset_session_only)) == 0;
}

ZstdStream::Step ZstdStream::Run(std::string_view in, char* to, size_t most) {
  ZSTD_inBuffer input = {in.data(), in.size(), 0};
  ZSTD_outBuffer output = {to, most, 0};
  const size_t left = ZSTD_decompressStream(context_->context, &output, &input);
  const State state = ZSTD_isError(left) != 0 ? State::kBroken
                      : left == 0             ? State::kFrameEnds
                                              : State::kMore;
  return {input.pos, output.pos, state};
}

}  // namespace gpuprof::codec
