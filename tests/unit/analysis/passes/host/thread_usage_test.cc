// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which events are a thread's own, and how long it therefore lives.

#include <gtest/gtest.h>

#include "proto/results/threads.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::MakeTrace;
using test::ProcessBuilder;
using test::RunPass;

// Whatever a thread's ring brings counts as its own. A range may be older than the thread.
TEST(Threads, LiveAsLongAsTheirRingsHaveEvents) {
  ProcessBuilder builder(1);
  builder.Thread(1, "launches").Launch(10, 1).Launch(70, 2);
  builder.Thread(2, "ranges").Op("mm", 40, 50).Range("", "old", 5, 45);
  builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1, 1), 100, 150, 1);
  const auto threads = RunPass<results::Threads>("threads", MakeTrace({&builder}));
  ASSERT_EQ(threads.threads_size(), 2);
  for (const results::Thread& thread : threads.threads()) {
    const bool launches = thread.name() == "launches";
    EXPECT_EQ(thread.count(), launches ? 2u : 1u) << thread.name();
    EXPECT_EQ(thread.start_ns(), launches ? 10 : 40) << thread.name();
    EXPECT_EQ(thread.end_ns(), launches ? 70 : 50) << thread.name();
  }
}

}  // namespace
}  // namespace gpuprof::analysis
