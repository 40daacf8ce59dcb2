// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What fuzzers of dumps share: a dump is read as a whole and in small pieces, with one outcome.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/import/byte_source.h"
#include "tests/fuzz/check.h"

namespace gpuprof::fuzz {

// What reading came to.
struct Sums {
  analysis::Error error;
  uint64_t sum = 0;
};

// Calls read(source, check) for both sizes of pieces. `check` takes the bytes that the reader
// holds: at most `most_ratio` times those of the dump.
template <typename Read>
void ReadInPieces(const uint8_t* data, size_t size, uint64_t most_ratio, const Read& read) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto check = [&](uint64_t held) {
    Check(held < (64u << 20) + bytes.size() * most_ratio);
    return analysis::Error{};
  };
  const auto sums_of = [&](size_t piece) {
    analysis::import::MemorySource source(bytes, piece);
    return Sums(read(&source, check));
  };
  const Sums whole = sums_of(SIZE_MAX), pieces = sums_of(7);
  Check(whole.error.message == pieces.error.message && whole.sum == pieces.sum);
}

}  // namespace gpuprof::fuzz
