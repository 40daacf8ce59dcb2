// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The writer in a hostile place: descriptors taken away, disks that fill up, files that were cut;
// and what `zstd` says to the result.

#include "proto/codec/trace_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/crc32c.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;

void AddRows(ChunkBuilder* builder, uint64_t from, uint64_t count, bool is_noise = false) {
  std::mt19937_64 random(from);
  for (uint64_t i = from; i < from + count; ++i) {
    AppendRow(builder, {1000 + i, 2, is_noise ? random() : i * 16, is_noise ? random() : 64, 0});
  }
}

class TraceFileTest : public testing::Test {
 protected:
  bool Write(uint64_t from, uint64_t count, bool is_noise = false) {
    AddRows(&builder_, from, count, is_noise);
    return writer_.WriteEvents(&builder_, 1, from + count);
  }
  // The descriptor that the process has on the trace; -1 if none.
  int FindDescriptor() const {
    struct stat wanted;
    if (stat(path_.c_str(), &wanted) != 0) return -1;
    for (int fd = 0; fd < 1024; ++fd) {
      struct stat status;
      if (fstat(fd, &status) == 0 && status.st_ino == wanted.st_ino &&
          status.st_dev == wanted.st_dev)
        return fd;
    }
    return -1;
  }
  // Rows of the whole and faultless file.
  size_t Rows() const { return ReadRows(ReadBytes(path_), 1, ChunkKind::kHeap).size(); }

  TempFolder folder_;
  std::string path_ = folder_ / "p1-1.gpt";
  TraceWriter writer_;
  ChunkBuilder builder_{ChunkKind::kHeap, 1, 0};
};

TEST_F(TraceFileTest, AWholeFile) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_TRUE(Write(0, 100));
  ASSERT_TRUE(Write(100, 50));
  proto::EndMarker end = {};
  end.exit_way = 1;
  end.exit_status = 3;
  ASSERT_TRUE(writer_.WriteEnd(end));
  EXPECT_EQ(writer_.rows_written(), 150u);
  writer_.Close();

  const std::vector<uint8_t> file = ReadBytes(path_);
  EXPECT_EQ(file.size(), writer_.bytes_written());
  TraceScan scan;
  ASSERT_TRUE(Scan(file.data(), file.size(), &scan));
  EXPECT_TRUE(scan.faults.empty());
  EXPECT_EQ(scan.header.pid, 4711);
  EXPECT_EQ(scan.header.major, proto::kFormatMajor);
  EXPECT_EQ(scan.readable_bytes, file.size());
  ASSERT_EQ(scan.blocks.size(), 2u);
  EXPECT_EQ(scan.blocks[1].header.sequence, 1u);
  EXPECT_EQ(scan.blocks[1].header.first_time, 1100u);
  EXPECT_EQ(scan.blocks[1].header.last_time, 1149u);
  EXPECT_EQ(scan.blocks[1].header.ring_end, 150u);
  EXPECT_TRUE(scan.has_end);
  EXPECT_EQ(scan.end.blocks, 2u);
  EXPECT_EQ(scan.end.rows, 150u);
  EXPECT_EQ(scan.end.exit_status, 3);
  EXPECT_EQ(Rows(), 150u);
  EXPECT_EQ(ParseAll(file).chunk_size(), 2);
}

TEST_F(TraceFileTest, TheZstdProgramReadsIt) {
  if (std::system("command -v zstd >/dev/null") != 0) GTEST_SKIP() << "no zstd program here";
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 1000));
  ASSERT_TRUE(Write(1000, 1000));
  const std::string raw = folder_ / "raw";
  ASSERT_EQ(std::system(("zstd -q -dc " + path_ + " > " + raw).c_str()), 0);
  const std::vector<uint8_t> bytes = ReadBytes(raw);
  proto::Trace trace;
  ASSERT_TRUE(trace.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  ASSERT_EQ(trace.chunk_size(), 2);
  EXPECT_EQ(RowsOf(trace.chunk(1)).size(), 1000u);
  EXPECT_EQ(bytes, DecompressAll(ReadBytes(path_)));
}

TEST_F(TraceFileTest, NeverWritesOverAFile) {
  WriteBytes(path_, {1, 2, 3});
  EXPECT_FALSE(writer_.Create(path_.c_str(), TestHeader()));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(ReadBytes(path_).size(), 3u);
  EXPECT_FALSE(writer_.is_open());
  EXPECT_FALSE(writer_.Create((folder_ / "no/such/folder").c_str(), TestHeader()));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(writer_.Create(std::string(2000, 'x').c_str(), TestHeader()));
  EXPECT_FALSE(Write(0, 5));
  EXPECT_EQ(writer_.rows_lost(), 5u);
}

