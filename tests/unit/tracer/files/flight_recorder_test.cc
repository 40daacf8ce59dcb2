// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The flight recorder where a disk is full, takes no more files or gives back less than it took:
// what is not in the trace is counted, nothing else is missing, and never is there much more than
// was asked for.

#include "tracer/flight_recorder.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "tests/unit/codec/codec_test_util.h"

namespace gpuprof::tracer {
namespace {

using proto::ChunkKind;

constexpr uint64_t kSegmentBytes = 20'000;
constexpr uint64_t kBlockRows = 100;
constexpr int kMany = 400;  // blocks, several times as much as is kept

// A file system of its own, where the machine lets one be mounted.
class Disk {
 public:
  Disk(const std::string& place, const char* options) : place_(place) {
    mkdir(place_.c_str(), 0700);
    is_mounted_ = mount("tmpfs", place_.c_str(), "tmpfs", 0, options) == 0;
  }
  ~Disk() {
    if (is_mounted_) umount2(place_.c_str(), MNT_DETACH);
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  bool is_mounted() const { return is_mounted_; }
  std::string stem() const { return place_ + "/p4711-6a11c0de"; }

 private:
  std::string place_;
  bool is_mounted_ = false;
};

// A folder in which this process may make and remove nothing: root may everywhere, and becomes
// somebody else.
class Locked {
 public:
  explicit Locked(const std::string& folder) : folder_(folder) {
    EXPECT_EQ(chmod(folder_.c_str(), 0), 0);
    EXPECT_EQ(was_root_ ? seteuid(kNobody) : 0, 0);
  }
  ~Locked() {
    EXPECT_EQ(was_root_ ? seteuid(0) : 0, 0);
    EXPECT_EQ(chmod(folder_.c_str(), 0700), 0);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  std::string folder_;
  bool was_root_ = geteuid() == 0;
};

class FlightRecorderTest : public testing::Test {
 protected:
  FlightRecorderTest() {
    std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    EXPECT_TRUE(trace_.Create(path_.c_str(), codec::TestHeader()));
  }
  ~FlightRecorderTest() override { LimitFiles(before_.rlim_cur); }

  // The portable full disk: a file has a name, and no room for as much as a header.
  void LimitFiles(rlim_t bytes) {
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }

  // A block of rows that do not compress.
  bool Write() { return WriteTo(&recorder_); }
  bool WriteTo(FlightRecorder* recorder) {
    for (uint64_t i = 0; i < kBlockRows; ++i) {
      codec::AppendRow(&builder_, {1000 + rows_++, 2, random_(), random_(), 0});
    }
    return recorder->Writer()->WriteEvents(&builder_, 1, rows_);
  }
  // How many of so many blocks found no room.
  int Refused(FlightRecorder* recorder, int blocks) {
    int refused = 0;
    for (int i = 0; i < blocks; ++i) refused += WriteTo(recorder) ? 0 : 1;
    return refused;
  }
  static uint64_t BytesIn(const FlightRecorder& recorder) {
    FileParts files;
    EXPECT_TRUE(recorder.AddTo(&files));
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < files.count; ++i) bytes += files.part[i].bytes;
    return bytes;
  }
  // Until so many segments are there.
  void WriteUntil(uint32_t segments) {
    while (!codec::Exists(PathOf(segments - 1))) ASSERT_TRUE(Write());
  }

  std::string PathOf(uint32_t number) const {
    char path[256];
    EXPECT_TRUE(codec::SegmentPath(stem_.c_str(), number, path, sizeof path));
    return path;
  }
  bool AnySegment() const {
    for (uint32_t i = 0; i < 20; ++i) {
      if (codec::Exists(PathOf(i))) return true;
    }
    return false;
  }

  // Makes the segment's header of a block, about its middle, unreadable.
  void Damage(uint32_t number) {
    std::vector<uint8_t> bytes = codec::ReadBytes(PathOf(number));
    codec::TraceScan scan;
    ASSERT_TRUE(Scan(bytes.data(), bytes.size(), &scan));
    ASSERT_GT(scan.blocks.size(), 3u);
    const codec::BlockRef& block = scan.blocks[scan.blocks.size() / 2];
    bytes[block.offset - sizeof(proto::BlockHeader)] ^= 0xff;
    codec::WriteBytes(PathOf(number), bytes);
  }

