// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers of Chrome traces, and arrays and objects within them.

#include "analysis/import/chrome_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analysis/import/collected_events.h"

namespace gpuprof::analysis::import {
namespace {

using ::testing::ElementsAre;

JsonValue Number(std::string_view text) { return {JsonValue::Kind::kNumber, text}; }
JsonValue Text(std::string_view text) { return {JsonValue::Kind::kString, text}; }

struct NumberCase {
  std::string_view text;
  std::optional<int64_t> whole, nanoseconds;
};

TEST(ChromeNumbers, AreReadDigitByDigit) {
  const NumberCase cases[] = {
      {"0", 0, 0},
      {"-0", 0, 0},
      {"7", 7, 7000},
      {"-7", -7, -7000},
      {"+7", 7, 7000},
      {"7.000", 7, 7000},
      {"7.001", std::nullopt, 7001},
      {"-7.0015", std::nullopt, -7001},
      {"0.0009", std::nullopt, 0},
      {".5", std::nullopt, 500},
      {"5.", 5, 5000},
      {"007", 7, 7000},
      {"1718722576381824.001", std::nullopt, 1718722576381824001},
      {"1718722576381824", 1718722576381824, 1718722576381824000},
      {"1.5e3", 1500, 1500000},
      {"1.5E+3", 1500, 1500000},
      {"15e-1", std::nullopt, 1500},
      {"150e-1", 15, 15000},
      {"1e-3", std::nullopt, 1},
      {"1e-4", std::nullopt, 0},
      {"0e999999999999", 0, 0},
      {"1e999999999999", std::nullopt, std::nullopt},
      {"1e-999999999999", std::nullopt, 0},
      {"0.000000000000000000000000000001e30", 1, 1000},
      {"9223372036854775807", INT64_MAX, std::nullopt},
      {"9223372036854775808", std::nullopt, std::nullopt},
      {"-9223372036854775808", INT64_MIN, std::nullopt},
      {"-9223372036854775809", std::nullopt, std::nullopt},
      {"-9223372036854775808.0", INT64_MIN, std::nullopt},
      {"100000000000000000000", std::nullopt, std::nullopt},
      {"4600000000000000", 4600000000000000, 4600000000000000000},
      {"4600000000000000.001", std::nullopt, std::nullopt},
      {"-4600000000000000", -4600000000000000, -4600000000000000000},
      {"", std::nullopt, std::nullopt},
      {" 12 ", 12, 12000},
      {"1 2", std::nullopt, std::nullopt},
      {"12us", std::nullopt, std::nullopt},
      {"stream 7", std::nullopt, std::nullopt},
      {"nan", std::nullopt, std::nullopt},
      {"0x10", std::nullopt, std::nullopt},
      {"-", std::nullopt, std::nullopt},
      {".", std::nullopt, std::nullopt},
      {"e5", std::nullopt, std::nullopt},
      {"1e", std::nullopt, std::nullopt},
      {"1.2.3", std::nullopt, std::nullopt},
  };
  for (const NumberCase& row : cases) {
    for (const JsonValue& value : {Number(row.text), Text(row.text)}) {
      EXPECT_EQ(WholeNumber(value), row.whole) << row.text;
      EXPECT_EQ(Nanoseconds(value), row.nanoseconds) << row.text;
    }
  }
}

TEST(ChromeNumbers, RealNumbersAreFinite) {
  EXPECT_EQ(RealNumber(Number("1.5")), 1.5);
  EXPECT_EQ(RealNumber(Text(" +25e-1 ")), 2.5);
  EXPECT_EQ(RealNumber(Number("-3")), -3.0);
  for (const std::string_view text : {"1e400", "inf", "nan", "-Infinity", "", "x", "0x1p3"})
    EXPECT_EQ(RealNumber(Text(text)), std::nullopt) << text;
}

TEST(ChromeNumbers, OtherKindsAreNoNumbers) {
  for (const JsonValue& value :
       {JsonValue{}, JsonValue{JsonValue::Kind::kNull, {}},
        JsonValue{JsonValue::Kind::kBool, "true"}, JsonValue{JsonValue::Kind::kArray, "[1]"},
        JsonValue{JsonValue::Kind::kObject, "{}"}}) {
    EXPECT_EQ(WholeNumber(value), std::nullopt);
    EXPECT_EQ(RealNumber(value), std::nullopt);
    EXPECT_EQ(Nanoseconds(value), std::nullopt);
  }
}

std::vector<std::string> ShownElements(std::string_view json, size_t most = 100) {
  std::vector<std::string> shown;
  for (const JsonValue& value : Elements({JsonValue::Kind::kArray, json}, most))
    shown.push_back(Shown(value));
  return shown;
}

TEST(ChromeArrays, ElementsComeOneByOne) {
  EXPECT_THAT(ShownElements("[]"), ElementsAre());
  EXPECT_THAT(ShownElements("[ 8, 1.5 ,\"a, ]b\", null, true, nan ]"),
              ElementsAre("n:8", "n:1.5", "s:a, ]b", "null", "b:true", "null"));
  EXPECT_THAT(ShownElements("[[1,[2]],{\"a\":[3]},[]]"),
              ElementsAre("a:[1,[2]]", "o:{\"a\":[3]}", "a:[]"));
  EXPECT_THAT(ShownElements("[1,2,3,4]", 2), ElementsAre("n:1", "n:2"));
}

TEST(ChromeArrays, AFaultEndsThem) {
  EXPECT_THAT(ShownElements("[1,\"cut"), ElementsAre("n:1"));
  EXPECT_THAT(ShownElements("[1,[2}"), ElementsAre("n:1"));
  EXPECT_THAT(ShownElements("[1,:2]"), ElementsAre("n:1"));
  EXPECT_THAT(ShownElements("["), ElementsAre());
  EXPECT_THAT(ShownElements(""), ElementsAre());
  EXPECT_THAT(ShownElements("[" + std::string(1'000'000, '[')), ElementsAre());
  EXPECT_TRUE(Elements({JsonValue::Kind::kObject, "{\"a\":1}"}, 10).empty());
}

TEST(ChromeEvents, TheLastOfEqualArgumentsCounts) {
  ChromeEvent event;
  event.args = {{"a", Number("1")}, {"b", Number("2")}, {"a", Number("3")}};
  EXPECT_EQ(event.Arg("a").text, "3");
  EXPECT_EQ(event.Arg("b").text, "2");
  EXPECT_FALSE(event.Arg("c"));
}

}  // namespace
}  // namespace gpuprof::analysis::import
