// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Options: parsing over CLI11, the command behind the options, gpuprof.toml, help, and every verb's
// table.

#include "launcher/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "launcher/base/settings.h"
#include "launcher/base/settings_file.h"
#include "launcher/command.h"

namespace gpuprof::launcher {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct RunLike {
  RunLike() : options("gpuprof run", "Runs", "gpuprof run [OPTIONS] -- COMMAND", "") {
    for (const SettingInfo& info : SettingTable()) {
      if (!info.flag.empty()) options.Setting(info);
    }
    options.Flag("--quiet", &quiet, "Quiet");
    options.Command(&command);
  }
  Options::Outcome Parse(std::vector<std::string> words) {
    return options.Parse(std::move(words), &message);
  }
  Options options;
  bool quiet = false;
  std::vector<std::string> command;
  std::string message;
};

TEST(Options, TheCommandIsLeftAlone) {
  RunLike run;
  ASSERT_EQ(run.Parse({"--stacks", "4", "-o", "dir", "--quiet", "--", "prog", "--stacks", "9",
                       "[1,2]", "--", "-o"}),
            Options::Outcome::kGo);
  EXPECT_THAT(run.command, ElementsAre("prog", "--stacks", "9", "[1,2]", "--", "-o"));
  EXPECT_EQ(run.options.flag_settings().at("stacks"), "4");
  EXPECT_EQ(run.options.flag_settings().at("output"), "dir");
  EXPECT_TRUE(run.quiet);
}

TEST(Options, TheCommandBeginsAtTheFirstWordWithoutDashes) {
  RunLike run;
  ASSERT_EQ(run.Parse({"--capture=off", "-odir", "python3", "-m", "x", "--quiet"}),
            Options::Outcome::kGo);
  EXPECT_THAT(run.command, ElementsAre("python3", "-m", "x", "--quiet"));
  EXPECT_EQ(run.options.flag_settings().at("output"), "dir");
  EXPECT_EQ(run.options.flag_settings().at("capture"), "off");
  EXPECT_FALSE(run.quiet);
}

TEST(Options, TheLastOfTwoCounts) {
  RunLike run;
  ASSERT_EQ(run.Parse({"--stacks", "4", "--stacks=5", "x"}), Options::Outcome::kGo);
  EXPECT_EQ(run.options.flag_settings().at("stacks"), "5");
}

TEST(Options, FaultsSuggest) {
  RunLike unknown;
  EXPECT_EQ(unknown.Parse({"--captrue", "now", "x"}), Options::Outcome::kError);
  EXPECT_THAT(unknown.message, HasSubstr("Did you mean '--capture'?"));
  RunLike missing;
  EXPECT_EQ(missing.Parse({"--stacks"}), Options::Outcome::kError);
  EXPECT_THAT(missing.message, HasSubstr("--stacks"));
  RunLike help;
  EXPECT_EQ(help.Parse({"--help"}), Options::Outcome::kHelp);
  EXPECT_THAT(help.message, HasSubstr("--ring-memory SIZE [32MiB]"));
}

TEST(Options, PositionalsAndNumbers) {
  Options options("x", "y", "z", "");
  std::string bundle, message;
  uint32_t limit = 20;
  options.Positional("BUNDLE", &bundle, "A bundle");
  options.Number("--limit", &limit, "N", "Rows");
  EXPECT_EQ(options.Parse({"b", "--limit", "7"}, &message), Options::Outcome::kGo) << message;
  EXPECT_EQ(bundle, "b");
  EXPECT_EQ(limit, 7u);
  EXPECT_EQ(options.Parse({"b", "stray"}, &message), Options::Outcome::kError);
  EXPECT_THAT(message, HasSubstr("unexpected argument 'stray'"));
  EXPECT_EQ(options.Parse({}, &message), Options::Outcome::kError);
  EXPECT_EQ(message, "BUNDLE is missing");
  EXPECT_EQ(options.Parse({"b", "--limit", "x"}, &message), Options::Outcome::kError);
  EXPECT_THAT(message, HasSubstr("--limit: 'x' is not a whole number"));
}

TEST(Options, ANumberOutOfItsRangeIsRefusedWithTheRange) {
  Options options("x", "y", "z", "");
  std::string message;
  uint32_t port = 0;
  options.Number("--port", &port, "PORT", "Port", 65535);
  for (const char* wrong : {"abc", "65536", "-1"}) {
    EXPECT_EQ(options.Parse({"--port", wrong}, &message), Options::Outcome::kError) << wrong;
    EXPECT_THAT(message, HasSubstr("is not a whole number from 0 to 65535"));
  }
  EXPECT_EQ(options.Parse({"--port", "65535"}, &message), Options::Outcome::kGo) << message;
  EXPECT_EQ(port, 65535u);
}

TEST(Options, FileValuesYieldToFlags) {
  Options options("x", "y", "z", "");
  std::string message, by;
  uint32_t limit = 20;
  bool json = false;
  options.Number("--limit", &limit, "N", "Rows");
  options.Value("--by", &by, "KEY", "Key");
  options.Flag("--json", &json, "JSON");
  ASSERT_EQ(options.Parse({"--limit", "7"}, &message), Options::Outcome::kGo);
  EXPECT_EQ(options.ApplyFile({{"limit", "3"}, {"by", "op"}, {"json", "true"}}), "");
  EXPECT_EQ(limit, 7u);
  EXPECT_EQ(by, "op");
  EXPECT_TRUE(json);
  EXPECT_THAT(options.ApplyFile({{"limt", "3"}}), HasSubstr("Did you mean 'limit'?"));
  EXPECT_THAT(options.ApplyFile({{"json", "yes"}}), HasSubstr("true, false"));
}

class SettingsFile : public testing::Test {
 protected:
  std::string Read(const std::string& text) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), 0644);
    sections_.clear();
    return ReadSettingsFile(path_, &sections_, &passed_over_);
  }
  void TearDown() override { unlink(path_.c_str()); }
  std::string path_ = testing::TempDir() + "gpuprof-" + std::to_string(getpid()) + ".toml";
  FileSections sections_;
  std::string passed_over_;
};

