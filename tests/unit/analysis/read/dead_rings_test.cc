// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ring files beside the traces: of the dead they are merged or told of, of the living they are left
// alone.

#include "analysis/read/dead_rings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "analysis/analysis.h"
#include "proto/contract.h"
#include "tests/unit/analysis/read/trace_maker.h"
#include "tests/unit/codec/codec_test_util.h"

namespace gpuprof::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;

class DeadRingsTest : public testing::Test {
 protected:
  // A trace with one op, and a ring file that nobody can make sense of.
  void Make(int32_t pid, uint64_t start_id, const std::string& host) {
    TraceMaker maker(directory_.path(), pid, start_id);
    proto::Meta meta = maker.Identity(1);
    meta.set_host(host);
    maker.Meta(meta);
    maker.Clock(0, kSecond, kWall);
    maker.Strings({{2, "op"}});
    maker.Op(1, 1000, 10, 2);
    maker.Flush();
    maker.Close();
    ring_ = maker.path().substr(0, maker.path().size() - 4) + proto::kRingSuffix;
    WriteText(ring_, "no ring");
  }

  void MakeDead(const std::string& host) {
    const std::string stem = codec::DeadStem();
    Stem parsed;
    ASSERT_TRUE(ParseStem(stem, &parsed));
    Make(parsed.pid, parsed.start_id, host);
  }

  std::shared_ptr<const Trace> MustOpen(bool recover) {
    OpenOptions options;
    options.recover = recover;
    std::shared_ptr<const Trace> trace;
    const Error error = Open(directory_.path(), options, &trace);
    EXPECT_FALSE(error) << error.message;
    return trace;
  }

  static std::string ThisHost() {
    char name[256] = {};
    gethostname(name, sizeof(name) - 1);
    return name;
  }

  TemporaryDirectory directory_;
  std::string ring_;
};

TEST_F(DeadRingsTest, RecordsOfTheDeadAreMerged) {
  const std::string stem = codec::DeadStem();
  {
    codec::FakeProcess process(directory_.File(stem), 1, 1024);
    Stem parsed;
    ASSERT_TRUE(ParseStem(stem, &parsed));
    process.header().pid = parsed.pid;
    process.header().start_id = parsed.start_id;
    codec::WriteGroup(process.ring(0), codec::StringRecord(2, "aten::mm"));
    for (uint64_t i = 1; i <= 10; ++i) {
      ASSERT_TRUE(proto::RingWrite(process.ring(0), codec::OpRecord(5000 + 100 * i, 50, 2, 0)));
    }
  }
  const auto trace = MustOpen(true);
  EXPECT_THAT(trace->faults, IsEmpty());
  ASSERT_THAT(trace->processes, SizeIs(1));
  const Process& process = trace->processes[0];
  EXPECT_TRUE(process.recovered);
  EXPECT_FALSE(process.alive);
  ASSERT_THAT(process.tracks, SizeIs(1));
  EXPECT_EQ(process.tracks[0].op.rows(), 10u);
  EXPECT_EQ(process.String(2), "aten::mm");
  EXPECT_FALSE(std::filesystem::exists(directory_.File(stem + proto::kRingSuffix)));
  EXPECT_TRUE(Verify(directory_.path()).ok) << Verify(directory_.path()).text;
}

TEST_F(DeadRingsTest, OneRingAmongOneFileIsMergedToo) {
  const std::string stem = codec::DeadStem();
  {
    codec::FakeProcess process(directory_.File(stem), 1, 1024);
    ASSERT_TRUE(proto::RingWrite(process.ring(0), codec::HeapRecord(5000, 0x1000, 64)));
  }
  ASSERT_THAT(MustOpen(true)->processes, SizeIs(1));
  std::shared_ptr<const Trace> trace;
  EXPECT_FALSE(Open(directory_.File(stem + proto::kTraceSuffix), {}, &trace));
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->processes[0].tracks[0].heap.rows(), 1u);
}

