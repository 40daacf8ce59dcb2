// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Payloads find their ranges, and rows that a damaged or hostile file has do no harm.

#include "analysis/read/range_payloads.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "analysis/model/trace.h"
#include "proto/nvtx_payload.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

namespace nvtx = proto::nvtx;
using proto::RangeKind;

constexpr uint64_t kId = nvtx::kFirstSchemaId + 7;

// As "name=value" of each value, in the order of the rows.
using Values = std::vector<std::string>;

// Track 0 is of thread 100, track 1 of thread 200.
class RangePayloadsTest : public testing::Test {
 protected:
  RangePayloadsTest() {
    process_.tracks.resize(2);
    process_.tracks[0].tid = 100;
    process_.tracks[1].tid = 200;
  }

  void Range(size_t track, int64_t start, int64_t end, RangeKind kind = RangeKind::kPushPop,
             uint32_t depth = 0, int32_t begin_tid = 0, uint32_t name = 0, uint32_t domain = 0) {
    RangeTable& table = process_.tracks[track].range;
    table.end_ns.push_back(end);
    table.duration_ns.push_back(end - start);
    table.name.push_back(name);
    table.operation.push_back(static_cast<uint32_t>(kind) | depth << 16);
    table.domain.push_back(domain);
    table.style.push_back(0);
    table.payload.push_back(0);
    table.begin_thread.push_back(begin_tid);
  }

  void Row(size_t track, int64_t time, uint32_t operation, uint32_t definition, uint64_t value,
           uint32_t domain = 0) {
    RangePayloadTable& table = process_.tracks[track].range_payload;
    table.time_ns.push_back(time);
    table.operation.push_back(operation);
    table.domain.push_back(domain);
    table.definition.push_back(definition);
    table.value.push_back(value);
  }

  // A payload of whole words.
  void Payload(size_t track, int64_t time, uint32_t definition, const std::vector<uint64_t>& words,
               RangeKind kind = RangeKind::kPushPop, bool is_end = false, bool is_first = true,
               uint32_t depth = 0, uint32_t handles = 0, uint32_t unused = 0) {
    Row(track, time, proto::PayloadOperation(kind, is_end, unused, handles, is_first) | depth << 16,
        definition, words.size() * 8);
    for (const uint64_t word : words) Row(track, time, 0, 0, word);
  }

  // A schema of these entries as string `id`.
  void Define(uint32_t id, const std::vector<std::pair<std::string, uint64_t>>& entries,
              uint64_t schema = kId, uint32_t bytes = 0) {
    nvtx::DefinitionHeader header = {};
    header.type = nvtx::kStaticSchema;
    header.id = schema;
    header.align = 1;
    header.bytes = bytes;
    header.count = header.kept = static_cast<uint32_t>(entries.size());
    std::string text(sizeof header, '\0');
    std::memcpy(text.data(), &header, sizeof header);
    for (const auto& [name, type] : entries) {
      text.push_back('\0');
      for (uint64_t left = type; left != 0; left >>= 7)
        text.push_back(static_cast<char>((left & 0x7f) | (left >= 0x80 ? 0x80 : 0)));
      text.append(2, '\0');
      text += name + '\0';
    }
    process_.strings[id] = text;
  }

  Values Read(size_t track = 0) {
    ReadRangePayloads(&process_);
    Values found;
    const RangeValueTable& table = process_.tracks[track].range_value;
    for (size_t i = 0; i < table.rows(); ++i) {
      const bool is_text = RangeValueOf(table.operation[i]) == RangeValue::kText;
      found.push_back(process_.String(table.name[i]) + "=" +
                      (is_text ? process_.String(static_cast<uint32_t>(table.value[i]))
                               : std::to_string(table.value[i])));
      EXPECT_EQ(RangeValuePlaceOf(table.operation[i]), i % 256);
    }
    EXPECT_EQ(process_.tracks[track].range_payload.rows(), 0u);
    return found;
  }
  uint64_t Lost() const {
    for (const auto& loss : process_.health.loss()) {
      if (loss.kind() == proto::LOSS_RANGE_VALUE) return loss.count();
    }
    return 0;
  }

  Process process_;
};

TEST_F(RangePayloadsTest, OfTheBeginAndOfTheEnd) {
  Payload(0, 1000, nvtx::kUint64, {7});
  Payload(0, 2000, nvtx::kUint64, {8}, RangeKind::kPushPop, true);
  Range(0, 1000, 2000);
  EXPECT_EQ(Read(), (Values{"payload=7", "payload=8"}));
  EXPECT_EQ(Lost(), 0u);
}

TEST_F(RangePayloadsTest, EachFindsItsOwnRange) {
  Payload(0, 1000, nvtx::kUint64, {1});
  Payload(0, 1100, nvtx::kUint64, {2}, RangeKind::kPushPop, false, true, 1);
  Payload(0, 5000, nvtx::kUint64, {3});  // its range is not there
  Range(0, 1100, 1200, RangeKind::kPushPop, 1);
  Range(0, 1000, 1300);
  Range(0, 1000, 1000, RangeKind::kMark);
  ReadRangePayloads(&process_);
  const RangeValueTable& values = process_.tracks[0].range_value;
  ASSERT_EQ(values.rows(), 2u);
  EXPECT_EQ(values.end_ns[0], 1200);
  EXPECT_EQ(values.value[0], 2u);
  EXPECT_EQ(values.end_ns[1], 1300);
  EXPECT_EQ(values.value[1], 1u);
}

