// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Columns are decoded in pieces that stay in the first-level cache: varints to residuals, then
// residuals to values. Runs of one-byte and of two-byte varints, which make up most columns, take
// eight bytes at a time.

#include "proto/codec/column_decoder.h"

#include <algorithm>
#include <cstring>

#include "proto/codec/keyed_last.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {
namespace {

using proto::Encoding;

constexpr char kLength[] = "column does not hold one value a row";
constexpr char kRange[] = "time outside the range that the block header gives";
constexpr uint32_t kPiece = 1024;
constexpr uint64_t kTwoByteRun = 0x0080008000800080u;  // continuation bits of four two-byte varints

uint64_t Load(const uint8_t* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

void StoreOneByteRun(uint64_t word, uint64_t* out) {
  for (int i = 0; i < 8; ++i) out[i] = word >> (8 * i) & 0xff;
}

void StoreTwoByteRun(uint64_t word, uint64_t* out) {
  const uint64_t value = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
  for (int i = 0; i < 4; ++i) out[i] = value >> (16 * i) & 0xffff;
}

// Decodes one varint; `word` holds its first eight bytes.
inline const uint8_t* DecodeOne(const uint8_t* at, const uint8_t* end, uint64_t word,
                                uint64_t* out) {
  const uint64_t last = ~word & kContinuationBits;
  if (__builtin_expect(last == 0, 0)) return GetVarint(at, end, out);
  // All bits up to and with the first byte whose top bit is clear.
  *out = GatherSevens(word & (last ^ (last - 1)));
  at += (__builtin_ctzll(last) >> 3) + 1;
  return at <= end ? at : nullptr;
}

struct Plain {
  uint64_t Take(uint64_t residual) { return residual; }
};

struct Delta {
  uint64_t value = 0;
  uint64_t Take(uint64_t residual) { return value += residual; }
};

struct Address {
  uint64_t value = 0;
  uint64_t Take(uint64_t residual) {
    value += residual;
    return value << 4 | value >> 60;
  }
};

// Times outside the block's own range are a fault, so the reader's callers can rely on times.
struct Time {
  uint64_t value;
  uint64_t first;
  uint64_t range;
  uint32_t shift;
  bool bad = false;
  uint64_t Take(uint64_t residual) {
    value += residual;
    bad |= value - first > range;
    return value << shift;
  }
};

struct Span {
  const uint64_t* end;
  uint64_t first;
  uint32_t shift;
  bool bad = false;
  uint64_t Take(uint64_t residual) {
    bad |= residual > (*end++ >> shift) - first;
    return residual << shift;
  }
};

struct Keyed {
  KeyedLast* last;
  const uint64_t* key;
  uint64_t Take(uint64_t residual) { return *last->Find(*key++) += residual; }
};

// Returns false if the bytes do not hold `count` values. The policy is passed by reference, so that
// the caller can ask for its checks afterwards.
template <typename Policy>
bool DecodeWith(Policy* policy, const uint8_t* data, const uint8_t* end, uint64_t* out,
                uint32_t count) {
  Policy local = *policy;
  while (count != 0) {
    const uint32_t piece = std::min(count, kPiece);
    data = DecodeVarints(data, end, out, piece);
    if (data == nullptr) return false;
    for (uint32_t i = 0; i < piece; ++i) out[i] = local.Take(UnZigZag(out[i]));
    out += piece;
    count -= piece;
  }
  *policy = local;
  return data == end;
}

}  // namespace

const uint8_t* DecodeVarints(const uint8_t* at, const uint8_t* end, uint64_t* out, uint32_t count) {
  uint32_t i = 0;
  // Eight values a turn at most: inside, neither the array's nor the bytes' end can be passed
  // unseen.
  while (i + 8 <= count && end - at >= 8) {
    const uint64_t word = Load(at);
    const uint64_t more = word & kContinuationBits;
    if (more == 0) {
      StoreOneByteRun(word, out + i);
      at += 8;
      i += 8;
    } else if (more == kTwoByteRun) {
      StoreTwoByteRun(word, out + i);
      at += 8;
      i += 4;
    } else {
      at = DecodeOne(at, end, word, out + i);
      if (at == nullptr) return nullptr;
      ++i;
    }
  }
  for (; i < count; ++i) {
    if (at >= end) return nullptr;
    at = DecodeOne(at, end, Load(at), out + i);
    if (at == nullptr) return nullptr;
  }
  return at;
}

const char* DecodeColumn(Encoding encoding, const ColumnFrame& frame, const uint8_t* data,
                         uint64_t bytes, uint64_t* out, uint32_t count) {
  const uint8_t* end = data + bytes;
  bool whole = false;
  bool bad = false;
  switch (encoding) {
    case Encoding::kPlain:
    case Encoding::kGap:
    case Encoding::kDuration: {
      Plain plain;
      whole = DecodeWith(&plain, data, end, out, count);
      break;
    }
    case Encoding::kDelta: {
      Delta delta;
      whole = DecodeWith(&delta, data, end, out, count);
      break;
    }
    case Encoding::kAddress: {
      Address address;
      whole = DecodeWith(&address, data, end, out, count);
      break;
    }
    case Encoding::kTime: {
      Time time{frame.base_time, frame.first_time, frame.last_time - frame.first_time,
                frame.time_shift};
      whole = DecodeWith(&time, data, end, out, count);
      bad = time.bad;
      break;
    }
    case Encoding::kSpan: {
      Span span{frame.end, frame.first_time, frame.time_shift};
      whole = DecodeWith(&span, data, end, out, count);
      bad = span.bad;
      break;
    }
    case Encoding::kKeyed: {
      KeyedLast last;
      Keyed keyed{&last, frame.key};
      whole = DecodeWith(&keyed, data, end, out, count);
      break;
    }
  }
  if (!whole) return kLength;
  return bad ? kRange : nullptr;
}

}  // namespace gpuprof::codec
