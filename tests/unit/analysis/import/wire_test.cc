// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/import/wire.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/foreign/xspace.pb.h"

namespace gpuprof::analysis::import {
namespace {

TEST(Wire, AllTypesAreReadAsProtobufWritesThem) {
  foreign::xspace::XStat stat;
  stat.set_metadata_id(-3);
  stat.set_double_value(2.5);
  foreign::xspace::XStatMetadata text;
  text.set_id(300);
  text.set_name("name");
  const std::string bytes = stat.SerializeAsString() + text.SerializeAsString();
  WireReader reader(bytes);
  WireField field;
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_TRUE(field.Is(1, WireType::kVarint));
  EXPECT_EQ(static_cast<int64_t>(field.value), -3);
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_TRUE(field.Is(2, WireType::kFixed64));
  EXPECT_EQ(field.value, 0x4004000000000000u);
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_EQ(field.value, 300u);
  ASSERT_TRUE(reader.Next(&field));
  EXPECT_TRUE(field.Is(2, WireType::kBytes));
  EXPECT_EQ(field.bytes, "name");
  EXPECT_FALSE(reader.Next(&field));
  EXPECT_FALSE(reader.is_broken());
}

TEST(Wire, WhatIsNoFieldEndsTheMessage) {
  using std::string_literals::operator""s;
  const std::string broken[] = {
      "\x08"s,                                              // no value
      "\x08\x80"s,                                          // a value that ends within
      "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // a value of eleven bytes
      "\x12\x05"
      "abc"s,                                           // longer than the message
      "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // a length beyond all
      "\x00\x01"s,                                      // the number 0
      "\x0b\x0c"s,                                      // a group
      "\x0e\x01"s,
      "\x0f\x01"s,  // no type
      "\x09"
      "1234567"s,  // seven bytes of eight
      "\x0d"
      "123"s,  // three bytes of four
  };
  for (const std::string& bytes : broken) {
    WireReader reader(bytes);
    WireField field;
    EXPECT_FALSE(reader.Next(&field));
    EXPECT_TRUE(reader.is_broken());
    EXPECT_FALSE(reader.Next(&field));
  }
}

}  // namespace
}  // namespace gpuprof::analysis::import