TEST_F(DeadRingsTest, NothingIsWrittenWithoutRecovery) {
  MakeDead(ThisHost());
  const auto trace = MustOpen(false);
  EXPECT_THAT(trace->processes, SizeIs(1));
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_THAT(trace->faults[0].what, HasSubstr("1 ring file of a dead process not merged"));
  EXPECT_EQ(ReadText(ring_), "no ring");
}

TEST_F(DeadRingsTest, DamagedRingIsAFaultAndTheTraceIsRead) {
  MakeDead(ThisHost());
  const auto trace = MustOpen(true);
  ASSERT_THAT(trace->processes, SizeIs(1));
  EXPECT_EQ(trace->processes[0].tracks[0].op.rows(), 1u);
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_THAT(trace->faults[0].what, HasSubstr("not merged"));
}

TEST_F(DeadRingsTest, CutRingFileIsToldForEver) {
  const std::string stem = codec::DeadStem();
  const std::string ring = directory_.File(stem + proto::kRingSuffix);
  {
    codec::FakeProcess process(directory_.File(stem), 2, 1024);
    Stem parsed;
    ASSERT_TRUE(ParseStem(stem, &parsed));
    process.header().pid = parsed.pid;
    process.header().start_id = parsed.start_id;
    ASSERT_TRUE(proto::RingWrite(process.ring(0), codec::HeapRecord(5000, 0x1000, 64)));
    ASSERT_TRUE(proto::RingWrite(process.ring(1), codec::HeapRecord(5000, 0x2000, 64)));
  }
  EXPECT_TRUE(Verify(directory_.path()).ok) << Verify(directory_.path()).text;
  std::filesystem::resize_file(ring, std::filesystem::file_size(ring) - proto::kPageBytes);
  const VerifyReport before = Verify(directory_.path());
  EXPECT_FALSE(before.ok);
  EXPECT_THAT(before.text, HasSubstr("the last records of 1 thread cannot be read"));
  EXPECT_TRUE(std::filesystem::exists(ring)) << "verify changes nothing";
  // Once merged the ring file is gone, the fault is not.
  for (int i = 0; i < 2; ++i) {
    const auto trace = MustOpen(true);
    EXPECT_FALSE(std::filesystem::exists(ring));
    ASSERT_THAT(trace->processes, SizeIs(1));
    EXPECT_EQ(trace->processes[0].rows, 1u);
    ASSERT_THAT(trace->faults, SizeIs(1));
    EXPECT_THAT(trace->faults[0].what, HasSubstr("the last records of 1 thread are missing"));
    EXPECT_THAT(DescribeText(*trace), HasSubstr("lost        the last records of 1 thread\n"));
  }
  const VerifyReport after = Verify(directory_.path());
  EXPECT_FALSE(after.ok);
  EXPECT_THAT(after.text, HasSubstr("the last records of 1 thread are missing"));
}

TEST_F(DeadRingsTest, TheLivingAreLeftAlone) {
  const codec::TempFolder folder;
  codec::CarryObject(folder);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Make(getpid(),
       static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count()),
       ThisHost());
  const auto trace = MustOpen(true);
  EXPECT_THAT(trace->faults, IsEmpty());
  ASSERT_THAT(trace->processes, SizeIs(1));
  EXPECT_TRUE(trace->processes[0].alive);
  EXPECT_EQ(ReadText(ring_), "no ring");
}

TEST_F(DeadRingsTest, OtherMachinesProcessesAreNotTakenForDead) {
  MakeDead("some-other-machine");
  const auto trace = MustOpen(true);
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_THAT(trace->faults[0].what, HasSubstr("some-other-machine"));
  EXPECT_EQ(ReadText(ring_), "no ring");
  // Once the command has ended there, what is left is merged anywhere.
  proto::Bundle manifest;
  manifest.set_host("some-other-machine");
  manifest.set_ended_realtime_ns(kWall);
  WriteManifest(directory_.path(), manifest);
  const auto ended = MustOpen(true);
  ASSERT_THAT(ended->faults, SizeIs(1)) << "a damaged ring, tried";
  EXPECT_THAT(ended->faults[0].what, testing::Not(HasSubstr("some-other-machine")));
}

}  // namespace
}  // namespace gpuprof::analysis
