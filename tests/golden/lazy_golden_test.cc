// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A trace whose rows stay in its file answers each question as the same trace in memory: of passes
// and of the timeline. All rows that passes read are let go after each question.

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "analysis/analysis.h"
#include "analysis/model/row_store.h"
#include "analysis/model/trace.h"
#include "analysis/passes/page_input.h"
#include "analysis/passes/page_need.h"
#include "analysis/passes/session.h"
#include "analysis/timeline/answer.h"
#include "analysis/timeline/page_timeline.h"
#include "analysis/timeline/timeline.h"

namespace gpuprof::analysis::test {
namespace {

std::vector<std::string> StoredTraces() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(GPUPROF_GOLDEN_TRACES "/v1"))
    if (entry.path().extension() == ".gpt") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Question {
  std::string_view pass;
  PassOptions options;
};

std::vector<Question> QuestionsOf(const Trace& trace) {
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (const Process& process : trace.processes) {
    first = std::min(first, process.first_ns);
    last = std::max(last, process.last_ns);
  }
  std::vector<PassOptions> selections(4);
  const int64_t third = (last - first) / 3;
  selections[1].window = {first + third, last - third};
  selections[2].steps = {1, 2};
  selections[3].devices = {0};
  std::vector<Question> questions;
  for (const PassOptions& selection : selections) {
    for (const PassInfo& pass : Passes()) {
      std::vector<std::string> keys(pass.keys.begin(), pass.keys.end());
      keys.emplace_back();
      for (const std::string& key : keys) {
        questions.push_back({pass.name, selection});
        questions.back().options.by = key;
        questions.back().options.symbolize = false;
      }
    }
  }
  std::shuffle(questions.begin(), questions.end(), std::mt19937(11));
  return questions;
}

template <typename Ask>
std::string AnswerOf(const Question& question, const Ask& ask) {
  std::unique_ptr<google::protobuf::Message> result;
  if (const Error error = ask(&result)) return error.message;
  return Render(*result, Format::kJson, question.options, 0);
}

class LazyGolden : public testing::TestWithParam<std::string> {
 protected:
  static std::shared_ptr<const Trace> OpenTrace(bool lazy, const TableSet& eager = {}) {
    OpenOptions options;
    options.lazy = lazy;
    options.eager = eager;
    std::shared_ptr<const Trace> trace;
    const Error error = Open(GetParam(), options, &trace);
    EXPECT_FALSE(error) << error.message;
    return trace;
  }
};

TEST_P(LazyGolden, AnswersAsIfAllRowsWereInMemory) {
  const std::shared_ptr<const Trace> whole = OpenTrace(false);
  PageInput input(GetParam(), {}, 0);
  Session session(whole);
  for (const Question& question : QuestionsOf(*whole)) {
    EXPECT_EQ(
        AnswerOf(question,
                 [&](auto* result) { return input.Run(question.pass, question.options, result); }),
        AnswerOf(question,
                 [&](auto* result) {
                   return analysis::Run(question.pass, &session, question.options, result);
                 }))
        << question.pass << " --by " << question.options.by;
  }
}

TEST_P(LazyGolden, RowsComeAgainAfterTheyWereLetGo) {
  const std::shared_ptr<const Trace> whole = OpenTrace(false);
  std::shared_ptr<const Trace> lazy = OpenTrace(true);
  ASSERT_NE(lazy->row_store, nullptr);
  EXPECT_EQ(lazy->faults.size(), whole->faults.size());
  TableSet eager;
  auto session = std::make_unique<Session>(lazy, 0);
  Session expected(whole);
  for (const Question& question : QuestionsOf(*whole)) {
    const auto ask = [&](auto* result) {
      return analysis::Run(question.pass, session.get(), question.options, result);
    };
    std::string answer = AnswerOf(question, ask);
    EXPECT_FALSE(lazy->row_store->IsDamaged());
    while (!eager.Contains(lazy->row_store->Unordered())) {
      eager = eager | lazy->row_store->Unordered();
      session = nullptr;
      lazy = OpenTrace(true, eager);
      session = std::make_unique<Session>(lazy, 0);
      answer = AnswerOf(question, ask);
    }
    EXPECT_EQ(answer, AnswerOf(question,
                               [&](auto* result) {
                                 return analysis::Run(question.pass, &expected, question.options,
                                                      result);
                               }))
        << question.pass << " --by " << question.options.by;
    EXPECT_EQ(lazy->row_store->bytes(), 0u) << question.pass;
  }
}

// Questions to the timeline whose answers are compared. `timeline` tells which tracks there are.
std::vector<std::string> TimelineQuestionsOf(const timeline::Timeline& timeline) {
  const timeline::TraceInfo& info = timeline.info();
  std::vector<std::string> questions;
  const double length = info.end_ns - info.start_ns;
  for (const auto& [from, to] : {std::pair(0.0, 1.0), std::pair(0.4, 0.5)}) {
    const std::string window = R"(,"start_ns":)" + std::to_string(info.start_ns + from * length) +
                               R"(,"end_ns":)" + std::to_string(info.start_ns + to * length);
    const std::string zoom =
        R"(,"ns_per_px":)" + std::to_string(std::max((to - from) * length / 1000, 1.0)) + "}";
    for (const timeline::TrackInfo& track : info.tracks) {
      const std::string id = std::to_string(track.id);
      const bool is_curve = track.kind == timeline::TrackKind::kQueue ||
                            track.kind == timeline::TrackKind::kMemory ||
                            track.kind == timeline::TrackKind::kCounter;
      if (is_curve) {
        questions.push_back(R"({"ask":"counter","track":)" + id + window + zoom);
        continue;
      }
      questions.push_back(R"({"ask":"spans","tracks":[)" + id + "]" + window + zoom);
      questions.push_back(R"({"ask":"event","track":)" + id + R"(,"row":0})");
    }
    for (const std::string_view kind : {"stream", "api", "op", "python"})
      questions.push_back(R"({"ask":"range","kind":")" + std::string(kind) + "\"" + window + "}");
    questions.push_back(R"({"ask":"gaps")" + window + "}");
    questions.push_back(R"({"ask":"calls")" + window + "}");
  }
  questions.emplace_back(R"({"ask":"search","text":"e","limit":5})");
  std::shuffle(questions.begin(), questions.end(), std::mt19937(5));
  return questions;
}