  // Ends the trace and reads it: rows in it, and faults.
  uint64_t RowsOfTrace(size_t* faults) {
    EXPECT_TRUE(trace_.WriteEnd({}));
    trace_.Close();
    const std::vector<uint8_t> file = codec::ReadBytes(path_);
    codec::TraceScan scan;
    EXPECT_TRUE(Scan(file.data(), file.size(), &scan));
    *faults = scan.faults.size();
    uint64_t rows = 0;
    for (const codec::BlockRef& block : scan.blocks) {
      if (block.header.kind == static_cast<uint16_t>(ChunkKind::kHeap)) rows += block.header.count;
    }
    return rows;
  }

  codec::TempFolder folder_;
  std::string stem_ = folder_ / "p4711-6a11c0de";
  std::string path_ = stem_ + ".gpt";
  rlimit before_ = {};
  std::mt19937_64 random_{7};
  uint64_t rows_ = 0;  // handed over
  codec::ChunkBuilder builder_{ChunkKind::kHeap, 1, 0};
  codec::TraceWriter trace_;
  FlightRecorder recorder_{stem_.c_str(), 8 * kSegmentBytes, codec::TestHeader()};
};

TEST_F(FlightRecorderTest, AllIsJoined) {
  WriteUntil(4);
  ASSERT_TRUE(Write());
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/false));
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults), rows_);
  EXPECT_EQ(faults, 0u);
  EXPECT_EQ(recorder_.rows_lost(), 0u);
  EXPECT_FALSE(AnySegment());
}

TEST_F(FlightRecorderTest, NoRoomForTheNextSegment) {
  WriteUntil(2);
  const codec::TraceWriter* const newest = recorder_.Writer();
  while (newest->file_bytes() < kSegmentBytes) ASSERT_TRUE(Write());
  LimitFiles(20);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Write());
  EXPECT_EQ(recorder_.last_error(), EFBIG);
  EXPECT_EQ(recorder_.rows_lost(), 10 * kBlockRows) << "of every block, not of the last";
  FileParts files;
  ASSERT_TRUE(recorder_.AddTo(&files));
  ASSERT_EQ(files.count, 2u);
  EXPECT_EQ(files.part[1].bytes, codec::ReadBytes(PathOf(1)).size());
  LimitFiles(before_.rlim_cur);
  ASSERT_TRUE(Write()) << "into the one that is there";
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/false));
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults) + recorder_.rows_lost(), rows_);
  EXPECT_EQ(recorder_.rows_lost(), 10 * kBlockRows);
  EXPECT_EQ(faults, 0u);
}

TEST_F(FlightRecorderTest, NoRoomForTheFirstSegment) {
  LimitFiles(20);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Write());
  EXPECT_EQ(recorder_.last_error(), EFBIG) << "why it has no file, not that it has none";
  EXPECT_EQ(recorder_.rows_lost(), 10 * kBlockRows);
  EXPECT_FALSE(AnySegment());
  LimitFiles(before_.rlim_cur);
  while (!Write()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const uint64_t lost = recorder_.rows_lost();
  EXPECT_GE(lost, 10 * kBlockRows);
  EXPECT_EQ(lost, rows_ - kBlockRows);
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/false));
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults), kBlockRows);
  EXPECT_EQ(faults, 0u);
}

// Nothing can be made in the bundle, nor removed from it, and what is open there still grows.
TEST_F(FlightRecorderTest, WhereNothingCanBeLetGoTheNewestGrowsToABound) {
  WriteUntil(3);
  auto locked = std::make_unique<Locked>(folder_.path());
  const int refused = Refused(&recorder_, kMany);
  const uint64_t bytes = BytesIn(recorder_);
  EXPECT_EQ(recorder_.last_error(), EACCES);
  locked.reset();
  EXPECT_GT(refused, 0);
  EXPECT_EQ(recorder_.rows_lost(), static_cast<uint64_t>(refused) * kBlockRows);
  EXPECT_GT(bytes, 7 * kSegmentBytes) << "as much as was asked for";
  EXPECT_LT(bytes, 10 * kSegmentBytes);
  while (!Write()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(codec::Exists(PathOf(3)));
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/false));
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults) + recorder_.rows_lost(), rows_);
  EXPECT_EQ(faults, 0u);
}

TEST_F(FlightRecorderTest, TheOnlySegmentGrowsToABound) {
  WriteUntil(1);
  const Locked locked(folder_.path());
  EXPECT_GT(Refused(&recorder_, kMany), 0);
  const uint64_t bytes = BytesIn(recorder_);
  EXPECT_GT(bytes, 7 * kSegmentBytes);
  EXPECT_LT(bytes, 10 * kSegmentBytes);
}

