// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/device/open_launches.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

constexpr char kLaunch[] = "cudaLaunchKernel_v7000";

std::vector<std::string> NotesOf(ProcessBuilder* builder) {
  const Trace trace = MakeTrace({builder});
  Session session(trace);
  const PassOptions options;
  PassContext context(&session, options);
  results::Meta meta;
  AddOpenLaunchNotes(context, 0, &meta);
  return {meta.notes().begin(), meta.notes().end()};
}

// Three launches of which the last two have no kernel; copies and failed calls need none.
void MakeOpen(ProcessBuilder* builder) {
  const uint32_t kernel = builder->Signature("k", 1, 32);
  builder->Thread(5)
      .Call(kLaunch, 1 * kMs, 2 * kMs, 1)
      .Call("cuGraphLaunch", 7 * kMs, 8 * kMs, 2)
      .Call(kLaunch, 8 * kMs, 9 * kMs, 3)
      .Call("cudaMemcpyAsync_v3020", 9 * kMs, 10 * kMs, 4)
      .Call("cudaLaunchHostFunc_v10000", 9 * kMs, 10 * kMs, 5);
  builder->Stream(0, 1, 7).Kernel(kernel, 3 * kMs, 4 * kMs, 1);
}

TEST(OpenLaunches, AreToldByCapture) {
  ProcessBuilder builder(5);
  MakeOpen(&builder);
  builder.Capture(0, 12 * kMs);
  const std::vector<std::string> notes = NotesOf(&builder);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(
      notes[0].rfind("pid 5: 2 launches in the last 5.00 ms of capture 1 have no recorded work", 0),
      0u)
      << notes[0];
}

// Of the second capture no work was recorded, for a reason that is told elsewhere.
TEST(OpenLaunches, OfCapturesThatHaveWork) {
  ProcessBuilder builder(5);
  MakeOpen(&builder);
  builder.Capture(0, 8 * kMs - 1).Capture(8 * kMs, 12 * kMs);
  const std::vector<std::string> notes = NotesOf(&builder);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(": 1 launch in the last 1.00 ms of capture 1 has no recorded work"),
            std::string::npos)
      << notes[0];
}

TEST(OpenLaunches, NotOfWhatIsLongAgo) {
  ProcessBuilder builder(5);
  MakeOpen(&builder);
  builder.Capture(0, 3000 * kMs);
  EXPECT_EQ(NotesOf(&builder).size(), 1u) << "the end waited for the GPU";
  builder.Thread(5).Call("cudaFree_v3020", 1099 * kMs, 1100 * kMs, 9);
  EXPECT_EQ(NotesOf(&builder).size(), 0u);
}

TEST(OpenLaunches, NotWhereActivityIsToldToBeMissing) {
  ProcessBuilder builder(5);
  MakeOpen(&builder);
  builder.Capture(0, 12 * kMs);
  builder.process().health.set_activity_missing_ns(1);
  EXPECT_EQ(NotesOf(&builder).size(), 0u);
}

TEST(OpenLaunches, NotOfWhatBecomesAGraph) {
  ProcessBuilder builder(5);
  builder.Thread(5)
      .Call(kLaunch, 1 * kMs, 2 * kMs, 1)
      .Call("cudaStreamEndCapture_v10000", 2 * kMs, 3 * kMs, 2)
      .Call("cuStreamBeginCapture_v2", 4 * kMs, 5 * kMs, 3)
      .Call(kLaunch, 5 * kMs, 6 * kMs, 4)
      .Call("cuStreamEndCapture", 6 * kMs, 7 * kMs, 5)
      .Call(kLaunch, 7 * kMs, 8 * kMs, 6)
      .Call("cudaStreamBeginCapture_v10000", 8 * kMs, 9 * kMs, 7, 900)
      .Call(kLaunch, 9 * kMs, 10 * kMs, 8);
  builder.Thread(6).Call(kLaunch, 5 * kMs, 6 * kMs, 9);
  builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1, 32), 2 * kMs, 3 * kMs, 99);
  builder.Capture(0, 12 * kMs);
  const std::vector<std::string> notes = NotesOf(&builder);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(": 3 launches in the last 7.00 ms"), std::string::npos) << notes[0];
}

// A graph without nodes can be launched, and there is no work of it.
TEST(OpenLaunches, OfGraphsMayBeOfEmptyOnes) {
  constexpr char kEmpty[] = "or the launched CUDA graph has no nodes";
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(5).Call(kLaunch, 1 * kMs, 2 * kMs, 1).Call(kLaunch, 7 * kMs, 8 * kMs, 2);
  builder.Stream(0, 1, 7).Kernel(kernel, 3 * kMs, 4 * kMs, 1);
  builder.Capture(0, 12 * kMs);
  std::vector<std::string> notes = NotesOf(&builder);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].find(kEmpty), std::string::npos) << "no graph was launched: " << notes[0];
  builder.Thread(5).Call("cudaGraphLaunch_v10000", 8 * kMs, 9 * kMs, 3);
  notes = NotesOf(&builder);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(kEmpty), std::string::npos) << notes[0];
}

TEST(OpenLaunches, NotOfFailedCalls) {
  ProcessBuilder builder(5);
  builder.Thread(5).Call(kLaunch, 1 * kMs, 2 * kMs, 1, 1);
  builder.Capture(0, 3 * kMs);
  EXPECT_EQ(NotesOf(&builder).size(), 0u);
}

}  // namespace
}  // namespace gpuprof::analysis::test
