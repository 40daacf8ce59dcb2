// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Counters of imported files: their values, and whose they are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/import/chrome_reader.h"
#include "analysis/import/counter_values.h"
#include "analysis/import/kineto_importer.h"

namespace gpuprof::analysis::import {
namespace {

using testing::ElementsAre;

std::vector<Process> Import(const std::string& events, KinetoImporter* importer) {
  const std::string json = "[" + events + "]";
  MemorySource source(json);
  ChromeTextNotes text;
  const Error error = ReadChrome(&source, "trace.json", importer, &text);
  EXPECT_FALSE(error) << error.message;
  return importer->Build("trace.json", importer->Close());
}

std::string Counter(const std::string& pid, int time, const std::string& args,
                    const std::string& more = "") {
  return R"({"ph":"C","name":"c","pid":)" + pid + R"(,"ts":)" + std::to_string(time) + more +
         R"(,"args":)" + args + "}";
}

constexpr const char* kOp =
    R"({"ph":"X","cat":"cpu_op","name":"a","pid":50,"tid":50,"ts":1,"dur":9})";
constexpr const char* kKernel =
    R"({"ph":"X","cat":"kernel","name":"k","pid":2,"tid":7,"ts":1,"dur":9,"args":{"device":2}})";

// The counters of a process, as "device name.key time value/divisor".
std::vector<std::string> CountersOf(const Process& process) {
  std::vector<std::string> found;
  for (const Track& track : process.tracks) {
    const auto device = process.sampled_devices.find(track.id);
    const std::string place = device == process.sampled_devices.end()
                                  ? "tid " + std::to_string(track.tid)
                                  : "device " + std::to_string(device->second.index());
    for (size_t row = 0; row < track.counter.rows(); ++row) {
      const proto::Counter& counter = process.counters.at(track.counter.counter[row]);
      found.push_back(place + " " + counter.name() + "." + counter.source() + " " +
                      std::to_string(track.counter.time_ns[row]) + " " +
                      std::to_string(track.counter.value[row]) + "/" +
                      std::to_string(counter.divisor()));
    }
  }
  return found;
}

TEST(KinetoCounters, EachArgumentIsASeriesInOrderOfTime) {
  KinetoImporter importer;
  const auto processes = Import(std::string(kOp) + "," + Counter("50", 3, R"({"x":2.5,"y":7})") +
                                    "," + Counter("50", 2, R"({"x":"1"})"),
                                &importer);
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_THAT(CountersOf(processes[0]),
              ElementsAre("tid 50 c.x 1000 10/10", "tid 50 c.x 2000 25/10", "tid 50 c.y 2000 7/1"));
  EXPECT_EQ(processes[0].rows, 4u);
}

TEST(KinetoCounters, AProcessThatIsADeviceGivesItToTheProcessThatUsesIt) {
  KinetoImporter importer;
  const auto processes =
      Import(std::string(kOp) + "," + kKernel + "," + Counter("2", 3, R"({"x":1})"), &importer);
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].pid, 50);
  EXPECT_THAT(CountersOf(processes[0]), ElementsAre("device 2 c.x 2000 1/1"));
}

TEST(KinetoCounters, TheDeviceMayBeKnownByItsLabel) {
  KinetoImporter importer;
  const auto processes = Import(
      std::string(kOp) +
          R"(,{"ph":"M","name":"process_labels","pid":3,"tid":0,"args":{"labels":"GPU 3"}},)" +
          Counter("3", 3, R"({"x":1})"),
      &importer);
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_THAT(CountersOf(processes[0]), ElementsAre("device 3 c.x 2000 1/1"));
}

TEST(KinetoCounters, TheArgumentsMayNameTheDevice) {
  KinetoImporter importer;
  const auto processes = Import(std::string(kOp) + "," + Counter("50", 3, R"({"device":1,"x":4})") +
                                    "," + Counter("50", 4, R"({"device":8})"),
                                &importer);
  ASSERT_EQ(processes.size(), 1u);
  // An argument that is alone is the value.
  EXPECT_THAT(CountersOf(processes[0]),
              ElementsAre("tid 50 c.device 3000 8/1", "device 1 c.x 2000 4/1"));
}

