// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Settings: the table is complete, and each value comes from the nearest source.

#include "launcher/base/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Settings, EveryVariableHasAnExplainedRowAndAGoodDefault) {
  for (const SettingInfo& info : SettingTable()) {
    EXPECT_STRNE(info.type_name, "VALUE") << info.variable << " has no row in settings.cc";
    EXPECT_GT(std::string(info.meaning).size(), 10u);
    if (info.fallback[0] == 0) continue;
    EXPECT_EQ(info.check(info.fallback), "") << info.variable;
  }
  EXPECT_GE(SettingTable().size(), 13u);
}

TEST(Settings, FlagThenEnvironmentThenFileThenDefault) {
  std::vector<Setting> settings;
  const Variables file = {{"stacks", "1"}, {"clock", "tsc"}, {"signal", "none"}};
  const Variables environment = {
      {"GPUPROF_STACKS", "2"}, {"GPUPROF_CLOCK", "monotonic"}, {"PATH", "/bin"}};
  const Variables flags = {{"stacks", "3"}};
  ASSERT_EQ(ResolveSettings(flags, environment, file, &settings), "");
  const auto at = [&](const char* name) { return FindSetting(settings, name); };
  EXPECT_EQ(at(proto::kEnvStacks).value, "3");
  EXPECT_EQ(at(proto::kEnvStacks).source, Setting::Source::kFlag);
  EXPECT_EQ(at(proto::kEnvClock).value, "monotonic");
  EXPECT_EQ(at(proto::kEnvClock).source, Setting::Source::kEnvironment);
  EXPECT_EQ(at(proto::kEnvSignal).value, "none");
  EXPECT_EQ(at(proto::kEnvSignal).source, Setting::Source::kFile);
  EXPECT_EQ(at(proto::kEnvRingMemory).value, "32MiB");
  EXPECT_EQ(at(proto::kEnvRingMemory).source, Setting::Source::kDefault);
}

TEST(Settings, AnEmptyVariableIsUnset) {
  std::vector<Setting> settings;
  ASSERT_EQ(ResolveSettings({}, {{"GPUPROF_STACKS", ""}}, {{"stacks", "9"}}, &settings), "");
  EXPECT_EQ(FindSetting(settings, proto::kEnvStacks).value, "9");
}

TEST(Settings, FaultsNameTheirPlace) {
  std::vector<Setting> settings;
  EXPECT_THAT(ResolveSettings({{"stacks", "many"}}, {}, {}, &settings), HasSubstr("--stacks: "));
  EXPECT_THAT(ResolveSettings({}, {{"GPUPROF_STACKS", "many"}}, {}, &settings),
              HasSubstr("GPUPROF_STACKS: "));
  EXPECT_THAT(ResolveSettings({}, {}, {{"stacks", "many"}}, &settings),
              HasSubstr("gpuprof.toml: stacks: "));
  // A value that a flag covers is not looked at.
  EXPECT_EQ(ResolveSettings({{"stacks", "8"}}, {{"GPUPROF_STACKS", "many"}}, {}, &settings), "");
  EXPECT_THAT(ResolveSettings({{"ring-memory", "1KiB"}}, {}, {}, &settings),
              HasSubstr("at least 1MiB"));
  EXPECT_THAT(ResolveSettings({{"output", ""}}, {}, {}, &settings), HasSubstr("empty"));
}

TEST(Settings, UnknownVariablesAreErrorsWithTheNearestName) {
  std::vector<Setting> settings;
  EXPECT_THAT(ResolveSettings({}, {{"GPUPROF_STAKS", "3"}}, {}, &settings),
              HasSubstr("Did you mean 'GPUPROF_STACKS'?"));
  EXPECT_THAT(UnknownVariables({{"GPUPROF_STACKS", "3"}, {"GPUPROF", "x"}, {"OTHER", "y"}}),
              IsEmpty());
  EXPECT_THAT(UnknownVariables({{"GPUPROF_NONSENSE", "3"}}), SizeIs(1));
  EXPECT_THAT(UnknownVariables({{"GPUPROF_TORCH_INDEX_URL", "3"}, {"GPUPROF_TEST_BUILD", "x"}}),
              IsEmpty());
}

TEST(Settings, TriggersNeedAFlightRecorderAndSteps) {
  std::vector<Setting> settings;
  EXPECT_THAT(ResolveSettings({{"trigger", "exit"}}, {}, {}, &settings),
              HasSubstr("add --ring SIZE"));
  EXPECT_EQ(ResolveSettings({{"trigger", "exit"}, {"ring", "1MiB"}, {"trace", "heap"}}, {}, {},
                            &settings),
            "");
  EXPECT_THAT(ResolveSettings({{"trigger", "step:3"}, {"ring", "1MiB"}, {"trace", "heap"}}, {}, {},
                              &settings),
              HasSubstr("need a source that shows steps"));
  EXPECT_THAT(ResolveSettings({{"trigger", "stall:30s"}, {"ring", "1MiB"}, {"capture", "nvtx:x"}},
                              {}, {}, &settings),
              HasSubstr("leave one of them out"));
  EXPECT_EQ(ResolveSettings({{"trigger", "step:3,stall:30s"}, {"ring", "1MiB"}}, {}, {}, &settings),
            "");
}

TEST(Settings, CanonicalFormsAreWhatTheSmallParserTakes) {
  const auto canonical = [](const char* variable, const char* value) {
    for (const SettingInfo& info : SettingTable()) {
      if (std::string(variable) == info.variable) return info.canonical(value);
    }
    return std::string("no such variable");
  };
  EXPECT_EQ(canonical(proto::kEnvSignal, "USR2"), "12");
  EXPECT_EQ(canonical(proto::kEnvSignal, "none"), "none");
  EXPECT_EQ(canonical(proto::kEnvCapture, "delay:1.5s+2m"), "delay:1500ms+120000ms");
  EXPECT_EQ(canonical(proto::kEnvCapture, "delay:2h"), "delay:7200000ms");
  EXPECT_EQ(canonical(proto::kEnvCapture, "signal"), "off");
  EXPECT_EQ(canonical(proto::kEnvCapture, "steps:3-9@x"), "steps:3-9@x");
  EXPECT_EQ(canonical(proto::kEnvCapture, "off"), "off");
  EXPECT_EQ(canonical(proto::kEnvRingMemory, "64MiB"), "67108864");
}

}  // namespace
}  // namespace gpuprof::launcher
