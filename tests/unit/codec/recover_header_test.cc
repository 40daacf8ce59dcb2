// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ring files that are missing, were being made when their process died, or are damaged at their
// head: nothing is invented, and nothing that could still be read is removed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/recover.h"
#include "proto/contract.h"

namespace gpuprof::codec {
namespace {

class RecoverHeaderTest : public testing::Test {
 protected:
  RecoverHeaderTest() : stem_(folder_ / DeadStem()), trace_path_(stem_ + proto::kTraceSuffix) {
    process_ = std::make_unique<FakeProcess>(stem_, 3, 1024);
  }

  TempFolder folder_;
  std::string stem_;
  std::string trace_path_;
  std::unique_ptr<FakeProcess> process_;
};

TEST_F(RecoverHeaderTest, NoRingFileIsNothingToDo) {
  process_.reset();
  ASSERT_EQ(unlink((stem_ + proto::kRingSuffix).c_str()), 0);
  RecoverResult result = Recover(stem_, 0);
  EXPECT_TRUE(result.ok);
  EXPECT_TRUE(result.nothing_to_do);
  WriteBytes(trace_path_, {1});
  result = Recover(stem_, 0);
  EXPECT_TRUE(result.ok);
  EXPECT_FALSE(result.nothing_to_do);
  EXPECT_EQ(ReadBytes(trace_path_).size(), 1u) << "not ours to judge: its process may live";
}

TEST_F(RecoverHeaderTest, AHeaderThatWasNeverWritten) {
  process_.reset();
  WriteBytes(stem_ + proto::kRingSuffix, std::vector<uint8_t>(50'000, 0));
  RecoverResult result = Recover(stem_, -1);
  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_TRUE(result.nothing_to_do);
  EXPECT_FALSE(Exists(stem_ + proto::kRingSuffix));
  WriteBytes(stem_ + proto::kRingSuffix, {});
  EXPECT_TRUE(Recover(stem_, -1).ok);
  EXPECT_FALSE(Exists(stem_ + proto::kRingSuffix));
}

TEST_F(RecoverHeaderTest, AHeaderThatWasBeingWritten) {
  process_.reset();
  std::vector<uint8_t> ring = ReadBytes(stem_ + proto::kRingSuffix);
  auto* header = reinterpret_cast<proto::RingFileHeader*>(ring.data());
  header->magic = 0;
  header->ring_count = 0;
  header->directory[0].offset = 0;
  WriteBytes(stem_ + proto::kRingSuffix, ring);
  const RecoverResult result = Recover(stem_, -1);
  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_TRUE(result.nothing_to_do);
  EXPECT_FALSE(Exists(stem_ + proto::kRingSuffix));
}

TEST_F(RecoverHeaderTest, DamagedHeadersAreRefusedAndLeftAlone) {
  process_->header().no_ring.store(7);  // something to tell
  process_.reset();
  const std::vector<uint8_t> ring = ReadBytes(stem_ + proto::kRingSuffix);
  const auto expect_refused = [&](const std::vector<uint8_t>& bytes, const char* word) {
    WriteBytes(stem_ + proto::kRingSuffix, bytes);
    const RecoverResult result = Recover(stem_, -1);
    EXPECT_FALSE(result.ok);
    EXPECT_NE(result.error.find(word), std::string::npos) << result.error;
    EXPECT_FALSE(Exists(trace_path_));
    EXPECT_EQ(ReadBytes(stem_ + proto::kRingSuffix), bytes);
  };
  std::vector<uint8_t> damaged = ring;
  damaged[3] ^= 1;
  expect_refused(damaged, "damaged");
  damaged = ring;
  damaged[8] = 99;
  expect_refused(damaged, "another version");
  damaged.assign(ring.begin(), ring.begin() + 1000);
  expect_refused(damaged, "shorter");
}

}  // namespace
}  // namespace gpuprof::codec