// The oldest frees what the next one needs.
TEST_F(FlightRecorderTest, WhereNoMoreFilesCanBeMadeTheOldestMakesWay) {
  const Disk disk(folder_ / "small", "nr_inodes=5");
  if (!disk.is_mounted()) GTEST_SKIP() << "may not mount here";
  FlightRecorder recorder(disk.stem().c_str(), 8 * kSegmentBytes, codec::TestHeader());
  for (int i = 0; i < kMany; ++i) {
    ASSERT_TRUE(WriteTo(&recorder)) << i;
    ASSERT_LT(BytesIn(recorder), 17 * kSegmentBytes) << i;
  }
  EXPECT_GT(BytesIn(recorder), 7 * kSegmentBytes);
  EXPECT_EQ(recorder.rows_lost(), 0u) << "it was the ring's turn";
  FileParts files;
  ASSERT_TRUE(recorder.AddTo(&files));
  EXPECT_GT(files.count, 1u);
  EXPECT_LT(files.count, 5u);
  ASSERT_TRUE(recorder.JoinInto(&trace_, /*leaves_holes=*/false));
  size_t faults = 0;
  EXPECT_LT(RowsOfTrace(&faults), rows_);
  EXPECT_EQ(faults, 0u);
}

TEST_F(FlightRecorderTest, OnAFullDiskTheNewestIsKeptAndTheRestCounted) {
  const Disk disk(folder_ / "small", "size=96k");
  if (!disk.is_mounted()) GTEST_SKIP() << "may not mount here";
  FlightRecorder recorder(disk.stem().c_str(), 8 * kSegmentBytes, codec::TestHeader());
  EXPECT_EQ(Refused(&recorder, kMany), 0) << "the oldest made room for each of them";
  EXPECT_GT(recorder.rows_lost(), 0u) << "less is kept than was asked for";
  FileParts files;
  ASSERT_TRUE(recorder.AddTo(&files));
  EXPECT_GE(files.count, 2u);
  ASSERT_TRUE(recorder.JoinInto(&trace_, /*leaves_holes=*/false));
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults) + recorder.rows_lost(), rows_);
  EXPECT_EQ(faults, 0u);
  EXPECT_GT(codec::ReadBytes(path_).size(), 2 * kSegmentBytes);
}

// There is room for one and a half: the whole one is not given away for a part of the next.
TEST_F(FlightRecorderTest, OnAFullDiskTheOnlyWholeSegmentStays) {
  const Disk disk(folder_ / "small", "size=36k");
  if (!disk.is_mounted()) GTEST_SKIP() << "may not mount here";
  FlightRecorder recorder(disk.stem().c_str(), 8 * kSegmentBytes, codec::TestHeader());
  const int refused = Refused(&recorder, kMany);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(recorder.last_error(), ENOSPC);
  EXPECT_EQ(recorder.rows_lost(), static_cast<uint64_t>(refused) * kBlockRows);
  EXPECT_GT(BytesIn(recorder), kSegmentBytes);
}

// Recovery would take them for segments.
TEST_F(FlightRecorderTest, WhatHasTheNameOfTheNextSegmentIsPutAside) {
  WriteUntil(2);
  codec::WriteBytes(PathOf(2), {7});
  ASSERT_EQ(mkdir(PathOf(3).c_str(), 0700), 0);
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(Write());
  EXPECT_TRUE(codec::Exists(PathOf(4)));
  EXPECT_EQ(codec::ReadBytes(PathOf(2) + "~"), std::vector<uint8_t>{7});
  EXPECT_TRUE(codec::Exists(PathOf(3) + "~"));
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/false));
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults), rows_);
  EXPECT_EQ(faults, 0u);
  EXPECT_FALSE(AnySegment());
}

TEST_F(FlightRecorderTest, FollowsAFolderThatIsRenamed) {
  WriteUntil(3);
  const std::string elsewhere = folder_.path() + "-moved";
  ASSERT_EQ(std::rename(folder_.path().c_str(), elsewhere.c_str()), 0);
  EXPECT_EQ(Refused(&recorder_, kMany), 0);
  EXPECT_LT(BytesIn(recorder_), 9 * kSegmentBytes);
  EXPECT_GT(recorder_.rows_let_go(), 0u);
  ASSERT_EQ(std::rename(elsewhere.c_str(), folder_.path().c_str()), 0);
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/false));
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults) + recorder_.rows_let_go(), rows_);
  EXPECT_EQ(faults, 0u);
}

