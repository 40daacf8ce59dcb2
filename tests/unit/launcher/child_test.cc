// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Children: their environment and their end. Signals are tested on the whole command, in
// tests/process.

#include "launcher/record/child.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

namespace gpuprof::launcher {
namespace {

using testing::ElementsAre;

TEST(Child, EnvironmentKeepsItsOrder) {
  const char* environment[] = {"B=1", "A=2", "ODD", "C=3=4", nullptr};
  EXPECT_THAT(ChangedEnvironment(environment, {{"A", "9"}, {"NEW", "x"}}),
              ElementsAre("B=1", "A=9", "ODD", "C=3=4", "NEW=x"));
  EXPECT_THAT(ChangedEnvironment(nullptr, {{"A", "9"}}), ElementsAre("A=9"));
}

TEST(Child, StatusAndEnvironmentReachBothWays) {
  const ChildResult result = RunChild({"/bin/sh", "-c", "exit $CODE"}, {{"CODE", "42"}});
  EXPECT_EQ(result.exec_error, 0);
  EXPECT_EQ(result.ExitStatus(), 42);
  EXPECT_GT(result.wall_ns, 0u);
}

TEST(Child, DeathBySignalIsTold) {
  const ChildResult result = RunChild({"/bin/sh", "-c", "kill -TERM $$"}, {});
  EXPECT_TRUE(WIFSIGNALED(result.wait_status));
  EXPECT_EQ(result.ExitStatus(), 128 + SIGTERM);
}

TEST(Child, ExecErrorsComeBack) {
  EXPECT_EQ(RunChild({"/nonexistent/program"}, {}).exec_error, ENOENT);
  EXPECT_EQ(RunChild({"/"}, {}).exec_error, EACCES);
}

}  // namespace
}  // namespace gpuprof::launcher
