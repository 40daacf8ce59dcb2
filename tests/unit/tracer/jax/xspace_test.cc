// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/jax/xspace.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof::tracer::jax {
namespace {

TEST(XSpaceFields, ReadsEachKind) {
  const std::string message(
      "\x08\x96\x01"  // 1: 150
      "\x12\x03"
      "abc"                                   // 2: text
      "\x19\x01\x00\x00\x00\x00\x00\x00\x80"  // 3: 8 bytes
      "\x25\x02\x00\x00\x00",                 // 4: 4 bytes
      3 + 5 + 9 + 5);
  Fields fields(message);
  Field field;
  ASSERT_TRUE(fields.Next(&field));
  EXPECT_EQ(field.number, 1u);
  EXPECT_EQ(field.value, 150u);
  ASSERT_TRUE(fields.Next(&field));
  EXPECT_EQ(field.bytes, "abc");
  ASSERT_TRUE(fields.Next(&field));
  EXPECT_EQ(field.value, 0x8000000000000001u);
  ASSERT_TRUE(fields.Next(&field));
  EXPECT_EQ(field.value, 2u);
  EXPECT_FALSE(fields.Next(&field));
}

TEST(XSpaceFields, EndsAtDamage) {
  for (const std::string& message :
       {std::string("\x12\x7f"
                    "abc"),
        std::string("\x08"), std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        std::string("\x19\x01"), std::string("\x0b")}) {
    Fields fields(message);
    Field field;
    EXPECT_FALSE(fields.Next(&field));
    EXPECT_FALSE(fields.Next(&field));
  }
}

}  // namespace
}  // namespace gpuprof::tracer::jax