TEST_F(TraceFileTest, ItsDescriptorIsHighAndNotInherited) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  const int fd = FindDescriptor();
  EXPECT_GE(fd, 60);
  EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(TraceFileTest, SurvivesAClosedDescriptor) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 10));
  ASSERT_EQ(close(FindDescriptor()), 0);
  ASSERT_TRUE(Write(10, 10));
  EXPECT_EQ(Rows(), 20u);
}

TEST_F(TraceFileTest, LeavesAStrangersDescriptorAlone) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 10));
  const int fd = FindDescriptor();
  const std::string other_path = folder_ / "other";
  const int other = open(other_path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(dup2(other, fd), fd);  // the program now has a file of its own there
  ASSERT_TRUE(Write(10, 10));
  writer_.Close();
  EXPECT_EQ(::write(fd, "x", 1), 1) << "still open";
  EXPECT_EQ(ReadBytes(other_path).size(), 1u) << "nothing of ours in it";
  EXPECT_EQ(Rows(), 20u);
  close(fd);
  close(other);
}

TEST_F(TraceFileTest, NeverWritesIntoAnotherFileOfItsName) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  close(FindDescriptor());
  ASSERT_EQ(unlink(path_.c_str()), 0);
  EXPECT_FALSE(Write(0, 10));
  EXPECT_FALSE(Exists(path_)) << "reopened, never made again";
  WriteBytes(path_, {7});
  EXPECT_FALSE(Write(10, 10));
  EXPECT_EQ(writer_.last_error(), ESTALE);
  EXPECT_EQ(ReadBytes(path_), std::vector<uint8_t>{7});
  EXPECT_EQ(writer_.rows_lost(), 20u);
}

// It would grow on, and nobody could see it.
TEST_F(TraceFileTest, AFileThatWasRemovedIsNotGoneOnWith) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 10));
  const uint64_t bytes = writer_.bytes_written();
  ASSERT_EQ(rename(path_.c_str(), (folder_ / "renamed").c_str()), 0);
  EXPECT_TRUE(Write(10, 10)) << "it has another name";
  ASSERT_EQ(unlink((folder_ / "renamed").c_str()), 0);
  const uint64_t whole = writer_.bytes_written();
  EXPECT_GT(whole, bytes);
  EXPECT_FALSE(Write(20, 10));
  EXPECT_FALSE(writer_.WriteEnd({}));
  EXPECT_EQ(writer_.last_error(), EIDRM);
  EXPECT_EQ(writer_.rows_lost(), 10u);
  EXPECT_EQ(writer_.bytes_written(), whole);
}

TEST_F(TraceFileTest, ARefusalLastsAsLongAsTheFile) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  writer_.Refuse(EDQUOT);
  EXPECT_FALSE(Write(0, 10));
  EXPECT_EQ(writer_.last_error(), EDQUOT);
  EXPECT_EQ(writer_.rows_lost(), 10u);
  writer_.Refuse(0);
  EXPECT_TRUE(Write(10, 10));
  EXPECT_EQ(writer_.last_error(), 0);
  writer_.Refuse(EDQUOT);
  ASSERT_TRUE(writer_.Create((folder_ / "p2-2.gpt").c_str(), TestHeader()));
  EXPECT_FALSE(writer_.refuses());
  EXPECT_TRUE(Write(20, 10));
}

TEST_F(TraceFileTest, AFileThatSomebodyEmptiedIsNotGoneOnWith) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 10));
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  EXPECT_FALSE(Write(10, 10));
  EXPECT_EQ(writer_.last_error(), ESTALE);
  EXPECT_EQ(writer_.rows_lost(), 10u);
}

TEST_F(TraceFileTest, GoesOnBehindWhatIsReadable) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 10));
  ASSERT_TRUE(Write(10, 10));
  const uint64_t whole = writer_.bytes_written();
  writer_.Close();
  std::vector<uint8_t> file = ReadBytes(path_);
  file.insert(file.end(), 50, 0x5a);
  WriteBytes(path_, file);
  TraceWriter second;
  ASSERT_TRUE(second.Continue(path_.c_str(), whole, 2, 2, 20));
  AddRows(&builder_, 20, 5);
  ASSERT_TRUE(second.WriteEvents(&builder_, 1, 25));
  ASSERT_TRUE(second.WriteEnd({}));
  EXPECT_EQ(second.rows_written(), 5u);
  second.Close();
  EXPECT_EQ(Rows(), 25u);
  file = ReadBytes(path_);
  TraceScan scan;
  ASSERT_TRUE(Scan(file.data(), file.size(), &scan));
  EXPECT_EQ(scan.end.rows, 25u);
  EXPECT_EQ(scan.end.blocks, 3u);
}

