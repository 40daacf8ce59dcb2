// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Varints, zigzag and the header checksum against known values and against libprotobuf's coder.

#include "proto/codec/varint.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include <random>

#include "proto/codec/column_decoder.h"
#include "proto/codec/crc32c.h"

namespace gpuprof::codec {
namespace {

std::vector<uint64_t> EdgeValues() {
  std::vector<uint64_t> values = {0, ~uint64_t{0}};
  for (int bit = 0; bit < 64; ++bit) {
    values.push_back((uint64_t{1} << bit) - 1);
    values.push_back(uint64_t{1} << bit);
    values.push_back((uint64_t{1} << bit) + 1);
  }
  return values;
}

TEST(Varint, EveryEdgeIsCodedAsLibprotobufCodesIt) {
  for (const uint64_t value : EdgeValues()) {
    uint8_t ours[16] = {};
    uint8_t theirs[16] = {};
    const auto bytes = PutVarint(ours, value) - ours;
    const auto expected =
        google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(value, theirs) - theirs;
    ASSERT_EQ(bytes, expected) << value;
    EXPECT_EQ(bytes, VarintBytes(value));
    EXPECT_EQ(std::memcmp(ours, theirs, static_cast<size_t>(bytes)), 0) << value;
    uint64_t back = 0;
    EXPECT_EQ(GetVarint(ours, ours + bytes, &back), ours + bytes);
    EXPECT_EQ(back, value);
    EXPECT_EQ(GetVarint(ours, ours + bytes - 1, &back), nullptr) << "cut by a byte";
  }
}

TEST(Varint, MoreThanSixtyFourBitsAreRefused) {
  const uint8_t eleven[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  const uint8_t overflow[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
  uint64_t value = 0;
  EXPECT_EQ(GetVarint(eleven, eleven + sizeof eleven, &value), nullptr);
  EXPECT_EQ(GetVarint(overflow, overflow + sizeof overflow, &value), nullptr);
}

TEST(Varint, ZigZagIsItsOwnWayBack) {
  EXPECT_EQ(ZigZag(0), 0u);
  EXPECT_EQ(ZigZag(static_cast<uint64_t>(-1)), 1u);
  EXPECT_EQ(ZigZag(1), 2u);
  for (const uint64_t value : EdgeValues()) EXPECT_EQ(UnZigZag(ZigZag(value)), value);
}

// Runs of every mixture of lengths, so that each of the decoder's paths meets each other one.
TEST(Varint, RunsDecodeAsOneByOne) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const int most_bits = static_cast<int>(random() % 64) + 1;
    const bool is_even = random() % 2 == 0;
    std::vector<uint64_t> values(random() % 70 + 1);
    for (uint64_t& value : values) {
      const int bits = is_even ? most_bits : static_cast<int>(random() % 64) + 1;
      value = random() >> (64 - bits);
    }
    std::vector<uint8_t> bytes(values.size() * kMaxVarintBytes + kReadAhead);
    uint8_t* end = bytes.data();
    for (const uint64_t value : values) end = PutVarint(end, value);
    std::vector<uint64_t> back(values.size());
    const uint32_t count = static_cast<uint32_t>(values.size());
    ASSERT_EQ(DecodeVarints(bytes.data(), end, back.data(), count), end);
    ASSERT_EQ(back, values);
    ASSERT_EQ(DecodeVarints(bytes.data(), end - 1, back.data(), count), nullptr);
  }
}

TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c("", 0), 0u);
  EXPECT_EQ(Crc32c("123456789", 9), 0xe3069283u);
  const uint8_t zeros[32] = {};
  EXPECT_EQ(Crc32c(zeros, sizeof zeros), 0x8a9136aau);
}

}  // namespace
}  // namespace gpuprof::codec
