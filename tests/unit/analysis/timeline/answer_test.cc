// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/timeline/answer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::timeline {
namespace {

using nlohmann::json;
using test::kUs;

class AnswerTest : public testing::Test {
 protected:
  AnswerTest() {
    test::ProcessBuilder builder(7);
    const uint32_t kernel = builder.Signature("bad \xff name", 8, 128);
    builder.Thread(7)
        .Op("aten::mm", 0, 50 * kUs)
        .Call("cudaLaunchKernel", 10 * kUs, 12 * kUs, 1)
        .Tensor(5 * kUs, 0x1000, 64, 0x100, 1, 64)
        .Alloc(3 * kUs, 0x2000, 100);
    test::TrackBuilder& stream = builder.Stream(0, 1, 7);
    for (int i = 0; i < 50; ++i)
      stream.Kernel(kernel, (20 + 3 * i) * kUs, (22 + 3 * i) * kUs, i == 0 ? 1 : 0);
    ModelBuilder model("bundle");
    model.AddProcess(builder.Build());
    timeline_ = std::make_unique<Timeline>(std::make_shared<const Trace>(model.Finish()));
  }

  std::string Ask(const std::string& question) {
    std::string answer;
    const Error error = Answer(timeline_.get(), question, &answer);
    EXPECT_FALSE(error) << question << ": " << error.message;
    return answer;
  }
  Error Refused(const std::string& question) {
    std::string answer = "untouched";
    Error error = Answer(timeline_.get(), question, &answer);
    EXPECT_TRUE(error) << question;
    EXPECT_EQ(answer, "untouched");
    return error;
  }

  std::unique_ptr<Timeline> timeline_;
};

TEST_F(AnswerTest, ArraysLieAlignedBehindTheHeader) {
  const std::string bytes =
      Ask(R"({"ask":"spans","tracks":[0],"start_ns":0,"end_ns":2e5,"ns_per_px":100})");
  ASSERT_EQ(bytes.substr(0, 4), "GTA1");
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 4, sizeof length);
  ASSERT_EQ((8 + length) % 8, 0u);
  const json header = json::parse(bytes.substr(8, length));
  const json& row = header["spans"][0];
  EXPECT_EQ(row["track"], 0);
  const json& starts = row["start_ns"];
  EXPECT_EQ(starts["type"], "f64");
  EXPECT_EQ(starts["at"].get<size_t>() % 8, 0u);
  ASSERT_EQ(starts["length"], 50);
  std::vector<double> values(50);
  std::memcpy(values.data(), bytes.data() + 8 + length + starts["at"].get<size_t>(), 400);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], (20 + 3 * i) * kUs);
  EXPECT_EQ(row["bars"]["first"]["length"], 51);
  EXPECT_EQ(header["names"].size(), 1u);
  // The last array ends with the answer.
  const json& last = row["bars"]["busy_ns"];
  EXPECT_EQ(8 + length + last["at"].get<size_t>() + last["length"].get<size_t>() * 8, bytes.size());
}

