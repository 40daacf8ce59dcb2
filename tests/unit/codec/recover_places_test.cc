// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Recovery where others may write: files that they hold, and pipes and links under the names of a
// bundle's files.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/open_regular.h"
#include "proto/codec/recover.h"
#include "proto/codec/segments.h"
#include "proto/contract.h"

namespace gpuprof::codec {
namespace {

class RecoverPlacesTest : public testing::Test {
 protected:
  std::string Trace() const { return stem_ + proto::kTraceSuffix; }
  std::string Ring() const { return stem_ + proto::kRingSuffix; }
  std::string Segment() const { return stem_ + ".00000001" + proto::kSegmentSuffix; }

  TempFolder folder_;
  const std::string stem_ = folder_ / DeadStem();
};

TEST_F(RecoverPlacesTest, HeldRingsShareOneWait) {
  const FakeProcess process(stem_, 1, 64);
  const OwnedFile holder(open(Ring().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(holder.fd(), LOCK_SH), 0);
  LockWait wait{2};
  for (int i = 0; i < 3; ++i) {
    const RecoverResult result = Recover(stem_, -1, &wait);
    EXPECT_FALSE(result.ok);
    EXPECT_NE(result.error.find("another gpuprof is finishing it"), std::string::npos)
        << result.error;
    EXPECT_EQ(wait.tries_left, 0);
  }
  // A file that nobody holds needs no wait.
  ASSERT_EQ(flock(holder.fd(), LOCK_UN), 0);
  EXPECT_TRUE(Recover(stem_, -1, &wait).ok);
}

TEST_F(RecoverPlacesTest, ASegmentThatIsAPipeIsToldAndStays) {
  ASSERT_EQ(mkfifo(Segment().c_str(), 0600), 0);
  std::string error;
  EXPECT_FALSE(JoinSegments(stem_, 0, &error));
  EXPECT_EQ(error, Segment() + ": not a regular file; remove it and run `gpuprof recover`");
  EXPECT_FALSE(Exists(Trace()));
  EXPECT_TRUE(Exists(Segment()));
}

TEST_F(RecoverPlacesTest, ARingThatIsAPipeIsTold) {
  ASSERT_EQ(mkfifo(Ring().c_str(), 0600), 0);
  EXPECT_EQ(Recover(stem_, -1).error, Ring() + ": not a regular file");
  EXPECT_EQ(CheckRingFile(Ring()), Ring() + ": not a regular file");
}

TEST_F(RecoverPlacesTest, ATraceThatIsAPipeOrALinkKeepsTheRing) {
  const FakeProcess process(stem_, 1, 64);
  ASSERT_EQ(mkfifo(Trace().c_str(), 0600), 0);
  EXPECT_EQ(Recover(stem_, -1).error, Trace() + ": not a regular file");
  ASSERT_EQ(unlink(Trace().c_str()), 0);
  std::filesystem::create_symlink("/etc/passwd", Trace());
  const RecoverResult result = Recover(stem_, -1);
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.error.find("symbolic link"), std::string::npos) << result.error;
  EXPECT_TRUE(Exists(Ring()));
}

}  // namespace
}  // namespace gpuprof::codec
