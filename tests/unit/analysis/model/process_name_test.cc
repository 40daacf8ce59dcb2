// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a process is called: by its title, by its script, by the name that it was started with.

#include "analysis/model/process_name.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis {
namespace {

Process Made(const char* executable, std::vector<std::string> argv) {
  Process process;
  process.executable = executable;
  process.argv = std::move(argv);
  return process;
}

TEST(ProcessName, IsTheTitleThatTheProcessGaveItself) {
  Process process = Made("/usr/sbin/nginx", {"nginx", "-g", "daemon off;"});
  EXPECT_EQ(ProcessName(process), "nginx");
  process.title = "nginx: worker process";
  EXPECT_EQ(ProcessName(process), "nginx: worker process");
}

TEST(ProcessName, IsATitleThatStandsWhereTheArgumentsStood) {
  const Process worker =
      Made("/usr/lib/postgresql/15/bin/postgres", {"postgres: background writer ", "", "", "", ""});
  EXPECT_EQ(ProcessName(worker), "postgres: background writer");
  const Process program = Made("/opt/my tools/run", {"/opt/my tools/run", "", "x"});
  EXPECT_NE(ProcessName(program), "/opt/my tools/run") << "an argument follows: no title";
}

TEST(ProcessName, IsTheScriptOfAnInterpreter) {
  EXPECT_EQ(ProcessName(Made("/usr/bin/python3.11", {"python3", "-u", "train.py", "--rank"})),
            "train.py");
  EXPECT_EQ(ProcessName(Made("/usr/bin/python3.11", {"python3", "-m", "torch.distributed.run"})),
            "torch.distributed.run");
}

TEST(ProcessName, TellsTheRank) {
  Process process = Made("/usr/bin/python3.11", {"python3", "train.py"});
  process.environment["RANK"] = "3";
  EXPECT_EQ(ProcessName(process), "train.py rank 3");
  process.environment["RANK"] = "three";
  EXPECT_EQ(ProcessName(process), "train.py");
  process.environment["SLURM_PROCID"] = "0";
  EXPECT_EQ(ProcessName(process), "train.py") << "of a batch script";
  process.environment["SLURM_STEP_ID"] = "0";
  process.environment["SLURM_PROCID"] = "12";
  process.environment["SLURM_NTASKS"] = "16";
  EXPECT_EQ(ProcessName(process), "train.py rank 12");
  EXPECT_EQ(RankOf(process)->of, 16u);
}

}  // namespace
}  // namespace gpuprof::analysis
