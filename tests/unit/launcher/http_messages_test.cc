// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Heads of requests from anybody: what is no request has one answer, which tells nothing.

#include "launcher/serve/http_messages.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace gpuprof::launcher {
namespace {

constexpr char kGood[] =
    "GET /token/files/a%20b?x=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nRange: bytes=0-9\r\n"
    "If-Range: \"tag\"\r\nOrigin: http://127.0.0.1:80\r\nX-Gpuprof: 1\r\n\r\n";

struct Outcome {
  std::string answer;
  std::vector<HttpRequest> requests;
  bool goes_on = false;
  int status = 0;
};

class HttpMessagesTest : public testing::Test {
 protected:
  Outcome Ask(const std::string& head, bool is_last = false) {
    Outcome outcome;
    const HttpHandler handler = [&](const HttpRequest& request) {
      outcome.requests.push_back(request);
      return Refuse(404, "There is nothing of this name.");
    };
    HttpText text;
    outcome.goes_on = messages_.Serve(head, handler, is_last, &text);
    outcome.answer = text.text();
    if (outcome.answer.starts_with("HTTP/1.1 "))
      outcome.status = std::stoi(outcome.answer.substr(9));
    return outcome;
  }

  void ExpectBad(const std::string& head) {
    const Outcome outcome = Ask(head);
    EXPECT_EQ(outcome.answer, HttpMessages::BadRequest()) << head;
    EXPECT_TRUE(outcome.requests.empty()) << head;
    EXPECT_FALSE(outcome.goes_on) << head;
  }

  HttpMessages messages_;
};

TEST_F(HttpMessagesTest, UnderstandsARequest) {
  const Outcome outcome = Ask(kGood);
  ASSERT_EQ(outcome.requests.size(), 1u);
  const HttpRequest& request = outcome.requests[0];
  EXPECT_EQ(request.path, "/token/files/a b");
  EXPECT_EQ(request.host, "127.0.0.1:80");
  EXPECT_EQ(request.range, "bytes=0-9");
  EXPECT_EQ(request.if_range, "\"tag\"");
  EXPECT_EQ(request.origin, "http://127.0.0.1:80");
  EXPECT_EQ(request.mark, "1");
  EXPECT_FALSE(request.is_post);
  EXPECT_EQ(outcome.status, 404);
  EXPECT_TRUE(outcome.goes_on);
  EXPECT_FALSE(Ask(kGood, true).goes_on);
}

TEST_F(HttpMessagesTest, FindsTheEndOfAHeadAndItsTarget) {
  const std::string head = kGood;
  EXPECT_EQ(HttpMessages::HeadLength(head + "GET"), head.size());
  EXPECT_EQ(HttpMessages::HeadLength(head.substr(0, head.size() - 1)), 0u);
  EXPECT_EQ(HttpMessages::TargetOf(head), "/token/files/a%20b?x=1");
  EXPECT_EQ(HttpMessages::TargetOf("GET\r\n\r\n"), "");
}

TEST_F(HttpMessagesTest, AnswersWhatIsNoRequestAlike) {
  for (const std::string target : {"#", "?", "*", "", "token/", "http://127.0.0.1:80/token/"})
    ExpectBad("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string after[] = {
      "Host\r\n",     "Host a\r\n", " Host: a\r\n",   ": a\r\n",
      "Host : a\r\n", "Host: a\n",  "Host: a\rb\r\n", std::string("Host: a\0b\r\n", 11)};
  for (const std::string& line : after) ExpectBad("GET /token/ HTTP/1.1\r\n" + line + "\r\n");
  for (const std::string line :
       {"GET /", "GET / HTTP/9.9", "BREW / HTTP/1.1", "get / HTTP/1.1", "GET / HTTP/1.1 x"})
    ExpectBad(line + "\r\nHost: a\r\n\r\n");
  ExpectBad("\r\n\r\n");
  ExpectBad("");
  ExpectBad("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n");
  ExpectBad("GET / HTTP/1.1\r\nRange: bytes=99999999999999999999999999-\r\n\r\n");
}

TEST_F(HttpMessagesTest, TellsNothingOfAnException) {
  HttpText text;
  const HttpHandler throws = [](const HttpRequest&) -> HttpAnswer {
    throw std::out_of_range("secret words");
  };
  messages_.Serve(kGood, throws, false, &text);
  EXPECT_TRUE(text.text().starts_with("HTTP/1.1 500 "));
  EXPECT_EQ(text.text().find("secret"), std::string::npos);
  EXPECT_EQ(text.text().find("EXCEPTION"), std::string::npos);
}

TEST_F(HttpMessagesTest, DoesNotReadABody) {
  const Outcome outcome =
      Ask("POST /token/control/1/start HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: "
          "100-continue\r\n\r\n");
  ASSERT_EQ(outcome.requests.size(), 1u);
  EXPECT_TRUE(outcome.requests[0].is_post);
  EXPECT_FALSE(outcome.goes_on);
  EXPECT_EQ(outcome.status, 404);
  EXPECT_EQ(Ask("PUT /token/ HTTP/1.1\r\nHost: a\r\n\r\n").status, 405);
}

// Heads that were changed at random are requests or are not. There is no third way.
TEST_F(HttpMessagesTest, ChangedHeads) {
  constexpr std::string_view kPieces[] = {
      "\r\n",   "\n", "\r", " ",  "#",      "?", "%",    "%00",      "/",
      "//",     "..", ":",  "\t", "bytes=", "-", "\xff", "HTTP/1.1", "999999999999999999999",
      "Range: "};
  const std::string good = kGood;
  std::mt19937 random(1);
  const auto below = [&](size_t limit) { return random() % limit; };
  int understood = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string head = good;
    for (size_t changes = 1 + below(4); changes != 0; --changes) {
      const size_t at = below(head.size());
      switch (below(4)) {
        case 0:
          head[at] = static_cast<char>(random());
          break;
        case 1:
          head.erase(at, 1 + below(12));
          break;
        case 2:
          head.insert(at, kPieces[below(std::size(kPieces))]);
          break;
        default:
          head.insert(at, head.substr(below(head.size()), below(40)));
      }
      if (head.empty()) head = "x";
    }
    // The server passes on what has an end.
    const size_t length = HttpMessages::HeadLength(head += "\r\n\r\n");
    head.resize(length);
    const Outcome outcome = Ask(head);
    const bool is_bad = outcome.answer == HttpMessages::BadRequest();
    ASSERT_EQ(outcome.requests.size() + (is_bad ? 1 : 0) + (outcome.status == 405 ? 1 : 0), 1u)
        << head;
    ASSERT_TRUE(is_bad || outcome.status == 404 || outcome.status == 405) << head;
    ASSERT_EQ(outcome.answer.find("EXCEPTION"), std::string::npos) << head;
    for (const HttpRequest& request : outcome.requests) ASSERT_TRUE(request.path.starts_with('/'));
    ++(is_bad ? refused : understood);
  }
  EXPECT_GT(understood, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace gpuprof::launcher
