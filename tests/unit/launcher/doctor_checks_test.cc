// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// doctor: the checks that depend on nothing but their arguments.

#include "launcher/doctor/doctor_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace gpuprof::launcher {
namespace {

using testing::HasSubstr;

TEST(Doctor, Clock) {
  EXPECT_EQ(CheckClocksource("tsc", "fpu constant_tsc nonstop_tsc sse").level, Check::Level::kOk);
  EXPECT_EQ(CheckClocksource("hpet", "constant_tsc nonstop_tsc").level, Check::Level::kWarn);
  EXPECT_EQ(CheckClocksource("tsc", "fpu sse").level, Check::Level::kWarn);
  EXPECT_THAT(CheckClocksource("", "constant_tsc nonstop_tsc").found, HasSubstr("unknown"));
}

TEST(Doctor, SignalUnderSlurm) {
  EXPECT_EQ(CheckSignal({}, "USR1").level, Check::Level::kOk);
  const Check check = CheckSignal({{"SLURM_JOB_ID", "1"}}, "USR1");
  EXPECT_EQ(check.level, Check::Level::kWarn);
  EXPECT_THAT(check.fix, HasSubstr("--signal=none"));
  EXPECT_EQ(CheckSignal({{"SLURM_JOB_ID", "1"}}, "none").level, Check::Level::kOk);
}

TEST(Doctor, SignalThatIsIgnoredHere) {
  const auto before = signal(SIGUSR2, SIG_IGN);
  const Check check = CheckSignal({}, "USR2");
  signal(SIGUSR2, before);
  EXPECT_EQ(check.level, Check::Level::kWarn);
  EXPECT_THAT(check.fix, HasSubstr("gpuprof ctl"));
  EXPECT_EQ(CheckSignal({}, "USR2").level, Check::Level::kOk);
}

TEST(Doctor, Variables) {
  EXPECT_EQ(CheckVariables({{"GPUPROF_STACKS", "1"}}).level, Check::Level::kOk);
  EXPECT_EQ(CheckVariables({{"GPUPROF_STAKS", "1"}}).level, Check::Level::kFail);
}

}  // namespace
}  // namespace gpuprof::launcher
