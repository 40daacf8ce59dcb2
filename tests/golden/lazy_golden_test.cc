// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A trace whose rows stay in its file answers each question as the same trace in memory. All rows
// are let go after each question.

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "analysis/analysis.h"
#include "analysis/model/row_store.h"
#include "analysis/model/trace.h"
#include "analysis/passes/page_input.h"
#include "analysis/passes/session.h"

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

std::string NameOf(const testing::TestParamInfo<std::string>& each) {
  return std::filesystem::path(each.param).stem();
}

INSTANTIATE_TEST_SUITE_P(Traces, LazyGolden, testing::ValuesIn(StoredTraces()), NameOf);

}  // namespace
}  // namespace gpuprof::analysis::test