TEST_F(RangePayloadsTest, OfARangeThatAnotherThreadEnds) {
  Payload(0, 1000, nvtx::kUint64, {1}, RangeKind::kStartEnd);
  Payload(1, 2000, nvtx::kUint64, {2}, RangeKind::kStartEnd, true);
  Range(1, 1000, 2000, RangeKind::kStartEnd, 0, 100);
  EXPECT_EQ(Read(1), (Values{"payload=1", "payload=2"}));
}

TEST_F(RangePayloadsTest, MarksOfOneMomentTakeTheirsInOrder) {
  Payload(0, 1000, nvtx::kUint64, {1}, RangeKind::kMark);
  Payload(0, 1000, nvtx::kUint64, {2}, RangeKind::kMark, false, false);
  Payload(0, 1000, nvtx::kUint64, {3}, RangeKind::kMark);
  Range(0, 1000, 1000, RangeKind::kMark);
  Range(0, 1000, 1000, RangeKind::kMark);
  ReadRangePayloads(&process_);
  const RangeValueTable& values = process_.tracks[0].range_value;
  ASSERT_EQ(values.rows(), 3u);
  EXPECT_EQ(RangeValuePlaceOf(values.operation[1]), 1);
  EXPECT_EQ(RangeValuePlaceOf(values.operation[2]), 0) << "it is of the second mark";
}

TEST_F(RangePayloadsTest, HandlesAndBytesThatAreNotUsed) {
  process_.strings[0x20000009] = "registered";
  Define(0x20000005, {{"text", nvtx::kRegisteredString}, {"small", nvtx::kUint32}});
  Payload(0, 1000, 0x20000005, {0xabc, 5, 0xabc, 0x20000009}, RangeKind::kPushPop, false, true, 0,
          1, 4);
  Range(0, 1000, 2000);
  EXPECT_EQ(Read(), (Values{"text=registered", "small=5"}));
}

TEST_F(RangePayloadsTest, AMessageBecomesTheName) {
  Payload(0, 1000, nvtx::kCString, {0x70657473});
  Payload(0, 3000, nvtx::kCString, {0x70657473});
  process_.strings[9] = "own";
  Range(0, 1000, 2000);
  Range(0, 3000, 4000, RangeKind::kPushPop, 0, 0, 9);
  EXPECT_EQ(Read(), (Values{"payload=step"}));
  EXPECT_EQ(process_.String(process_.tracks[0].range.name[0]), "step");
  EXPECT_EQ(process_.tracks[0].range.name[1], 9u);
}

TEST_F(RangePayloadsTest, PartsThatAreMissing) {
  Row(0, 500, 0, 0, 1);  // goes on from rows that were discarded
  Row(0, 1000, proto::PayloadOperation(RangeKind::kPushPop, false, 0, 0, true), nvtx::kUint64, 16);
  Row(0, 1000, 0, 0, 1);
  Range(0, 1000, 2000);
  Payload(0, 3000, 0x20000077, {1});  // no such definition
  Range(0, 3000, 4000);
  Payload(0, 5000, nvtx::kUint64, {1}, RangeKind::kPushPop, false, true, 0, 100);
  Range(0, 5000, 6000);
  Row(0, 7000, proto::PayloadOperation(RangeKind::kPushPop, false, 7, 0, true), nvtx::kUint8, 0);
  Range(0, 7000, 8000);
  Row(0, 9000, proto::PayloadOperation(RangeKind::kPushPop, false, 0, 0, true), nvtx::kUint8,
      ~uint64_t{0});
  Range(0, 9000, 9500);
  EXPECT_EQ(Read(), Values{});
  EXPECT_EQ(Lost(), 5u);
}

TEST_F(RangePayloadsTest, SchemasWithinThemselvesEnd) {
  std::vector<std::pair<std::string, uint64_t>> entries(100, {"", kId + 1});
  Define(0x20000005, entries, kId);
  for (auto& entry : entries) entry.second = kId;
  Define(0x20000006, entries, kId + 1);
  for (int i = 0; i < 100; ++i) {
    Payload(0, 1000 + i, 0x20000006, {1});
    Range(0, 1000 + i, 2000);
  }
  EXPECT_EQ(Read(), Values{});
  EXPECT_GT(Lost(), 100u);
}

TEST_F(RangePayloadsTest, StringsThatAreAlmostDefinitions) {
  Define(0x20000005, {{"a", nvtx::kUint8}});
  const std::string whole = process_.strings[0x20000005];
  for (size_t i = 0; i < whole.size(); ++i) {
    process_.strings[0x20000100 + static_cast<uint32_t>(i)] = whole.substr(0, i);
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[i] = byte;
      process_
          .strings[static_cast<uint32_t>(0x20001000 + i * 256) + static_cast<unsigned char>(byte)] =
          changed;
    }
  }
  int64_t time = 1000;
  std::vector<uint32_t> ids;
  for (const auto& [id, text] : process_.strings) ids.push_back(id);
  for (const uint32_t id : ids) {
    Payload(0, time, id, {42});
    Range(0, time, time + 1);
    time += 10;
  }
  ReadRangePayloads(&process_);
  EXPECT_GT(process_.tracks[0].range_value.rows(), 10u);
  EXPECT_GT(Lost(), whole.size());
}

}  // namespace
}  // namespace gpuprof::analysis
