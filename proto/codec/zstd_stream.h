// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decompresses frames of zstd piece by piece, as other programs write them. For readers of other
// tools' files. One thread.

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace gpuprof::codec {

class ZstdStream {
 public:
  enum class State { kMore, kFrameEnds, kBroken };
  struct Step {
    size_t used = 0;  // bytes of the input
    size_t made = 0;
    State state = State::kMore;
  };

  ZstdStream();
  ~ZstdStream();
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;

  // Returns whether `text` begins a frame.
  static bool Begins(std::string_view text);
  static constexpr size_t kMagicBytes = 4;

  // Begins a frame. False: there is no memory.
  bool Start();
  // Makes at most `most` bytes of the input, whose unused rest is given again. A frame that asks
  // for a window of more than 128 MiB is broken.
  Step Run(std::string_view in, char* to, size_t most);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace gpuprof::codec