std::string AnswerOf(PageTimeline* timeline, const std::string& question) {
  std::string answer;
  const Error error = timeline->Answer(question, &answer);
  return error ? error.message : answer;
}

// Compares a timeline of lazy rows with one of rows in memory.
void CompareTimelines(const std::string& path, bool compares_info) {
  std::shared_ptr<const Trace> trace;
  ASSERT_FALSE(Open(path, {}, &trace));
  const std::vector<std::string> questions = TimelineQuestionsOf(timeline::Timeline(trace));
  OpenOptions lazy_options;
  lazy_options.lazy = true;
  PageTimeline whole(path, {}), lazy(path, lazy_options);
  const std::string info = R"({"ask":"info"})";
  const std::string of_whole = AnswerOf(&whole, info), of_lazy = AnswerOf(&lazy, info);
  if (compares_info) {
    EXPECT_EQ(of_lazy, of_whole);
  }
  for (const std::string& question : questions)
    EXPECT_EQ(AnswerOf(&lazy, question), AnswerOf(&whole, question)) << question;
}

TEST_P(LazyGolden, TheTimelineAnswersAsIfAllRowsWereInMemory) {
  CompareTimelines(GetParam(), true);
}

TEST_P(LazyGolden, TheTimelineAnswersAlthoughNoRowsStay) {
  const std::shared_ptr<const Trace> trace = OpenTrace(false);
  timeline::Timeline whole(trace);
  timeline::TimelineOptions options;
  options.grain = {16, 10, 64};
  options.row_limit_bytes = 0;
  TableSet eager;
  std::shared_ptr<const Trace> lazy_trace = OpenTrace(true);
  auto lazy = std::make_unique<timeline::Timeline>(lazy_trace, options);
  for (const std::string& question : TimelineQuestionsOf(whole)) {
    std::string expected, answer;
    const Error error = timeline::Answer(&whole, question, &expected);
    Error lazy_error = timeline::Answer(lazy.get(), question, &answer);
    EXPECT_FALSE(lazy_trace->row_store->IsDamaged());
    while (!eager.Contains(lazy_trace->row_store->Unordered())) {
      eager = eager | lazy_trace->row_store->Unordered();
      lazy_trace = OpenTrace(true, eager);
      lazy = std::make_unique<timeline::Timeline>(lazy_trace, options);
      lazy_error = timeline::Answer(lazy.get(), question, &answer);
    }
    EXPECT_EQ(lazy_error.message, error.message) << question;
    EXPECT_EQ(answer, expected) << question;
    EXPECT_EQ(lazy_trace->row_store->bytes(), 0u) << question;
  }
}

TEST_P(LazyGolden, TheTimelineTakesStepsThatWereFoundElsewhere) {
  const std::string info = R"({"ask":"info"})";
  PageTimeline own(GetParam(), {}), other(GetParam(), {}), without(GetParam(), {});
  int asked = 0;
  other.FindStepsBy(
      [&](std::string*) {
        ++asked;
        std::string packed;
        EXPECT_FALSE(PackedSteps(GetParam(), {}, &packed));
        return packed;
      },
      0);
  EXPECT_EQ(AnswerOf(&other, info), AnswerOf(&own, info));
  EXPECT_EQ(AnswerOf(&other, info), AnswerOf(&own, info));
  EXPECT_EQ(asked, 1);
  without.FindStepsBy(
      [](std::string* fault) {
        *fault = "There is no room.";
        return "";
      },
      0);
  EXPECT_NE(AnswerOf(&without, info).find("There is no room."), std::string::npos);
}

TEST_P(LazyGolden, TheTimelineOfADamagedFileAnswersAsIfItWereReadAtOnce) {
  std::string pattern = std::filesystem::temp_directory_path() / "gpuprof-lazy-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path folder = pattern;
  const std::string path = folder / "p1-1.gpt";
  std::filesystem::copy_file(GetParam(), path);
  // Damages the block in the middle of the file.
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(size / 2);
  file.write("damaged!", 8);
  file.close();
  // Damage that no question has met yet is not told.
  CompareTimelines(path, false);
  std::filesystem::remove_all(folder);
}

std::string NameOf(const testing::TestParamInfo<std::string>& each) {
  return std::filesystem::path(each.param).stem();
}

INSTANTIATE_TEST_SUITE_P(Traces, LazyGolden, testing::ValuesIn(StoredTraces()), NameOf);

}  // namespace
}  // namespace gpuprof::analysis::test
