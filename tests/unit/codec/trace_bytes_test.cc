// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Traces read by windows: files that are cut meanwhile, and files that are mostly holes.

#include "proto/codec/trace_bytes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/open_regular.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_reader.h"
#include "proto/codec/trace_writer.h"

namespace gpuprof::codec {
namespace {

constexpr uint64_t kHole = uint64_t{4} << 30;

class TraceBytesTest : public testing::Test {
 protected:
  std::string Path() const { return folder_ / "trace.gpt"; }

  void Fill(uint64_t bytes) {
    std::vector<uint8_t> data(bytes);
    for (uint64_t i = 0; i < bytes; ++i) data[i] = Byte(i);
    Write(data, 0);
  }
  void Write(const std::vector<uint8_t>& data, uint64_t offset) {
    const OwnedFile file(open(Path().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(pwrite(file.fd(), data.data(), data.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(data.size()));
  }
  static uint8_t Byte(uint64_t at) { return static_cast<uint8_t>(at * 2654435761u >> 13); }

  TempFolder folder_;
};

TEST_F(TraceBytesTest, ReadsAnywhereInAFile) {
  constexpr uint64_t kBytes = 1'000'003;
  Fill(kBytes);
  const OwnedFile file(open(Path().c_str(), O_RDONLY | O_CLOEXEC));
  TraceBytes bytes(file.fd(), kBytes);
  for (const uint64_t at : {0u, 100u, 4090u, 4100u, 260'000u, 999'990u, 7u, 999'999u, 500'000u}) {
    for (const uint64_t count : {0u, 1u, 13u, 5000u, 400'000u}) {
      const uint8_t* const found = bytes.At(at, count);
      ASSERT_EQ(found != nullptr, at + count <= kBytes) << at << " " << count;
      for (uint64_t i = 0; found != nullptr && i < count; i += 97)
        ASSERT_EQ(found[i], Byte(at + i)) << at << " " << i;
    }
  }
  EXPECT_EQ(bytes.At(kBytes + 1, 0), nullptr);
  EXPECT_EQ(bytes.At(1, UINT64_MAX), nullptr);
  EXPECT_EQ(bytes.error(), 0);
}

TEST_F(TraceBytesTest, TellsAFileThatBecameShorter) {
  Fill(100'000);
  const OwnedFile file(open(Path().c_str(), O_RDONLY | O_CLOEXEC));
  TraceBytes bytes(file.fd(), 100'000);
  ASSERT_NE(bytes.At(0, 100), nullptr);
  ASSERT_EQ(truncate(Path().c_str(), 50'000), 0);
  EXPECT_EQ(bytes.At(60'000, 100), nullptr);
  EXPECT_EQ(bytes.error(), ESTALE);
  EXPECT_NE(bytes.At(40'000, 100), nullptr);
}

TEST_F(TraceBytesTest, ScansAFileLikeMemory) {
  TraceWriter writer;
  ASSERT_TRUE(writer.Create(Path().c_str(), TestHeader()));
  const std::vector<uint8_t> message(3000, 'x');
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(writer.WriteTable(proto::ChunkKind::kHealth, 1, chunk_field::kHealth,
                                  message.data(), message.size(), 1));
  }
  writer.Close();
  std::vector<uint8_t> data = ReadBytes(Path());
  // A damaged stretch in the middle, behind which blocks are looked for.
  std::fill(data.begin() + 5000, data.begin() + 5400, uint8_t{0x2a});
  Write(data, 0);
  TraceScan of_memory;
  ASSERT_TRUE(Scan(data.data(), data.size(), &of_memory));
  const OwnedFile file(open(Path().c_str(), O_RDONLY | O_CLOEXEC));
  TraceBytes bytes(file.fd(), data.size());
  TraceScan of_file;
  ASSERT_TRUE(Scan(&bytes, &of_file));
  EXPECT_FALSE(of_file.faults.empty());
  ASSERT_EQ(of_file.blocks.size(), of_memory.blocks.size());
  ASSERT_GT(of_file.blocks.size(), 250u);
  BlockDecoder decoder;
  for (size_t i = 0; i < of_file.blocks.size(); ++i) {
    EXPECT_EQ(of_file.blocks[i].offset, of_memory.blocks[i].offset);
    const uint8_t* content = nullptr;
    uint64_t content_bytes = 0;
    Fault fault;
    EXPECT_TRUE(decoder.Decompress(&bytes, of_file.blocks[i], &content, &content_bytes, &fault));
  }
}

TEST_F(TraceBytesTest, FindsBlocksBehindAHole) {
  TraceWriter writer;
  ASSERT_TRUE(writer.Create(Path().c_str(), TestHeader()));
  const std::vector<uint8_t> message(100, 'x');
  ASSERT_TRUE(writer.WriteTable(proto::ChunkKind::kHealth, 1, chunk_field::kHealth, message.data(),
                                message.size(), 1));
  writer.Close();
  const std::vector<uint8_t> data = ReadBytes(Path());
  const uint64_t front = sizeof(proto::SkippableHeader) + sizeof(proto::FileHeader);
  Write(std::vector<uint8_t>(data.begin() + static_cast<ptrdiff_t>(front), data.end()), kHole);
  const OwnedFile file(open(Path().c_str(), O_RDONLY | O_CLOEXEC));
  TraceBytes bytes(file.fd(), kHole + data.size() - front);
  EXPECT_EQ(bytes.BehindHole(0, 1), 0u);
  TraceScan scan;
  ASSERT_TRUE(Scan(&bytes, &scan));
  EXPECT_EQ(scan.blocks.size(), 2u);
  EXPECT_GT(scan.blocks.back().offset, kHole);
}

}  // namespace
}  // namespace gpuprof::codec
