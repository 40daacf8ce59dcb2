// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Jobs: what their launchers tell, the names that follow, the launchers' own programs, and the
// directory that ranks share.

#include "launcher/record/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "launcher/record/job_folder.h"
#include "proto/job_launchers.h"
#include "proto/ranks.h"

namespace gpuprof::launcher {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Variables Slurm(const char* rank, const char* size = "4", const char* job = "17") {
  return {{"SLURM_JOB_ID", job},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_PROCID", rank},
          {"SLURM_NTASKS", size},
          {"SLURM_LOCALID", rank}};
}

TEST(Job, IsThatOfTheInnerLauncher) {
  Variables variables = Slurm("1");
  auto job = FindJob(variables);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->launcher, "Slurm");
  EXPECT_EQ(JobLabel(*job), "17.0");
  EXPECT_EQ(RankWords(*job), "rank 1 of 4");
  EXPECT_TRUE(job->is_unique);
  variables["OMPI_COMM_WORLD_RANK"] = "6";
  variables["OMPI_COMM_WORLD_SIZE"] = "8";
  variables["PMIX_RANK"] = "6";
  variables["PMIX_NAMESPACE"] = "prterun-node@1";
  job = FindJob(variables);
  EXPECT_EQ(job->launcher, "Open MPI");
  EXPECT_EQ(RankWords(*job), "rank 6 of 8");
  EXPECT_EQ(JobLabel(*job), "prterun-node_1");
  variables["RANK"] = "2";
  variables["WORLD_SIZE"] = "3";
  variables["TORCHELASTIC_RUN_ID"] = "none";
  variables["MASTER_ADDR"] = "node";
  variables["MASTER_PORT"] = "29500";
  job = FindJob(variables);
  EXPECT_EQ(job->launcher, "torchrun");
  EXPECT_EQ(JobLabel(*job), "node.29500");
  EXPECT_FALSE(job->is_unique);
}

TEST(Job, IsNoneOfABatchScriptOrAStrayVariable) {
  EXPECT_FALSE(FindJob({}).has_value());
  EXPECT_FALSE(FindJob({{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}}).has_value());
  EXPECT_FALSE(FindJob({{"RANK", "0"}}).has_value());
  EXPECT_FALSE(FindJob({{"RANK", "x"}, {"WORLD_SIZE", "2"}}).has_value());
  EXPECT_FALSE(FindJob({{"RANK", "1234567890"}, {"WORLD_SIZE", "2"}}).has_value());
  const auto ray = FindJob({{"RAY_JOB_ID", "01000000"}});
  ASSERT_TRUE(ray.has_value());
  EXPECT_EQ(RankWords(*ray), "");
}

TEST(Job, LabelIsAPartOfAName) {
  Job job;
  job.launcher = "PMI";
  EXPECT_EQ(JobLabel(job), "PMI");
  job.id = "../x y\n";
  EXPECT_EQ(JobLabel(job), "_._x_y_");
  job.id = std::string(200, 'x');
  EXPECT_EQ(JobLabel(job).size(), 64u);
}

std::string Filled(const char* name, const std::optional<Job>& job, bool* is_own = nullptr) {
  BundleName filled;
  const std::string fault = FillPattern(name, job, 42, &filled);
  if (is_own != nullptr) *is_own = filled.is_own;
  return fault.empty() ? filled.path : fault;
}

TEST(Pattern, StandsForRankJobHostAndProcess) {
  const auto job = FindJob(Slurm("3"));
  bool is_own = true;
  EXPECT_EQ(Filled("a/%j/100%%", job, &is_own), "a/17.0/100%");
  EXPECT_FALSE(is_own);
  EXPECT_EQ(Filled("%r", job, &is_own), "3");
  EXPECT_TRUE(is_own);
  EXPECT_EQ(Filled("%p", {}, &is_own), "42");
  EXPECT_TRUE(is_own);
  EXPECT_EQ(Filled("x-%h", {}), "x-" + HostLabel());
  for (const char* name : {"%", "a%", "%x", "%R"})
    EXPECT_THAT(Filled(name, job), HasSubstr("a % that stands for nothing")) << name;
  EXPECT_THAT(Filled("%r", {}), HasSubstr("gave this command a rank; start it with srun"));
  EXPECT_THAT(Filled("%j", {}), HasSubstr("gave this command a job"));
}

std::string Script(std::initializer_list<const char*> words) {
  std::string line;
  for (const char* word : words) line.append(word).push_back('\0');
  const char* script = proto::ScriptOf(line.data(), line.size());
  return script == nullptr ? "-" : script;
}

