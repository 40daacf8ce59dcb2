// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Words for codes and quantities: stable spellings, none twice, none for codes that do not exist.

#include "analysis/model/names.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analysis/base/units.h"
#include "analysis/model/trace.h"
#include "proto/matrix_ops.h"
#include "proto/record.h"
#include "proto/schema.h"
#include "proto/trace.pb.h"

namespace gpuprof::analysis {
namespace {

using Namer = std::string_view (*)(uint32_t);

// How many of the codes [0, 512) have a name; fails where two share one.
size_t CountNames(Namer namer) {
  std::set<std::string> names;
  size_t count = 0;
  for (uint32_t code = 0; code < 512; ++code) {
    if (namer(code).empty()) continue;
    ++count;
    names.insert(std::string(namer(code)));
  }
  EXPECT_EQ(names.size(), count);
  return count;
}

TEST(Names, EachCodeHasItsOwn) {
  EXPECT_EQ(CountNames(HeapFunctionName), 12u);
  EXPECT_EQ(CountNames(WaitKindName), 13u);
  EXPECT_EQ(CountNames(ThreadEventName), 4u);
  EXPECT_EQ(CountNames(ProcessEventName), 5u);
  EXPECT_EQ(CountNames(ExitWayName), 12u);
  EXPECT_EQ(CountNames(OpScopeName), 5u);
  EXPECT_EQ(CountNames(MapEventName), 4u);
  EXPECT_EQ(CountNames(HeapModeName), 3u);
  EXPECT_EQ(CountNames(SourceName), 9u);
}

TEST(Names, EveryMatrixInstructionHasOne) {
  std::set<std::string> names;
  for (uint32_t op = 1; op <= proto::kLastMatrixOp; ++op) {
    const std::string name = MatrixOpsText(proto::kCodeLookedAt | 1u << op, ",");
    EXPECT_TRUE(name.ends_with("MMA")) << name;
    names.insert(name);
  }
  EXPECT_EQ(names.size(), proto::kLastMatrixOp);
  EXPECT_EQ(MatrixOpsText(0b111, ", "), "HMMA, IMMA");
  EXPECT_EQ(MatrixOpsText(1u << 31, ","), "op31") << "of a newer writer";
  EXPECT_EQ(MatrixOpsText(proto::kCodeLookedAt, ","), "");
}

TEST(Names, EveryLossOfTheSchemaHasOne) {
  for (int kind = proto::LossKind_MIN; kind <= proto::LossKind_MAX; ++kind) {
    if (!proto::LossKind_IsValid(kind)) continue;
    EXPECT_NE(LossKindName(static_cast<uint32_t>(kind)), "") << kind;
  }
}

TEST(Names, EveryChunkKindOfTheSchemaHasOne) {
  for (const proto::TableSpec& table : proto::kTables) {
    EXPECT_EQ(ChunkKindName(static_cast<uint32_t>(table.kind)), table.name);
  }
  for (uint32_t kind = 1; kind <= 11; ++kind) EXPECT_NE(ChunkKindName(kind), "");
  EXPECT_EQ(ChunkKindName(13), "counters");
  EXPECT_EQ(ChunkKindName(99), "");
}

TEST(Names, ClocksEventReasons) {
  EXPECT_EQ(ClocksEventReasonName(0x4), "sw_power_cap");
  EXPECT_EQ(ClocksEventReasonName(0x8000), "");
  EXPECT_EQ(ClocksEventReasonName(uint64_t{4} << 32), "");
}

TEST(Names, CounterValuesAreExact) {
  EXPECT_EQ(CounterValueText(71'300, 1000), "71.3");
  EXPECT_EQ(CounterValueText(70'000, 1000), "70");
  EXPECT_EQ(CounterValueText(5, 1000), "0.005");
  EXPECT_EQ(CounterValueText(-2'500, 1000), "-2.5");
  EXPECT_EQ(CounterValueText(-7, 0), "-7");
  EXPECT_EQ(CounterValueText(INT64_MIN, 10), "-922337203685477580.8");
}

TEST(Names, Devices) {
  Process process;
  EXPECT_EQ(DeviceName(process, 0x00ff), "cpu");
  EXPECT_EQ(DeviceName(process, 0x0103), "cuda:3");
  EXPECT_EQ(DeviceName(process, 0x01ff), "cuda");
  EXPECT_EQ(DeviceName(process, 0x6300), "device99:0");
  proto::Device& device = process.devices.emplace_back();
  device.set_id(3);
  device.set_name("TPU v6 Lite");
  EXPECT_EQ(DeviceName(process, 0x0103), "tpu:3");
  EXPECT_EQ(DeviceName(process, 0x0104), "cuda:4");
  device.set_name("AMD GPU");
  EXPECT_EQ(DeviceName(process, 0x0103), "rocm:3");
  device.set_name("AMD Instinct MI300X");
  EXPECT_EQ(DeviceName(process, 0x0103), "cuda:3");
}

TEST(Units, ThreeDigits) {
  EXPECT_EQ(FormatDuration(0), "0 ns");
  EXPECT_EQ(FormatDuration(999), "999 ns");
  EXPECT_EQ(FormatDuration(1500), "1.50 us");
  EXPECT_EQ(FormatDuration(-1500), "-1.50 us");
  EXPECT_EQ(FormatDuration(12'340'000), "12.3 ms");
  EXPECT_EQ(FormatDuration(999'950'000), "1.00 s");
  EXPECT_EQ(FormatDuration(7'200'000'000'000), "7200 s");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.00 KiB");
  EXPECT_EQ(FormatBytes(12'900'000), "12.3 MiB");
  EXPECT_EQ(FormatCount(4'830'000), "4.83 M");
  EXPECT_EQ(FormatCount(12), "12");
}

}  // namespace
}  // namespace gpuprof::analysis