TEST_F(TraceFileTest, AForkedChildForgetsIt) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 10));
  writer_.Abandon();
  EXPECT_FALSE(writer_.is_open());
  EXPECT_EQ(writer_.rows_written(), 0u);
  EXPECT_FALSE(Write(10, 10));
  EXPECT_EQ(Rows(), 10u);
  const std::string own = folder_ / "p2-2.gpt";
  ASSERT_TRUE(writer_.Create(own.c_str(), TestHeader()));
  ASSERT_TRUE(Write(20, 3));
  EXPECT_EQ(ReadRows(ReadBytes(own), 1, ChunkKind::kHeap).size(), 3u);
}

TEST_F(TraceFileTest, WhereFilesMayNotGrowThereIsRoomForTheEnd) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit tight = before;
  for (tight.rlim_cur = 700; tight.rlim_cur < 1000; tight.rlim_cur += 7) {
    ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
    for (uint64_t i = 0; i < 20; ++i) Write(i * 10, 10, true);
    EXPECT_EQ(writer_.last_error(), EFBIG);
    EXPECT_TRUE(writer_.WriteEnd({})) << tight.rlim_cur;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_EQ(unlink(path_.c_str()), 0);
  }
  EXPECT_GT(writer_.rows_written(), 0u);
}

// A file size limit is the portable full disk.
TEST_F(TraceFileTest, AFullDiskLeavesWholeBlocks) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  rlimit tight = before;
  tight.rlim_cur = 50'000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  uint64_t written = 0;
  uint64_t lost = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    (Write(i * 500, 500, true) ? written : lost) += 500;
    EXPECT_EQ(writer_.last_error(), lost == 0 ? 0 : EFBIG);
  }
  EXPECT_GT(written, 0u);
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(writer_.rows_written(), written);
  EXPECT_EQ(writer_.rows_lost(), lost);
  EXPECT_EQ(Rows(), written) << "faultless to its end";
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(Write(20'000, 500, true)) << "space has come back";
  EXPECT_EQ(writer_.last_error(), 0);
  EXPECT_EQ(Rows(), written + 500);
}

TEST_F(TraceFileTest, AFullFileSystem) {
  const std::string mount_point = folder_ / "small";
  ASSERT_EQ(mkdir(mount_point.c_str(), 0700), 0);
  if (mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=128k") != 0)
    GTEST_SKIP() << "may not mount here";
  path_ = mount_point + "/p1-1.gpt";
  EXPECT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  uint64_t written = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    if (Write(i * 1000, 1000, true)) {
      written += 1000;
    } else {
      EXPECT_EQ(writer_.last_error(), ENOSPC);
    }
  }
  EXPECT_GT(written, 0u);
  EXPECT_GT(writer_.rows_lost(), 0u);
  EXPECT_EQ(Rows(), written);
  const int filler = open((mount_point + "/filler").c_str(), O_WRONLY | O_CREAT, 0600);
  const char byte = 0;
  while (::write(filler, &byte, 1) == 1) continue;
  close(filler);
  TraceWriter second;
  EXPECT_FALSE(second.Create((mount_point + "/p2-2.gpt").c_str(), TestHeader()));
  EXPECT_FALSE(Exists(mount_point + "/p2-2.gpt")) << "no file without a header is left";
  writer_.Close();
  EXPECT_EQ(umount(mount_point.c_str()), 0);
}

// The name of the new file finds room and its header none.
TEST_F(TraceFileTest, AFileThatCannotBeBegunLeavesTheOneBefore) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 10));
  const uint64_t bytes = writer_.file_bytes();
  rlimit tight = before;
  tight.rlim_cur = 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  EXPECT_FALSE(Write(10, 7));
  const std::string next = folder_ / "p2-2.gpt";
  EXPECT_FALSE(writer_.Create(next.c_str(), TestHeader()));
  EXPECT_EQ(errno, EFBIG);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(Exists(next));
  EXPECT_TRUE(writer_.is_open());
  EXPECT_EQ(writer_.rows_lost(), 7u);
  EXPECT_EQ(writer_.rows_in_file(), 10u);
  EXPECT_EQ(writer_.file_bytes(), bytes);
  ASSERT_TRUE(Write(20, 5));
  EXPECT_EQ(Rows(), 15u);
  ASSERT_TRUE(writer_.Create(next.c_str(), TestHeader()));
  EXPECT_EQ(writer_.rows_lost(), 0u);
  EXPECT_EQ(FindDescriptor(), -1) << "and is closed";
  ASSERT_TRUE(Write(30, 3));
  EXPECT_EQ(Rows(), 15u) << "the one before has all that it had";
  EXPECT_EQ(ReadRows(ReadBytes(next), 1, ChunkKind::kHeap).size(), 3u);
}