TEST_F(AnswerTest, SmallAnswersAreJson) {
  const json info = json::parse(Ask(R"({"ask":"info"})"));
  EXPECT_EQ(info["classes"].size(), kSpanClasses);
  EXPECT_EQ(info["tracks"][0]["kind"], "stream");
  EXPECT_EQ(info["tracks"][0]["tid"], nullptr);
  const json event = json::parse(Ask(R"({"ask":"event","track":0,"row":0})"));
  EXPECT_EQ(event["start_ns"], 20'000);
  EXPECT_EQ(event["name"].get<std::string>().substr(0, 4), "bad ");
  EXPECT_EQ(event["causes"].size(), 2u);
  EXPECT_EQ(json::parse(Ask(R"({"ask":"at","track":0,"time_ns":1})")), nullptr);
  EXPECT_EQ(json::parse(Ask(R"({"ask":"search","text":"mm","limit":5})"))["count"], 1);
  const json range = json::parse(Ask(R"({"ask":"range","kind":"api","start_ns":0,"end_ns":1e6})"));
  EXPECT_EQ(range["rows"][0]["call_kind"], "launch");
  EXPECT_EQ(json::parse(Ask(R"({"ask":"gaps","start_ns":0,"end_ns":1e6})"))["devices"].size(), 1u);
}

TEST_F(AnswerTest, QuestionsThatAreNoneAreRefused) {
  for (const char* question :
       {"",
        "{",
        "[]",
        "null",
        "17",
        "\"info\"",
        "{}",
        R"({"ask":7})",
        R"({"ask":"nothing"})",
        R"({"ask":"spans"})",
        R"({"ask":"spans","tracks":[0]})",
        R"({"ask":"spans","tracks":"0","start_ns":0,"end_ns":1,"ns_per_px":1})",
        R"({"ask":"spans","tracks":[0,0],"start_ns":0,"end_ns":1,"ns_per_px":1})",
        R"({"ask":"spans","tracks":[-1],"start_ns":0,"end_ns":1,"ns_per_px":1})",
        R"({"ask":"spans","tracks":[0.5],"start_ns":0,"end_ns":1,"ns_per_px":1})",
        R"({"ask":"spans","tracks":[4294967296],"start_ns":0,"end_ns":1,"ns_per_px":1})",
        R"({"ask":"spans","tracks":[99],"start_ns":0,"end_ns":1,"ns_per_px":1})",
        R"({"ask":"spans","tracks":[0],"start_ns":"0","end_ns":1,"ns_per_px":1})",
        R"({"ask":"spans","tracks":[0],"start_ns":0,"end_ns":1e400,"ns_per_px":1})",
        R"({"ask":"spans","tracks":[0],"start_ns":0,"end_ns":1,"ns_per_px":0})",
        R"({"ask":"spans","tracks":[0],"start_ns":0,"end_ns":1,"ns_per_px":-5})",
        R"({"ask":"counter","track":0,"start_ns":0,"end_ns":1,"ns_per_px":1})",
        R"({"ask":"event","track":0,"row":50})",
        R"({"ask":"event","track":0,"row":1e99})",
        R"({"ask":"search","text":7,"limit":1})",
        R"({"ask":"search","text":"a"})",
        R"({"ask":"range","kind":"nothing","start_ns":0,"end_ns":1})",
        R"({"ask":"range","kind":"api","start_ns":0,"end_ns":1,"tracks":[{}]})",
        R"({"ask":"gaps","start_ns":0})",
        R"({"ask":"calls","end_ns":0})"}) {
    const Error error = Refused(question);
    EXPECT_EQ(error.kind, ErrorKind::kUsage);
    EXPECT_EQ(error.message.back(), '.') << error.message;
  }
  Refused(std::string(2 << 20, ' ') + R"({"ask":"info"})");
  Refused(std::string(100'000, '['));
  Refused("{\"ask\":\"info\",\"x\":" + std::string(100'000, '[') + "}");
}

// Changes questions at random. Each is answered or refused; the answer to a good one stays.
TEST_F(AnswerTest, ChangedQuestionsDoNoHarm) {
  const std::vector<std::string> questions = {
      R"({"ask":"spans","tracks":[0,5],"start_ns":0,"end_ns":200000,"ns_per_px":100.5})",
      R"({"ask":"counter","track":1,"start_ns":0,"end_ns":200000,"ns_per_px":10})",
      R"({"ask":"event","track":0,"row":12})",
      R"({"ask":"search","text":"aten","limit":100})",
      R"({"ask":"at","track":0,"time_ns":12345})",
      R"({"ask":"range","kind":"stream","start_ns":0,"end_ns":90000,"devices":[0],"tracks":null})",
      R"({"ask":"calls","start_ns":0,"end_ns":90000,"processes":[0]})",
      R"({"ask":"gaps","start_ns":0,"end_ns":90000})"};
  const std::vector<std::string> pieces = {"0",
                                           "-1",
                                           "1e308",
                                           "1e-308",
                                           "9007199254740993",
                                           "null",
                                           "[]",
                                           "{}",
                                           "\"\"",
                                           "4294967295",
                                           "true",
                                           "0.5",
                                           "-9e18",
                                           "9e18",
                                           "\"\\ud800\"",
                                           "\xff",
                                           "[[[[",
                                           "18446744073709551615"};
  std::mt19937 random(11);
  const std::string before = Ask(questions[0]);
  size_t answered = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    std::string question = questions[random() % questions.size()];
    for (uint32_t change = random() % 3 + 1; change != 0; --change) {
      const size_t at = random() % question.size();
      const size_t end = question.find_first_of(",:]}", at);
      switch (random() % 4) {
        case 0:
          question[at] = static_cast<char>(random());
          break;
        case 1:
          question.erase(at, random() % 8);
          break;
        case 2:
          question.insert(at, pieces[random() % pieces.size()]);
          break;
        default:
          if (end != std::string::npos)
            question.replace(at, end - at, pieces[random() % pieces.size()]);
      }
      if (question.empty()) question = "{";
    }
    std::string answer;
    if (!Answer(timeline_.get(), question, &answer)) ++answered;
    ASSERT_LT(answer.size(), 1u << 20) << question;
  }
  EXPECT_GT(answered, 100u);
  EXPECT_EQ(Ask(questions[0]), before);
}

}  // namespace
}  // namespace gpuprof::analysis::timeline
