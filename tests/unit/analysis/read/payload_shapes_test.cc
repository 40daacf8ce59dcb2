// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Entries that are more than one value: arrays, unions, schemas within schemas, enumerations.

#include "tests/unit/analysis/read/payload_test_util.h"

namespace gpuprof::analysis {
namespace {

TEST_F(NvtxPayloads, WhatIsLeftOutIsCountedAndKeepsItsPlace) {
  constexpr uint64_t kArray = uint64_t{kFixedSize} << 4;
  const uint64_t schema =
      Define({Entry(kUint32, "before"), Entry(kUint128, "wide"), Entry(kTensorFloat32, "narrow"),
              Entry(kLongDouble, "long"), Entry(kInt32, "none", 0, kArray, 0),
              Entry(kInt32, "lost"), Entry(kUint32, "after", 64)});
  uint32_t payload[17] = {7};
  payload[16] = 8;
  EXPECT_EQ(Decode({{schema, sizeof payload, Put(payload, sizeof payload)}}),
            (Found{{"before", "7"}, {"after", "8"}}));
  EXPECT_EQ(decoded_.lost, 5u) << "behind an entry of unknown size nothing can be placed";
}

TEST_F(NvtxPayloads, ArraysOfMoreThanAFewAndOfSchemas) {
  constexpr uint64_t kArray = uint64_t{kFixedSize} << 4;
  const uint64_t inner = Define({Entry(kInt32, "x"), Entry(kInt32, "y")});
  const uint64_t schema = Define({Entry(kUint32, "array", 0, kArray, 12),
                                  Entry(inner, "boxes", 0, kArray, 2), Entry(kUint32, "after")});
  uint32_t payload[17];
  for (uint32_t i = 0; i < 17; ++i) payload[i] = 100 + i;
  const Found found = Decode({{schema, sizeof payload, Put(payload, sizeof payload)}});
  EXPECT_EQ(found.size(), 17u);
  EXPECT_EQ(decoded_.lost, 0u);
  EXPECT_EQ(found.at("array[0]"), "100");
  EXPECT_EQ(found.at("array[11]"), "111");
  EXPECT_EQ(found.at("boxes[0].x"), "112");
  EXPECT_EQ(found.at("boxes[1].y"), "115");
  EXPECT_EQ(found.at("after"), "116");
  EXPECT_EQ(decoded_.values[0].name, "after") << "elements come behind all others";
}

TEST_F(NvtxPayloads, UnionsHoldTheMemberThatAnEntrySays) {
  const uint64_t point = Define({Entry(kInt16, "x"), Entry(kInt16, "y")});
  const uint64_t either =
      Define({Entry(kInt32, "i"), Entry(kFloat, "f"), Entry(point, "point")}, 0, kUnion);
  EXPECT_EQ(ranges::HeaderOf(*ranges::FindDefinition(nullptr, either)).bytes, 4u);
  const uint64_t schema =
      Define({Entry(kUint8, "which"), Entry(either, "value", 0, 0, 0), Entry(kUint8, "after")});
  struct {
    uint8_t which;
    float value;
    uint8_t after;
  } payload = {1, 0.5f, 9};
  const auto decode = [&] { return Decode({{schema, sizeof payload, Put(&payload, 9)}}); };
  EXPECT_EQ(decode(), (Found{{"which", "1"}, {"value.f", "0.500000"}, {"after", "9"}}));
  EXPECT_EQ(decoded_.lost, 0u);
  payload.which = 0;
  EXPECT_EQ(decode()["value.i"], std::to_string(0x3f000000));
  payload.which = 2;
  EXPECT_EQ(decode(), (Found{{"which", "2"},
                             {"value.point.x", "0"},
                             {"value.point.y", std::to_string(0x3f00)},
                             {"after", "9"}}));
  payload.which = 3;
  EXPECT_EQ(decode(), (Found{{"which", "3"}, {"after", "9"}})) << "there is no such member";
  EXPECT_EQ(decoded_.lost, 1u);
  // No entry selects the member.
  EXPECT_TRUE(Decode({{either, 4, Put(&payload, 4)}}).empty());
  EXPECT_EQ(decoded_.lost, 1u);
  const uint64_t wild = Define({Entry(kUint8, "which"), Entry(either, "value", 0, 0, 77)});
  EXPECT_EQ(Decode({{wild, 8, Put(&payload, 8)}}), (Found{{"which", "3"}}));
  EXPECT_EQ(decoded_.lost, 1u);
}

TEST_F(NvtxPayloads, LengthsInThePayload) {
  constexpr uint64_t kLength = uint64_t{kLengthInEntry} << 4;
  constexpr uint64_t kZero = uint64_t{kZeroTerminated} << 4;
  const uint64_t schema = Define(
      {Entry(kUint16, "count"), Entry(kUint16, "numbers", 0, kLength, 0), Entry(kUint8, "letters"),
       Entry(kCString, "text", 0, kLength, 2), Entry(kUint8, "codes", 0, kZero),
       Entry(kCString, "rest", 0, kZero), Entry(kUint8, "last")},
      0, kDynamicSchema);
  const char payload[] =
      "\x02\x00\x05\x00\x06\x00\x03"
      "abc"
      "\x07\x08\x00"
      "end\x00\x09";
  EXPECT_EQ(Decode({{schema, sizeof payload - 1, Put(payload, sizeof payload - 1)}}),
            (Found{{"count", "2"},
                   {"numbers[0]", "5"},
                   {"numbers[1]", "6"},
                   {"letters", "3"},
                   {"text", "abc"},
                   {"codes[0]", "7"},
                   {"codes[1]", "8"},
                   {"rest", "end"},
                   {"last", "9"}}));
  EXPECT_EQ(decoded_.lost, 0u);
  const char cut[] = "\x09\x00\x05\x00";
  EXPECT_EQ(Decode({{schema, 4, Put(cut, 4)}}), (Found{{"count", "9"}, {"numbers[0]", "5"}}));
  EXPECT_EQ(decoded_.lost, 8u + 5u) << "elements, and the entries behind them";
}

TEST_F(NvtxPayloads, EnumerationsOfFlagsAndThoseThatComeLater) {
  const uint64_t later = kFirstSchemaId + 901;
  const uint64_t schema = Define({Entry(later, "mode"), Entry(kUint8, "after", 4)});
  const struct {
    uint32_t mode;
    uint8_t after;
  } payload = {6, 1};
  const PayloadData data = {schema, 5, Put(&payload, 5)};
  EXPECT_EQ(Decode({data}), (Found{{"after", "1"}})) << "it is not known yet";
  DefineNames({{"read", 1, 1}, {"write", 2, 1}, {"run", 4, 1}, {"none", 0, 0}}, 4, later);
  EXPECT_EQ(Decode({data}), (Found{{"mode", "write | run"}, {"after", "1"}}));
  const uint32_t modes[] = {0, 8, 1};
  EXPECT_EQ(Decode({{later, 4, Put(&modes[0], 4)}}), (Found{{"payload", "none"}}));
  EXPECT_EQ(Decode({{later, 4, Put(&modes[1], 4)}}), (Found{{"payload", "8"}}));
  EXPECT_EQ(Decode({{later, 4, Put(&modes[2], 4)}}), (Found{{"payload", "read"}}));
}

TEST_F(NvtxPayloads, DefinitionsThatAreTooLong) {
  std::vector<RegisteredEntry> entries;
  for (int i = 0; i < 1000; ++i) entries.push_back(Entry(kUint8, "with a name"));
  const uint64_t schema = Define(entries);
  const char payload[1000] = {};
  Decode({{schema, sizeof payload, Put(payload, sizeof payload)}});
  EXPECT_EQ(decoded_.values.size() + decoded_.lost, 1000u);
  EXPECT_GT(decoded_.values.size(), 200u);
  std::vector<EnumEntry> names;
  for (uint64_t i = 0; i < 1000; ++i) names.push_back({"a value", i, 0});
  const uint64_t named = DefineNames(names, 2);
  const uint16_t numbers[] = {5, 999};
  EXPECT_EQ(Decode({{named, 2, Put(&numbers[0], 2)}}), (Found{{"payload", "a value"}}));
  EXPECT_EQ(Decode({{named, 2, Put(&numbers[1], 2)}}), (Found{{"payload", "999"}}));
}

TEST_F(NvtxPayloads, ElementsOfShortArrays) {
  constexpr uint64_t kArray = uint64_t{kFixedSize} << 4;
  const uint64_t color = DefineNames({{"red", 1, 0}}, 1);
  const uint64_t schema =
      Define({Entry(kInt16, "shape", 0, kArray, 3), Entry(color, "colors", 0, kArray, 2),
              Entry(kUint8, "none", 0, kArray, 0), Entry(kUint16, "last", 8)});
  struct {
    int16_t shape[3];
    uint8_t colors[2];
    uint16_t last;
  } const payload = {{1, -2, 3}, {1, 4}, 5};
  EXPECT_EQ(Decode({{schema, sizeof payload, Put(&payload, sizeof payload)}}),
            (Found{{"shape[0]", "1"},
                   {"shape[1]", "-2"},
                   {"shape[2]", "3"},
                   {"colors[0]", "red"},
                   {"colors[1]", "4"},
                   {"last", "5"}}));
  EXPECT_EQ(decoded_.lost, 1u);
  EXPECT_EQ(decoded_.values[0].name, "last") << "elements come behind all others";
  EXPECT_EQ(Decode({{schema, 5, Put(&payload, 5)}}), (Found{{"shape[0]", "1"}, {"shape[1]", "-2"}}))
      << "the payload ends within an element";
  EXPECT_EQ(decoded_.lost, 5u);
  const uint64_t outer = Define({Entry(schema, "outer"), Entry(kFloat, nullptr, 12, kArray, 1)});
  struct {
    char bytes[12];
    float only;
  } whole = {};
  std::memcpy(whole.bytes, &payload, sizeof payload);
  whole.only = 0.25f;
  Found found = Decode({{outer, sizeof whole, Put(&whole, sizeof whole)}});
  EXPECT_EQ(found["outer.shape[2]"], "3");
  EXPECT_EQ(found["[0]"], "0.250000");
}

TEST_F(NvtxPayloads, ElementsTakeNoPlaceOfOthers) {
  constexpr uint64_t kArray = uint64_t{kFixedSize} << 4;
  std::vector<RegisteredEntry> entries;
  for (int i = 0; i < 3; ++i) entries.push_back(Entry(kUint8, "array", 0, kArray, 100));
  entries.push_back(Entry(kUint8, "single"));
  const uint64_t schema = Define(entries);
  const char payload[301] = {};
  EXPECT_EQ(Decode({{schema, sizeof payload, Put(payload, sizeof payload)}}).count("single"), 1u);
  EXPECT_EQ(decoded_.values.size(), kMostEventValues);
  EXPECT_EQ(decoded_.lost, sizeof payload - kMostEventValues);
}

TEST_F(NvtxPayloads, SchemasWithinSchemas) {
  const uint64_t inner = Define({Entry(kInt32, "x"), Entry(kInt32, "y")});
  const uint64_t middle = Define({Entry(kUint8, "tag"), Entry(inner, "at")});
  const uint64_t outer =
      Define({Entry(middle, "box"), Entry(inner, nullptr), Entry(kUint8, "end")});
  struct {
    uint8_t tag;
    int32_t x, y, u, v;
    uint8_t end;
  } const payload = {1, 2, 3, 4, 5, 6};
  Decode({{outer, sizeof payload, Put(&payload, sizeof payload)}});
  std::vector<std::string> names;
  for (const PayloadValue& value : decoded_.values) {
    names.push_back(value.name);
    EXPECT_EQ(value.bits, names.size()) << names.back();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"box.tag", "box.at.x", "box.at.y", "x", "y", "end"}));
}

}  // namespace
}  // namespace gpuprof::analysis