TEST_F(SettingsFile, KeysAreOptionsAndSectionsAreVerbs) {
  ASSERT_EQ(Read("# mine\nstacks = 16\ntrace = \"heap=exact,ops\"\nexclude = [\"a\", "
                 "\"b\"]\n\n[stats]\nlimit = 5\njson = true\n"
                 "[advice.LA-001]\nmin_share = 0.25\n"),
            "");
  EXPECT_EQ(sections_["run"]["stacks"], "16");
  EXPECT_EQ(sections_["run"]["trace"], "heap=exact,ops");
  EXPECT_EQ(sections_["run"]["exclude"], "a,b");
  EXPECT_EQ(sections_["stats"]["limit"], "5");
  EXPECT_EQ(sections_["stats"]["json"], "true");
  EXPECT_EQ(sections_["advice"]["LA-001.min_share"], "0.25");
}

TEST_F(SettingsFile, MissingIsEmptyAndNestedIsRefused) {
  EXPECT_EQ(ReadSettingsFile("/nonexistent/gpuprof.toml", &sections_, &passed_over_), "");
  EXPECT_THAT(Read("[run.deep]\nstacks = 1\n"), HasSubstr("sections are verbs"));
  EXPECT_THAT(Read("stacks = 1\n[run]\nstacks = 2\n"), HasSubstr("is given twice"));
  EXPECT_THAT(Read("\nring = 64MiB\n"), AllOf(HasSubstr("line 2"), HasSubstr("quotation marks")));
}

TEST_F(SettingsFile, WhatOthersCanWriteIsRefused) {
  std::ofstream(path_) << "stacks = 1\n";
  for (const mode_t mode : {0664, 0646, 0666}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_THAT(ReadSettingsFile(path_, &sections_, &passed_over_), HasSubstr("chmod go-w"));
  }
  EXPECT_THAT(Read("# " + std::string(65 * 1024, 'x')), HasSubstr("larger than 64 KiB"));
  unlink(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0644), 0);
  EXPECT_THAT(ReadSettingsFile(path_, &sections_, &passed_over_), HasSubstr("not a regular file"));
  unlink(path_.c_str());
  ASSERT_EQ(symlink("/dev/zero", path_.c_str()), 0);
  EXPECT_THAT(ReadSettingsFile(path_, &sections_, &passed_over_), HasSubstr("is a link"));
  EXPECT_TRUE(sections_.empty());
  EXPECT_EQ(passed_over_, "");
}

TEST_F(SettingsFile, AnotherUsersIsPassedOver) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give a file to another user";
  std::ofstream(path_) << "stacks = 1\n";
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(ReadSettingsFile(path_, &sections_, &passed_over_), "");
  EXPECT_THAT(passed_over_, HasSubstr("belongs to user 12345"));
  EXPECT_TRUE(sections_.empty());
}

TEST(SettingsFileValues, SomeComeFromTheCommandLineAlone) {
  EXPECT_THAT(FaultOfFileValue("gpu-log", "log.csv"), HasSubstr("command line"));
  for (const char* place : {"/tmp/b", "../b", "a/../../b", ""})
    EXPECT_THAT(FaultOfFileValue("output", place), HasSubstr("not below")) << place;
  for (const char* place : {"b", "./b", "a/b..", "..a"})
    EXPECT_EQ(FaultOfFileValue("output", place), "") << place;
  EXPECT_EQ(FaultOfFileValue("output", fs::current_path().string() + "/b"), "");
  for (const char* key : {"allow-control", "allow-host", "allow-peers", "folders", "image",
                          "library", "open-to-network", "set", "token-file", "upload"})
    EXPECT_THAT(FaultOfFileValue(key, "true"), HasSubstr("give --" + std::string(key))) << key;
  for (const char* key : {"baseline-dir", "logdir", "root"}) {
    EXPECT_THAT(FaultOfFileValue(key, "/"), HasSubstr("give --" + std::string(key))) << key;
    EXPECT_EQ(FaultOfFileValue(key, "runs"), "") << key;
  }
  const fs::path link = "gpuprof-link-" + std::to_string(getpid());
  fs::create_symlink("/", link);
  for (const char* place : {"", "/home"})
    EXPECT_THAT(FaultOfFileValue("root", link.string() + place), HasSubstr("not below")) << place;
  fs::remove(link);
  for (const char* number : {"15", "14", "2"})
    EXPECT_THAT(FaultOfFileValue("signal", number), HasSubstr("command line")) << number;
  for (const char* number : {"USR1", "12", "none", "40", "nonsense"})
    EXPECT_EQ(FaultOfFileValue("signal", number), "") << number;
}

TEST(Verbs, HelpAndNamesAreComplete) {
  for (const VerbEntry& entry : VerbTable()) {
    const std::unique_ptr<Verb> verb = entry.make();
    const std::unique_ptr<Options> options = DeclareVerb(entry, verb.get());
    EXPECT_THAT(options->HelpText(), HasSubstr(std::string("Usage: gpuprof ") + entry.name))
        << entry.name;
    EXPECT_THAT(OverviewText(), HasSubstr(entry.summary));
    for (const OptionView& view : options->Views())
      EXPECT_GE(view.help.size(), 8u) << entry.name << " " << view.type_name;
  }
}

}  // namespace
}  // namespace gpuprof::launcher
