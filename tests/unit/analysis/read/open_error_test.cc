// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Inputs that are not traces, or not only: what Open refuses, with which words, and what it passes
// over.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <memory>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "proto/contract.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;

std::shared_ptr<const Trace> MustOpen(const std::string& path) {
  std::shared_ptr<const Trace> trace;
  const Error error = Open(path, {}, &trace);
  EXPECT_FALSE(error) << error.message;
  return trace;
}

Error OpenFails(const std::string& path) {
  std::shared_ptr<const Trace> trace;
  const Error error = Open(path, {}, &trace);
  EXPECT_EQ(error.kind, ErrorKind::kUnreadable);
  EXPECT_EQ(trace, nullptr);
  return error;
}

class OpenErrorTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(OpenErrorTest, ErrorsNameCauseAndFix) {
  EXPECT_THAT(OpenFails(directory_.File("nothing")).message, HasSubstr("No such file"));
  EXPECT_THAT(OpenFails(directory_.path()).message, HasSubstr("gpuprof run"));
  WriteText(directory_.File("notes.txt"), "not a trace at all");
  EXPECT_THAT(OpenFails(directory_.File("notes.txt")).message, HasSubstr("notes.txt"));
  WriteText(directory_.File("empty.gpt"), "");
  EXPECT_THAT(OpenFails(directory_.File("empty.gpt")).message, HasSubstr("empty.gpt"));
  // A pipe must not make the reader wait.
  ASSERT_EQ(mkfifo(directory_.File("pipe.gpt").c_str(), 0600), 0);
  EXPECT_THAT(OpenFails(directory_.File("pipe.gpt")).message, HasSubstr("not a regular file"));
}

TEST_F(OpenErrorTest, ManifestAloneIsARunThatRecordedNothing) {
  proto::Bundle manifest;
  manifest.add_command("true");
  WriteManifest(directory_.path(), manifest);
  const auto trace = MustOpen(directory_.path());
  EXPECT_TRUE(trace->has_manifest);
  EXPECT_THAT(trace->processes, IsEmpty());
}

TEST_F(OpenErrorTest, DamagedManifestIsAFaultAlone) {
  TraceMaker maker(directory_.path(), 100, kWall / 1000);
  maker.Meta(maker.Identity(1));
  maker.Clock(0, kSecond, kWall);
  maker.Op(1, 2000, 100, 2);
  maker.End();
  maker.Close();
  WriteText(directory_.File(proto::kBundleFile), "\xff\xff\xff");
  const auto trace = MustOpen(directory_.path());
  EXPECT_FALSE(trace->has_manifest);
  EXPECT_THAT(trace->processes, SizeIs(1));
  ASSERT_THAT(trace->faults, SizeIs(1));
  EXPECT_EQ(trace->faults[0].file, proto::kBundleFile);
}

}  // namespace
}  // namespace gpuprof::analysis
