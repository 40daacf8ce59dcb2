// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/serve/query_answers.h"

#include <utility>

#include "launcher/base/json_text.h"
#include "launcher/base/text.h"

namespace gpuprof::launcher {
namespace {

// Most who ask at a time: each has a thread of the server.
constexpr int kMostQueries = 6;
// An address of a megabyte is of no use.
constexpr size_t kLongestSql = 16 << 10;

QueryLimits& ServedLimits() {
  static QueryLimits limits;
  return limits;
}

HttpAnswer Reason(int status, const std::string& reason) {
  HttpAnswer answer;
  answer.status = status;
  answer.type = "application/json";
  answer.body = JsonText({{"reason", reason}});
  return answer;
}

}  // namespace

void SetServedQueryLimits(const QueryLimits& limits) { ServedLimits() = limits; }

HttpAnswer QueryAnswers::Get(const std::string& sql, const HttpRequest& request) {
  if (sql.size() > kLongestSql) return Reason(422, "The query has more than 16 KiB.");
  struct Count {
    explicit Count(std::atomic<int>* of) : all(of), number(++*of) {}
    ~Count() { --*all; }
    std::atomic<int>* all;
    int number;
  } const count(&waiting_);
  if (count.number > kMostQueries)
    return Reason(422, "Too many queries wait for their turn. Try again later.");
  const std::lock_guard turn(turn_);
  LimitedQuery query;
  query.sql = sql;
  query.limits = ServedLimits();
  HttpAnswer answer;
  answer.type = "application/json";
  const QueryOutcome outcome = RunLimitedQuery(
      {input_}, query,
      [&] { return !is_stopping_ && (request.is_gone == nullptr || !request.is_gone()); },
      [](void* body, std::string_view text) {
        static_cast<std::string*>(body)->append(text);
        return true;
      },
      &answer.body);
  if (!outcome.fault.empty()) return Reason(422, AsSentence(outcome.fault));
  return answer;
}

bool QueryAnswers::Stop() {
  is_stopping_ = true;
  return waiting_ == 0;
}

}  // namespace gpuprof::launcher
