// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Folders of files that are of several runs, and folders of the ranks of one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <string>
#include <vector>

#include "proto/results/kernels.pb.h"
#include "proto/results/meta.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kSecond = 1000 * kMs;

// A folder of files, each with one process.
class Folder {
 public:
  Folder& File(const std::string& name, int32_t pid, int64_t start_s, int64_t end_s,
               const std::string& rank = "", const std::string& world_size = "") {
    ProcessBuilder& builder = builders_.emplace_back(pid);
    const uint32_t kernel = builder.Signature("k", 1, 32);
    builder.Stream(0, 1, 7)
        .Kernel(kernel, start_s * kSecond, start_s * kSecond + kMs)
        .Kernel(kernel, end_s * kSecond - kMs, end_s * kSecond);
    builder.process().file = name;
    if (!rank.empty()) builder.process().environment["RANK"] = rank;
    if (!world_size.empty()) builder.process().environment["WORLD_SIZE"] = world_size;
    return *this;
  }
  std::vector<std::string> Notes(int32_t pid = 0, const std::string& importer = "Kineto JSON") {
    std::vector<const ProcessBuilder*> all;
    for (const ProcessBuilder& builder : builders_) all.push_back(&builder);
    Trace trace = MakeTrace(all);
    trace.importer = importer;
    PassOptions options;
    options.pid = pid;
    const auto result = RunPass<results::Kernels>("kernels", trace, options);
    std::vector<std::string> notes;
    for (const std::string& note : result.meta().notes())
      if (note.find("one run") != std::string::npos) notes.push_back(note);
    return notes;
  }

 private:
  std::list<ProcessBuilder> builders_;
};

TEST(UnrelatedFiles, TimesThatDoNotOverlapAreOfSeveralRuns) {
  Folder folder;
  folder.File("a.json", 5, 0, 3).File("b.json", 6, 100, 103);
  EXPECT_THAT(folder.Notes(),
              ElementsAre("the 2 files do not seem to be of one run, but are read as one: b.json "
                          "begins 97.0 s after the end of a.json. Open one file alone to see its "
                          "own figures"));
  EXPECT_THAT(folder.Notes(5), IsEmpty()) << "one file alone was asked for";
  EXPECT_THAT(folder.Notes(0, kXSpaceImporter), IsEmpty()) << "hosts of one run";
  EXPECT_THAT(folder.Notes(0, ""), IsEmpty()) << "processes that gpuprof recorded";
}

TEST(UnrelatedFiles, OneRankTwiceIsOfTwoRuns) {
  Folder folder;
  folder.File("a.json", 5, 0, 3, "0", "2").File("b.json", 6, 1, 4, "0", "2");
  EXPECT_THAT(folder.Notes(), ElementsAre(HasSubstr("a.json and b.json are both of rank 0")));
}

TEST(UnrelatedFiles, JobsOfTwoSizesAreTwo) {
  Folder folder;
  folder.File("a.json", 5, 0, 3, "0", "2").File("b.json", 6, 1, 4, "1", "8");
  EXPECT_THAT(folder.Notes(),
              ElementsAre(HasSubstr("a.json is of a job of 2 ranks, and b.json of a job of 8")));
}

TEST(UnrelatedFiles, RanksHoursApartAreOfSeveralRuns) {
  Folder folder;
  folder.File("a.json", 5, 0, 3, "0", "2").File("b.json", 6, 7203, 7206, "1", "2");
  EXPECT_THAT(folder.Notes(), ElementsAre(HasSubstr("b.json begins 7200 s after the end")));
}

TEST(UnrelatedFiles, RanksOfOneRunAreRelated) {
  Folder folder;
  folder.File("a.json", 5, 0, 3, "0", "2").File("b.json", 5, 1, 4, "1", "2");
  EXPECT_THAT(folder.Notes(), IsEmpty());
  // A rank that was recorded a little later.
  Folder later;
  later.File("a.json", 5, 0, 3, "0", "2").File("b.json", 6, 4, 7, "1", "2");
  EXPECT_THAT(later.Notes(), IsEmpty());
  // Files without ranks at the same time.
  Folder without;
  without.File("a.json", 5, 0, 3).File("b.json", 6, 1, 4).File("c.json", 7, 2, 3);
  EXPECT_THAT(without.Notes(), IsEmpty());
}

// As a profiler's schedule writes them.
TEST(UnrelatedFiles, OneProcessMayWriteSeveralFiles) {
  Folder folder;
  folder.File("a.json", 5, 0, 3, "0", "2").File("b.json", 5, 10, 13, "0", "2");
  EXPECT_THAT(folder.Notes(), IsEmpty());
}

}  // namespace
}  // namespace gpuprof::analysis::test
