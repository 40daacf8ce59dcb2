// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A session that is kept answers each question as a trace that was opened for this question alone:
// `serve` and `report` say what the command says, whatever was asked before.

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/analysis.h"
#include "analysis/model/table_extents.h"
#include "analysis/passes/session.h"
#include "tests/golden/golden_traces.h"

namespace gpuprof::analysis::test {
namespace {

struct Question {
  std::string_view pass;
  PassOptions options;
};

std::vector<PassOptions> SelectionsOf(const Trace& trace) {
  std::vector<PassOptions> selections(1);
  const auto add = [&](auto set) { set(&selections.emplace_back()); };
  int64_t first = INT64_MAX, last = INT64_MIN;
  for (const Process& process : trace.processes) {
    first = std::min(first, process.first_ns);
    last = std::max(last, process.last_ns);
  }
  const int64_t third = (last - first) / 3;
  add([&](PassOptions* options) { options->window = {first + third, last - third}; });
  add([&](PassOptions* options) { options->window = {first, first + third}; });
  add([&](PassOptions* options) { options->steps = {2, 2}; });
  add([&](PassOptions* options) { options->steps = {1, 3}; });
  add([&](PassOptions* options) { options->devices = {0}; });
  add([&](PassOptions* options) { options->step_marker = "^aten::"; });
  if (!trace.processes.empty())
    add([&](PassOptions* options) { options->pid = trace.processes.back().pid; });
  return selections;
}

std::vector<Question> QuestionsOf(const Trace& trace) {
  std::vector<Question> questions;
  for (const PassOptions& selection : SelectionsOf(trace)) {
    for (const PassInfo& pass : Passes()) {
      std::vector<std::string> keys(pass.keys.begin(), pass.keys.end());
      keys.emplace_back();
      for (const std::string& key : keys) {
        Question question = {pass.name, selection};
        question.options.by = key;
        question.options.symbolize = false;
        questions.push_back(std::move(question));
      }
    }
  }
  return questions;
}

std::string WordsOf(const PassOptions& options) {
  return std::string(options.window ? " --window" : "") + (options.steps ? " --steps" : "") +
         (options.devices.empty() ? "" : " --device") + (options.pid == 0 ? "" : " --pid") +
         (options.step_marker.empty() ? "" : " --step-marker");
}

template <typename Asked>
std::string Answer(Asked&& asked, const Question& question) {
  std::unique_ptr<google::protobuf::Message> result;
  if (const Error error = Run(question.pass, asked, question.options, &result))
    return error.message;
  return Render(*result, Format::kJson, question.options, 0);
}

// As the command reads it.
std::string AnswerAlone(Trace trace, const Question& question) {
  trace.tables = TablesOf(question.pass, question.options);
  for (std::vector<Process>* processes : {&trace.processes, &trace.samplers}) {
    for (Process& process : *processes) {
      for (Track& track : process.tracks) DropTables(trace.tables, &track);
    }
  }
  return Answer(trace, question);
}

class SessionGolden : public testing::TestWithParam<GoldenTrace> {};

TEST_P(SessionGolden, AnswersAsIfItWereTheFirstQuestion) {
  const Trace& trace = GetParam().trace;
  std::vector<Question> questions = QuestionsOf(trace);
  std::shuffle(questions.begin(), questions.end(), std::mt19937(7));
  Session session(trace);
  for (const Question& question : questions) {
    EXPECT_EQ(Answer(&session, question), AnswerAlone(trace, question))
        << question.pass << " --by " << question.options.by << WordsOf(question.options);
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, SessionGolden, testing::ValuesIn(MakeGoldenTraces()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace gpuprof::analysis::test