TEST(KinetoCounters, AProcessMayHaveCountersAlone) {
  KinetoImporter importer;
  const auto processes =
      Import(std::string(kOp) + "," + Counter("60", 3, R"({"x":1})") + "," +
                 Counter("0", 4, R"({"x":2})") + "," + Counter("\"pool\"", 5, R"({"x":3})"),
             &importer);
  ASSERT_EQ(processes.size(), 3u);
  // Nothing tells what 0 is: it belongs to the process that there is.
  EXPECT_THAT(CountersOf(processes[0]), ElementsAre("tid 50 c.x 3000 2/1"));
  EXPECT_EQ(CountersOf(processes[1]).size() + CountersOf(processes[2]).size(), 2u);
}

TEST(KinetoCounters, AnIdTellsCountersOfOneNameApart) {
  KinetoImporter importer;
  const auto processes = Import(Counter("50", 3, R"({"x":1})", R"(,"id":"a")") + "," +
                                    Counter("50", 3, R"({"x":2})", R"(,"id":"b")"),
                                &importer);
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_THAT(CountersOf(processes[0]), ElementsAre("tid 50 c[a].x 0 1/1", "tid 50 c[b].x 0 2/1"));
}

TEST(KinetoCounters, ValuesThatAreNoNumbersAreCounted) {
  KinetoImporter importer;
  const auto processes = Import(
      std::string(kOp) + "," +
          Counter("50", 3, R"({"a":"many","b":null,"c":[1],"d":{"e":1},"f":true,"g":1e30,"h":1})") +
          "," + Counter("50", 3, "{}"),
      &importer);
  EXPECT_THAT(CountersOf(processes[0]), ElementsAre("tid 50 c.h 2000 1/1"));
  EXPECT_EQ(importer.notes().count(ImportNoteKind::kCounter), 7u);
}

Fixed FixedOf(std::string_view text) {
  const auto fixed = FixedNumber({JsonValue::Kind::kNumber, text});
  EXPECT_TRUE(fixed.has_value()) << text;
  return fixed.value_or(Fixed());
}

TEST(CounterValues, NumbersAreReadAsDecimals) {
  const auto shown = [](std::string_view text) {
    const Fixed fixed = FixedOf(text);
    return std::to_string(fixed.value) + "e-" + std::to_string(fixed.decimals);
  };
  EXPECT_EQ(shown("0.1"), "1e-1");
  EXPECT_EQ(shown("-1.250e1"), "-125e-1");
  EXPECT_EQ(shown("9223372036854775807"), "9223372036854775807e-0");
  EXPECT_EQ(shown("12345678901.25"), "1234567890125e-2");
  EXPECT_EQ(shown("0.00000000019"), "0e-0");
  EXPECT_EQ(shown("0.3333333333333"), "333333333e-9");
  EXPECT_FALSE(FixedNumber({JsonValue::Kind::kNumber, "9223372036854775808"}).has_value());
  EXPECT_FALSE(FixedNumber({JsonValue::Kind::kBool, "true"}).has_value());
}

TEST(CounterValues, TheLargestValueLimitsTheDecimalsOfAll) {
  const std::vector<CounterValue> small = {{0, FixedOf("0.125")}, {1, FixedOf("3")}};
  EXPECT_EQ(CommonDecimals(small), 3u);
  EXPECT_EQ(Scaled(small[1].number, 3), 3000);
  const std::vector<CounterValue> large = {{0, FixedOf("0.123456789")},
                                           {1, FixedOf("9000000000000000")}};
  EXPECT_EQ(CommonDecimals(large), 3u);
  EXPECT_EQ(Scaled(large[0].number, 3), 123);
  EXPECT_EQ(Scaled(large[1].number, 3), 9'000'000'000'000'000'000);
}

}  // namespace
}  // namespace gpuprof::analysis::import