TEST(Launchers, AreKnownByTheirScriptOrModule) {
  EXPECT_EQ(Script({"python3", "/venv/bin/torchrun", "x.py"}), "torchrun");
  EXPECT_EQ(Script({"python3", "-u", "-X", "dev", "-Wignore", "train.py"}), "train.py");
  EXPECT_EQ(Script({"python3", "-m", "torch.distributed.run"}), "torch.distributed.run");
  EXPECT_EQ(Script({"python3", "-Im", "accelerate.commands.launch"}), "accelerate.commands.launch");
  EXPECT_EQ(Script({"python3", "-mdeepspeed.launcher.launch"}), "deepspeed.launcher.launch");
  EXPECT_EQ(Script({"python3", "-c", "x", "torchrun"}), "-");
  EXPECT_EQ(Script({"python3", "-Ic", "x", "torchrun"}), "-");
  EXPECT_EQ(Script({"python3"}), "-");
  EXPECT_EQ(Script({"python3", "-m"}), "-");
  EXPECT_EQ(Script({}), "-");
  for (const char* name : {"srun", "orterun", "torchrun", "accelerate.commands.launch"})
    EXPECT_TRUE(proto::IsJobLauncher(name)) << name;
  for (const char* name : {"", "run", "srunner", "train.py"})
    EXPECT_FALSE(proto::IsJobLauncher(name)) << name;
  EXPECT_TRUE(proto::RunsScripts("python3.11"));
  EXPECT_FALSE(proto::RunsScripts("pyth"));
}

class JobFolderTest : public testing::Test {
 protected:
  JobFolderTest() : root_(testing::TempDir() + "gpuprof-job-" + std::to_string(getpid())) {
    fs::create_directories(root_);
  }
  ~JobFolderTest() override { fs::remove_all(root_); }

  static proto::Bundle ManifestOf(const Job& job) {
    proto::Bundle bundle;
    bundle.set_format_major(1);
    bundle.mutable_job()->set_launcher(job.launcher);
    bundle.mutable_job()->set_id(job.id);
    bundle.mutable_job()->set_size(job.size);
    return bundle;
  }

  // Returns where the rank records, below the root.
  std::string Join(const Job& job, bool named = true, std::string* why = nullptr) {
    JobFolder folder;
    BundleDirectory own;
    const std::string fault = folder.Join(root_ + "/job", named, job, ManifestOf(job), &own);
    EXPECT_EQ(fault, "");
    if (why != nullptr) *why = folder.why_beside();
    return own.path().substr(root_.size() + 1);
  }

  std::string root_;
};

TEST_F(JobFolderTest, IsJoinedByItsRanksAlone) {
  EXPECT_EQ(Join(*FindJob(Slurm("0"))), "job/rank-0");
  EXPECT_EQ(Join(*FindJob(Slurm("2"))), "job/rank-2");
  EXPECT_EQ(Join(*FindJob(Slurm("2"))), "job/rank-2.2") << "a second command of the rank";
  std::string why;
  EXPECT_EQ(Join(*FindJob(Slurm("2", "4", "18")), true, &why), "job-18.0/rank-2");
  EXPECT_THAT(why, HasSubstr("holds another recording"));
  EXPECT_EQ(Join(*FindJob(Slurm("2", "4", "18")), false, &why), "job-2/rank-2");
  EXPECT_EQ(why, "") << "nobody chose the name";
}

TEST_F(JobFolderTest, LeavesForeignFilesAlone) {
  fs::create_directories(root_ + "/job");
  std::ofstream(root_ + "/job/mine") << "x";
  std::string why;
  EXPECT_EQ(Join(*FindJob(Slurm("0")), true, &why), "job-17.0/rank-0");
  EXPECT_THAT(why, HasSubstr("is not empty"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ + "/job"), fs::directory_iterator()), 1);
}

TEST_F(JobFolderTest, ManyRanksComeAtOnce) {
  // Each makes, marks and enters the directory, as processes of many hosts would.
  constexpr int kRanks = 24;
  std::vector<std::string> places(kRanks);
  const mode_t before = umask(022);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      const Job job = *FindJob(Slurm(std::to_string(rank).c_str(), "24"));
      JobFolder folder;
      BundleDirectory own;
      places[static_cast<size_t>(rank)] =
          folder.Join(root_ + "/a/job", true, job, ManifestOf(job), &own) + own.path();
    });
  }
  for (std::thread& thread : threads) thread.join();
  umask(before);
  for (int rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(places[static_cast<size_t>(rank)], root_ + "/a/job/rank-" + std::to_string(rank));
}

TEST_F(JobFolderTest, IsRemovedByTheLastThatRecordedNothing) {
  const Job first = *FindJob(Slurm("0")), second = *FindJob(Slurm("1"));
  JobFolder folders[2];
  BundleDirectory own[2];
  ASSERT_EQ(folders[0].Join(root_ + "/job", false, first, ManifestOf(first), &own[0]), "");
  ASSERT_EQ(folders[1].Join(root_ + "/job", false, second, ManifestOf(second), &own[1]), "");
  EXPECT_TRUE(folders[0].Speaks(first));
  EXPECT_FALSE(folders[1].Speaks(second));
  own[0].RemoveIfUnused();
  folders[0].LeaveIfUnused();
  EXPECT_TRUE(fs::exists(root_ + "/job/bundle.pb"));
  own[1].RemoveIfUnused();
  folders[1].LeaveIfUnused();
  EXPECT_FALSE(fs::exists(root_ + "/job"));
}

}  // namespace
}  // namespace gpuprof::launcher