TEST_F(FlightRecorderTest, AfterTheNewestWasRemovedAnotherIsBegun) {
  WriteUntil(2);
  ASSERT_EQ(unlink(PathOf(1).c_str()), 0);
  EXPECT_FALSE(Write());
  EXPECT_EQ(recorder_.last_error(), EIDRM);
  EXPECT_EQ(recorder_.rows_lost(), kBlockRows);
  ASSERT_TRUE(Write());
  EXPECT_TRUE(codec::Exists(PathOf(2)));
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/true));
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults) + recorder_.rows_lost(), rows_);
  EXPECT_GT(recorder_.rows_lost(), kBlockRows) << "what was in it";
  EXPECT_EQ(faults, 1u);
}

TEST_F(FlightRecorderTest, AfterTheBundleWasRemovedNothingIsWritten) {
  WriteUntil(2);
  std::filesystem::remove_all(folder_.path());
  const uint64_t bytes = recorder_.bytes_written();
  EXPECT_EQ(Refused(&recorder_, kMany), kMany);
  EXPECT_EQ(recorder_.bytes_written(), bytes);
  EXPECT_EQ(recorder_.last_error(), EIDRM);
  EXPECT_EQ(recorder_.rows_lost(), kMany * kBlockRows);
  EXPECT_FALSE(codec::Exists(folder_.path())) << "nor is it made again";
}

// Recovery finds what is behind the damage, and tells of it.
TEST_F(FlightRecorderTest, ADamagedSegmentIsLeftToRecovery) {
  WriteUntil(4);
  Damage(1);
  ASSERT_FALSE(recorder_.JoinInto(&trace_, /*leaves_holes=*/false));
  EXPECT_FALSE(codec::Exists(PathOf(0)));
  for (const uint32_t number : {1u, 2u, 3u}) EXPECT_TRUE(codec::Exists(PathOf(number)));
  trace_.Close();
  std::string error;
  ASSERT_TRUE(codec::JoinSegments(stem_, 0, &error)) << error;
  const std::vector<uint8_t> file = codec::ReadBytes(path_);
  codec::TraceScan scan;
  ASSERT_TRUE(Scan(file.data(), file.size(), &scan));
  EXPECT_EQ(scan.faults.size(), 1u);
  EXPECT_EQ(scan.blocks.size() + 1, rows_ / kBlockRows) << "one block is gone";
}

// Where no recovery follows.
TEST_F(FlightRecorderTest, ADamagedSegmentLeavesAHoleAndItsRowsAreCounted) {
  WriteUntil(4);
  Damage(1);
  unlink(PathOf(2).c_str());
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/true));
  EXPECT_FALSE(AnySegment());
  size_t faults = 0;
  const uint64_t rows = RowsOfTrace(&faults);
  EXPECT_GT(faults, 0u);
  EXPECT_LT(rows, rows_);
  EXPECT_EQ(rows + recorder_.rows_lost(), rows_);
}

// It was not being written when the process ended, as recovery would believe.
TEST_F(FlightRecorderTest, DamageOfTheNewestIsCountedAtOnce) {
  WriteUntil(2);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Write());
  Damage(1);
  ASSERT_TRUE(recorder_.JoinInto(&trace_, /*leaves_holes=*/false));
  const uint8_t nothing = 0;
  ASSERT_TRUE(trace_.WriteTable(ChunkKind::kHealth, 1, 14, &nothing, 0, 1));
  size_t faults = 0;
  const uint64_t rows = RowsOfTrace(&faults);
  EXPECT_EQ(faults, 1u);
  EXPECT_GT(recorder_.rows_lost(), 0u);
  EXPECT_EQ(rows + recorder_.rows_lost(), rows_);
}

TEST_F(FlightRecorderTest, WhatDoesNotFitIntoTheTraceIsCountedWhenItIsDropped) {
  WriteUntil(4);
  LimitFiles(30'000);
  ASSERT_FALSE(recorder_.JoinInto(&trace_, /*leaves_holes=*/true));
  LimitFiles(before_.rlim_cur);
  const uint64_t dropped = recorder_.Drop();
  EXPECT_FALSE(AnySegment());
  size_t faults = 0;
  EXPECT_EQ(RowsOfTrace(&faults) + dropped, rows_);
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(faults, 0u);
}

}  // namespace
}  // namespace gpuprof::tracer
