// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Options: parsing over CLI11, the command behind the options, gpuprof.toml, help, and every verb's
// table.

#include "launcher/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "launcher/command.h"
#include "launcher/settings.h"

namespace gpuprof::launcher {
namespace {

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
    sections_.clear();
    return ReadSettingsFile(path_, &sections_);
  }
  void TearDown() override { unlink(path_.c_str()); }
  std::string path_ = testing::TempDir() + "gpuprof-" + std::to_string(getpid()) + ".toml";
  FileSections sections_;
};

TEST_F(SettingsFile, KeysAreOptionsAndSectionsAreVerbs) {
  ASSERT_EQ(Read("# mine\nstacks = 16\ntrace = \"heap=exact,ops\"\nexclude = [\"a\", "
                 "\"b\"]\n\n[stats]\nlimit = 5\njson = true\n"),
            "");
  EXPECT_EQ(sections_["run"]["stacks"], "16");
  EXPECT_EQ(sections_["run"]["trace"], "heap=exact,ops");
  EXPECT_EQ(sections_["run"]["exclude"], "a,b");
  EXPECT_EQ(sections_["stats"]["limit"], "5");
  EXPECT_EQ(sections_["stats"]["json"], "true");
}

TEST_F(SettingsFile, MissingIsEmptyAndNestedIsRefused) {
  EXPECT_EQ(ReadSettingsFile("/nonexistent/gpuprof.toml", &sections_), "");
  EXPECT_THAT(Read("[run.deep]\nstacks = 1\n"), HasSubstr("sections are verbs"));
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
