// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers, texts, places and ids.

#include <cmath>
#include <thread>

#include "tests/unit/analysis/read/payload_test_util.h"

namespace gpuprof::inject::ranges {
void CountNameLost() noexcept {}
}  // namespace gpuprof::inject::ranges

namespace gpuprof::analysis {
namespace {

struct Collective {
  uint64_t comm;
  size_t bytes;
  int root;
  int op;
};

TEST_F(NvtxPayloads, AsNcclHasThem) {
  const uint64_t op = DefineNames({{"Sum", 0, 0}, {"Min", 3, 0}}, sizeof(int));
  const uint64_t schema = Define(
      {Entry(kUint64, "comm", offsetof(Collective, comm)),
       Entry(kSize, "bytes", offsetof(Collective, bytes)),
       Entry(kInt, "root", offsetof(Collective, root)), Entry(op, "op", offsetof(Collective, op))},
      sizeof(Collective));
  Collective payload = {~uint64_t{0}, 1 << 20, -1, 3};
  EXPECT_EQ(
      Decode({{schema, sizeof payload, Put(&payload, sizeof payload)}}),
      (Found{
          {"comm", "18446744073709551615"}, {"bytes", "1048576"}, {"root", "-1"}, {"op", "Min"}}));
  EXPECT_EQ(decoded_.lost, 0u);
  payload.op = -7;
  EXPECT_EQ(Decode({{schema, kUnknownSize, Put(&payload, sizeof payload)}})["op"], "-7")
      << "a number without a name, and a size that the schema tells";
}

TEST_F(NvtxPayloads, PlacesThatACompilerWouldChoose) {
  struct Natural {
    char a;
    double b;
    short c;
    float d;
    unsigned char e;
    void* f;
  } const natural = {-1, 0.5, -300, 1.25f, 200, reinterpret_cast<void*>(0x1234)};
  const std::vector<RegisteredEntry> entries = {Entry(kChar, "a"),  Entry(kDouble, "b"),
                                                Entry(kShort, "c"), Entry(kFloat, "d"),
                                                Entry(kUint8, "e"), Entry(kAddress, "f")};
  const Found expected = {{"a", "-1"},       {"b", "0.500000"}, {"c", "-300"},
                          {"d", "1.250000"}, {"e", "200"},      {"f", "@4660"}};
  const uint64_t schema = Define(entries);
  EXPECT_EQ(Decode({{schema, sizeof natural, Put(&natural, sizeof natural)}}), expected);
  EXPECT_EQ(ranges::HeaderOf(*ranges::FindDefinition(nullptr, schema)).bytes, sizeof natural);
  struct [[gnu::packed]] Packed {
    char a;
    double b;
    short c;
    float d;
    unsigned char e;
    void* f;
  } const packed = {-1, 0.5, -300, 1.25f, 200, reinterpret_cast<void*>(0x1234)};
  EXPECT_EQ(
      Decode({{Define(entries, 0, kStaticSchema, 1), sizeof packed, Put(&packed, sizeof packed)}}),
      expected);
}

TEST_F(NvtxPayloads, NothingIsReadOutsideOfThePayload) {
  const uint64_t schema = Define(
      {Entry(kUint64, "first"), Entry(kUint64, "second", 8), Entry(kUint64, "far", 1 << 19)}, 16);
  const uint64_t bytes[2] = {11, 22};
  for (const size_t size : {size_t{1}, size_t{7}, size_t{8}, size_t{15}, size_t{16}}) {
    const Found found = Decode({{schema, size, Put(bytes, size)}});
    EXPECT_EQ(found.count("first"), size >= 8 ? 1u : 0u) << size;
    EXPECT_EQ(found.count("second"), size >= 16 ? 1u : 0u) << size;
    EXPECT_EQ(decoded_.lost, 3 - found.size()) << size;
  }
  Decode({{schema, 1 << 20, Put(bytes, 16)}});
  EXPECT_EQ(decoded_.values.size(), 2u) << "the schema's size counts where the event's is larger";
  Decode({{schema, 0, Put(bytes, 16)}, {schema, 16, nullptr}});
  EXPECT_EQ(decoded_.values.size(), 0u);
  EXPECT_EQ(decoded_.lost, 2u);
}

TEST_F(NvtxPayloads, OffsetsThatRunOver) {
  const uint64_t schema =
      Define({Entry(kUint8, "near"), Entry(kUint64, "a", ~uint64_t{0}),
              Entry(kUint64, "b", ~uint64_t{7}), Entry(kUint64, "c", uint64_t{1} << 32)});
  const char byte = 5;
  EXPECT_EQ(Decode({{schema, 1, Put(&byte, 1)}}), (Found{{"near", "5"}}));
  EXPECT_EQ(decoded_.lost, 3u);
}

TEST_F(NvtxPayloads, Texts) {
  const uint64_t schema = Define({Entry(kCString, "fixed", 0, 0, 4),
                                  Entry(kCStringUtf8, "rest", 4, uint64_t{kZeroTerminated} << 4)},
                                 0, kDynamicSchema);
  EXPECT_EQ(Decode({{schema, 8, Put("ab\0xend", 8)}}), (Found{{"fixed", "ab"}, {"rest", "end"}}));
  EXPECT_EQ(Decode({{schema, 7, Put("abcdend", 7)}}), (Found{{"fixed", "abcd"}, {"rest", "end"}}))
      << "without a zero it ends with the payload";
  EXPECT_EQ(Decode({{schema, 5, Put("\0\0\0\0", 5)}}), (Found{{"fixed", ""}, {"rest", ""}}));
  const std::string longer(3000, 'x');
  EXPECT_EQ(Decode({{kCString, 3000, Put(longer.data(), 3000)}})["payload"].size(),
            proto::kMostNameBytes);
  EXPECT_EQ(Decode({{kCString, kUnknownSize, Put("no size", 8)}}), (Found{{"payload", "no size"}}));
  ranges::Text* registered = ranges::Intern(ranges::Ascii("registered"));
  const uint64_t handles = Define({Entry(kRegisteredString, "handle")});
  EXPECT_EQ(Decode({{handles, 8, Put(&registered, 8)}}), (Found{{"handle", "registered"}}));
  for (const uint64_t wild : {reinterpret_cast<uint64_t>(registered) + 8, uint64_t{1},
                              reinterpret_cast<uint64_t>(registered) + 1, ~uint64_t{0}}) {
    EXPECT_TRUE(Decode({{handles, 8, Put(&wild, 8)}}).empty()) << wild;
    EXPECT_EQ(decoded_.lost, 1u);
  }
}

TEST_F(NvtxPayloads, HalfNumbers) {
  const uint64_t schema = Define({Entry(kFloat16, "half"), Entry(kBrainFloat16, "brain")});
  const auto read = [&](uint16_t half, uint16_t brain) {
    const uint16_t payload[] = {half, brain};
    Decode({{schema, sizeof payload, Put(payload, sizeof payload)}});
    std::vector<double> values(2);
    for (size_t i = 0; i < decoded_.values.size(); ++i) {
      EXPECT_EQ(decoded_.values[i].type, RangeValue::kDouble);
      std::memcpy(&values[i], &decoded_.values[i].bits, sizeof(double));
    }
    return values;
  };
  using Two = std::vector<double>;
  EXPECT_EQ(read(0x3c00, 0x3f80), (Two{1, 1}));
  EXPECT_EQ(read(0xc500, 0xc0a0), (Two{-5, -5}));
  EXPECT_EQ(read(0x7bff, 0x4120), (Two{65504, 10}));
  EXPECT_EQ(read(0x0400, 0x0080), (Two{0x1p-14, 0x1p-126})) << "the smallest that are normal";
  EXPECT_EQ(read(0x0001, 0x0001), (Two{0x1p-24, 0x1p-133})) << "and the smallest";
  EXPECT_EQ(read(0x83ff, 0x0000), (Two{-1023 * 0x1p-24, 0}));
  EXPECT_EQ(read(0x8000, 0x8000), (Two{-0.0, -0.0}));
  EXPECT_TRUE(std::signbit(read(0x8000, 0x8000)[0]));
  EXPECT_EQ(read(0x7c00, 0xff80), (Two{INFINITY, -INFINITY}));
  EXPECT_TRUE(std::isnan(read(0x7e00, 0x7fc0)[0]));
  EXPECT_TRUE(std::isnan(read(0x7e00, 0x7fc0)[1]));
  EXPECT_EQ(Decode({{kFloat16, kUnknownSize, Put("\0\x3c", 2)}}), (Found{{"payload", "1.000000"}}));
}

TEST_F(NvtxPayloads, TextsOfWiderCharacters) {
  constexpr uint64_t kTerminated = uint64_t{kZeroTerminated} << 4;
  constexpr uint64_t kArray = uint64_t{kFixedSize} << 4;
  const auto decode = [&](uint64_t schema, const auto& text, size_t bytes) {
    return Decode({{schema, bytes, Put(text, bytes)}})["t"];
  };
  const uint64_t rest16 = Define({Entry(kCStringUtf16, "t", 0, kTerminated)}, 0, kDynamicSchema);
  const uint64_t rest32 = Define({Entry(kCStringUtf32, "t", 0, kTerminated)}, 0, kDynamicSchema);
  const char16_t utf16[] = u"a\u00e9\u20ac\U0001f600";
  const char32_t utf32[] = U"a\u00e9\u20ac\U0001f600";
  const std::string utf8 = "a\u00e9\u20ac\U0001f600";
  EXPECT_EQ(decode(rest16, utf16, sizeof utf16), utf8);
  EXPECT_EQ(decode(rest32, utf32, sizeof utf32), utf8);
  EXPECT_EQ(decode(rest16, utf16, sizeof utf16 - 2), utf8) << "without a zero";
  EXPECT_EQ(decode(rest16, utf16, sizeof utf16 - 4), "a\u00e9\u20ac\ufffd") << "half a character";
  EXPECT_EQ(decode(rest16, utf16, 5), "a\u00e9") << "half a unit";
  EXPECT_EQ(decode(rest32, utf32, 7), "a");
  EXPECT_EQ(decode(rest16, u"\xdc00x\xd800y", 8), "\ufffdx\ufffdy");
  EXPECT_EQ(decode(rest16, u"\xd800\xd800", 4), "\ufffd\ufffd");
  const uint32_t none[] = {0x110000, 'x', 0xd800, ~0u};
  EXPECT_EQ(decode(rest32, none, sizeof none), "\ufffdx\ufffd\ufffd");
  for (const uint64_t type : {uint64_t{kCStringUtf16}, uint64_t{kChar16}}) {
    const uint64_t fixed = Define({Entry(type, "t", 0, kArray, 3), Entry(kUint16, "behind")});
    EXPECT_EQ(decode(fixed,
                     u"ab\0"
                     "c",
                     8),
              "ab");
    EXPECT_EQ(Decode({{fixed, 8, Put(u"abcd", 8)}}), (Found{{"t", "abc"}, {"behind", "100"}}));
    EXPECT_TRUE(Decode({{fixed, 5, Put(u"ab", 5)}}).empty());
  }
  for (const uint64_t type : {uint64_t{kCStringUtf32}, uint64_t{kChar32}, uint64_t{kWideChar}}) {
    const uint64_t fixed = Define({Entry(type, "t", 0, kArray, 2)});
    EXPECT_EQ(decode(fixed, U"\u20acb", 8), "\u20acb");
  }
  const uint64_t narrow = Define({Entry(kChar8, "t", 0, kArray, 2)});
  EXPECT_EQ(decode(narrow, "ab", 2), "ab");
  // By itself, and with more than a text may have: whole characters alone.
  EXPECT_EQ(Decode({{kCStringUtf16, kUnknownSize, Put(utf16, sizeof utf16)}}),
            (Found{{"payload", utf8}}));
  std::u16string longer(2000, u'\u20ac');
  EXPECT_EQ(decode(rest16, longer.data(), 2 * longer.size()).size(), proto::kMostNameBytes / 3 * 3);
}

TEST_F(NvtxPayloads, PointersAreNumbers) {
  const uint64_t schema = Define({Entry(kCString, "text", 0, kEntryPointer), Entry(kInt, "next")});
  struct {
    uint64_t address;
    int next;
  } const payload = {0x10, 3};
  EXPECT_EQ(Decode({{schema, sizeof payload, Put(&payload, sizeof payload)}}),
            (Found{{"text", "@16"}, {"next", "3"}}));
}

TEST_F(NvtxPayloads, MoreThanFit) {
  std::vector<RegisteredEntry> entries;
  for (int i = 0; i < 300; ++i) entries.push_back(Entry(kUint8, "many"));
  const uint64_t schema = Define(entries);
  const char payload[300] = {};
  Decode({{schema, sizeof payload, Put(payload, sizeof payload)}});
  EXPECT_EQ(decoded_.values.size(), kMostEventValues);
  EXPECT_EQ(decoded_.lost, 300 - kMostEventValues);
  Decode(std::vector<PayloadData>(200, PayloadData{kUint8, 1, Put(payload, 1)}));
  EXPECT_EQ(decoded_.values.size(), ranges::Payloads::kMost);
  EXPECT_EQ(decoded_.lost, 1u);
}

TEST_F(NvtxPayloads, UnknownSchemasAndDomainsOfTheirOwn) {
  ranges::Text* mine = ranges::Intern(ranges::Ascii("a domain of mine"));
  ranges::Text* yours = ranges::Intern(ranges::Ascii("a domain of yours"));
  const uint64_t id = kFirstSchemaId + 5;
  EXPECT_EQ(Define({Entry(kUint8, "mine")}, 0, kStaticSchema, 0, id, mine), id);
  EXPECT_EQ(Define({Entry(kUint8, "yours")}, 0, kStaticSchema, 0, id, yours), id);
  const char byte = 1;
  const PayloadData payload = {id, 1, Put(&byte, 1)};
  EXPECT_EQ(Decode({payload}, mine), (Found{{"mine", "1"}}));
  EXPECT_EQ(Decode({payload}, yours), (Found{{"yours", "1"}}));
  EXPECT_TRUE(Decode({payload}).empty());
  EXPECT_EQ(decoded_.lost, 1u);
  Define({Entry(kUint8, "mine anew")}, 0, kStaticSchema, 0, id, mine);
  EXPECT_EQ(Decode({payload}, mine), (Found{{"mine anew", "1"}}));
  const PayloadData referenced = {kReferencedPayload, 1, Put(&byte, 1)};
  EXPECT_TRUE(Decode({referenced}).empty());
  EXPECT_EQ(decoded_.lost, 0u) << "it has no value of its own";
  const PayloadData invalid[] = {{0, 1, Put(&byte, 1)}, {999, 1, Put(&byte, 1)}};
  EXPECT_TRUE(Decode({invalid[0], invalid[1]}).empty());
  EXPECT_EQ(decoded_.lost, 2u);
  EXPECT_GE(Define({Entry(kUint8, "any")}, 0, kStaticSchema, 0, 17), kFirstDynamicId)
      << "an id that a program may not choose";
}

TEST_F(NvtxPayloads, AMessageAmongTheValues) {
  const uint64_t schema =
      Define({Entry(kUint32, "number"), Entry(kCString, "message", 4, kEntryMessage, 4)});
  struct {
    uint32_t number;
    char message[4];
  } const payload = {3, {'s', 't', 'e', 'p'}};
  const PayloadData data = {schema, sizeof payload, Put(&payload, sizeof payload)};
  EXPECT_EQ(Decode({data}, nullptr, true), (Found{{"number", "3"}}));
  EXPECT_EQ(decoded_.message, "step");
  EXPECT_EQ(Decode({data}), (Found{{"number", "3"}, {"message", "step"}}));
  EXPECT_EQ(decoded_.message, "");
}

TEST_F(NvtxPayloads, NonsenseDefinesNothing) {
  EXPECT_EQ(DefineSchema(nullptr, nullptr, 0), 0u);
  SchemaAttributes attributes = {};
  attributes.entry_count = 3;
  EXPECT_EQ(DefineSchema(nullptr, &attributes, 0), 0u);
  EnumAttributes names = {};
  EXPECT_EQ(DefineEnum(nullptr, &names, 0), 0u);
  const char byte = 1;
  const uint64_t odd = DefineNames({{"one", 1, 0}}, 3);
  Decode({{odd, 1, Put(&byte, 1)}});
  EXPECT_EQ(decoded_.lost, 1u) << "no enumeration has three bytes";
  const uint64_t itself = kFirstSchemaId + 77;
  for (int i = 0; i < 3; ++i) {
    Define({Entry(kUint8, "a"), Entry(itself, "again")}, 0, kStaticSchema, 0, itself);
  }
  Decode({{itself, 1, Put(&byte, 1)}});
  EXPECT_EQ(decoded_.values.size(), 1u) << "a schema within itself ends";
}

// Last: what it fills up stays full.
TEST_F(NvtxPayloads, ZzzThreadsDefineAtOnceUntilNothingFits) {
  std::vector<std::thread> threads;
  std::vector<std::vector<uint64_t>> ids(4);
  for (auto& mine : ids) {
    threads.emplace_back([&mine] {
      const RegisteredEntry entry = Entry(kUint8, "of a thread");
      SchemaAttributes attributes = {};
      attributes.fields = kSchemaType | kSchemaEntries | kSchemaEntryCount;
      attributes.type = kStaticSchema;
      attributes.entries = &entry;
      attributes.entry_count = 1;
      for (int i = 0; i < 20'000; ++i) mine.push_back(DefineSchema(nullptr, &attributes, 0));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const char byte = 1;
  size_t known = 0;
  for (const auto& mine : ids) {
    for (const uint64_t id : mine) {
      ASSERT_GE(id, kFirstDynamicId);
      Kept(nullptr, id);
      known += ranges::FindDefinition(nullptr, id) != nullptr;
      EXPECT_EQ(Decode({{id, 1, Put(&byte, 1)}}).size() + decoded_.lost, 1u);
    }
  }
  EXPECT_GT(known, 1000u);
  EXPECT_LT(known, 80'000u);
}

}  // namespace
}  // namespace gpuprof::analysis