TEST_F(TraceFileTest, MoreRowsThanAChunkMayHaveAreCountedNotWritten) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  AddRows(&builder_, 0, proto::kMaxRowsPerChunk + 1);
  EXPECT_FALSE(writer_.WriteEvents(&builder_, 1, 0));
  EXPECT_EQ(writer_.rows_lost(), proto::kMaxRowsPerChunk + 1u);
  EXPECT_EQ(Rows(), 0u);
}

TEST_F(TraceFileTest, VersionsOutsideTheWindowAreRefusedWithAReason) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(Write(0, 10));
  writer_.Close();
  const std::vector<uint8_t> file = ReadBytes(path_);
  const auto with = [&](auto change) {
    std::vector<uint8_t> changed = file;
    proto::FileHeader header;
    std::memcpy(&header, changed.data() + 8, sizeof header);
    change(&header);
    header.crc = HeaderCrc(header);
    std::memcpy(changed.data() + 8, &header, sizeof header);
    return changed;
  };
  TraceScan scan;
  std::vector<uint8_t> changed = with([](proto::FileHeader* h) { h->major = 2; });
  EXPECT_FALSE(Scan(changed.data(), changed.size(), &scan));
  EXPECT_NE(scan.faults[0].what.find("format 2." + std::to_string(proto::kFormatMinor)),
            std::string::npos)
      << scan.faults[0].what;
  EXPECT_NE(scan.faults[0].what.find("newer gpuprof"), std::string::npos);
  changed = with([](proto::FileHeader* h) { h->major = 0; });
  EXPECT_FALSE(Scan(changed.data(), changed.size(), &scan));
  changed = with([](proto::FileHeader* h) { h->features = uint64_t{1} << 63; });
  EXPECT_FALSE(Scan(changed.data(), changed.size(), &scan));
  EXPECT_NE(scan.faults[0].what.find("features"), std::string::npos);
  changed = with([](proto::FileHeader* h) { h->minor = 99; });
  EXPECT_TRUE(Scan(changed.data(), changed.size(), &scan)) << "a later minor version is read";
  EXPECT_EQ(scan.blocks.size(), 1u);
  changed = with([](proto::FileHeader* h) { h->magic[0] = 'G'; });
  EXPECT_FALSE(Scan(changed.data(), changed.size(), &scan));
}

TEST_F(TraceFileTest, UnknownKindsColumnsAndFramesAreSteppedOver) {
  ASSERT_TRUE(writer_.Create(path_.c_str(), TestHeader()));
  ASSERT_TRUE(writer_.WriteTable(static_cast<ChunkKind>(99), 1, 200,
                                 reinterpret_cast<const uint8_t*>("abc"), 3, 1));
  ASSERT_TRUE(Write(0, 10));
  writer_.Close();
  std::vector<uint8_t> file = ReadBytes(path_);
  const uint8_t frame[] = {0x57, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};
  file.insert(file.end(), frame, frame + sizeof frame);
  TraceScan scan;
  ASSERT_TRUE(Scan(file.data(), file.size(), &scan));
  EXPECT_TRUE(scan.faults.empty());
  ASSERT_EQ(scan.blocks.size(), 2u);
  BlockDecoder decoder;
  EventColumns columns;
  Fault fault;
  EXPECT_FALSE(decoder.DecodeEvents(file.data(), scan.blocks[0], &columns, &fault));
  EXPECT_TRUE(decoder.DecodeEvents(file.data(), scan.blocks[1], &columns, &fault));
  EXPECT_EQ(columns.count, 10u);
}

}  // namespace
}  // namespace gpuprof::codec
