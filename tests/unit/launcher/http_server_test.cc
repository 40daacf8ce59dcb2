// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Connections of the server: who has the key is answered, whatever others do.

#include "launcher/serve/http_server.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "launcher/base/peer_user.h"
#include "launcher/serve/http_messages.h"

namespace gpuprof::launcher {
namespace {

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(server_.Bind(0), "");
    HttpHandlers handlers;
    handlers.has_key = [](std::string_view target) { return target.starts_with("/key/"); };
    handlers.answer = [this](const HttpRequest& request) {
      if (request.path == "/key/wait") may_go_on_.wait(false);
      return Refuse(200, "page");
    };
    handlers.refuse = [](const HttpRequest&) { return Refuse(403, "no key"); };
    ASSERT_EQ(server_.Start(std::move(handlers)), "");
  }
  void TearDown() override {
    GoOn();
    server_.Stop();
  }

  void GoOn() {
    may_go_on_ = true;
    may_go_on_.notify_all();
  }
  codec::OwnedFile Connect() const {
    codec::OwnedFile connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(server_.port());
    EXPECT_EQ(connect(connection.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return connection;
  }
  static void Send(const codec::OwnedFile& to, std::string_view bytes) {
    EXPECT_EQ(send(to.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Returns what comes until the end of an answer of one sentence, or until the end.
  static std::string Receive(const codec::OwnedFile& from, std::string_view end) {
    std::string text;
    char bytes[4096];
    while (!text.ends_with(end)) {
      const ssize_t got = recv(from.fd(), bytes, sizeof bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      text.append(bytes, static_cast<size_t>(got));
    }
    return text;
  }
  static std::string Get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  std::string Ask(const std::string& path) const {
    const codec::OwnedFile connection = Connect();
    Send(connection, Get(path));
    return Receive(connection, path.starts_with("/key/") ? "page\n" : "no key\n");
  }

  HttpServer server_;
  std::atomic<bool> may_go_on_ = false;
};

TEST_F(HttpServerTest, AnswersByTheKey) {
  EXPECT_TRUE(Ask("/key/").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(Ask("/other/").starts_with("HTTP/1.1 403 "));
}

TEST_F(HttpServerTest, AConnectionTakesSeveralRequests) {
  const codec::OwnedFile connection = Connect();
  for (int i = 0; i < 3; ++i) {
    Send(connection, Get("/key/"));
    EXPECT_TRUE(Receive(connection, "page\n").starts_with("HTTP/1.1 200 "));
  }
  // Both at once, and the second one in two pieces.
  Send(connection, Get("/key/1") + Get("/key/2").substr(0, 20));
  EXPECT_TRUE(Receive(connection, "page\n").starts_with("HTTP/1.1 200 "));
  Send(connection, Get("/key/2").substr(20));
  EXPECT_TRUE(Receive(connection, "page\n").starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AHeadMayComeByteByByte) {
  const codec::OwnedFile connection = Connect();
  for (const char c : Get("/key/")) Send(connection, {&c, 1});
  EXPECT_TRUE(Receive(connection, "page\n").starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, WhatIsNoRequestHasOneAnswer) {
  for (const std::string& bytes : {std::string("GET # HTTP/1.1\r\n\r\n"), std::string("\r\n\r\n"),
                                   "GET /key/ " + std::string(17 << 10, 'a')}) {
    const codec::OwnedFile connection = Connect();
    Send(connection, bytes);
    EXPECT_EQ(Receive(connection, "-"), HttpMessages::BadRequest());
  }
  // A head that ends in the middle.
  const codec::OwnedFile connection = Connect();
  Send(connection, "GET /key/ HTTP/1.1\r\nHo");
  shutdown(connection.fd(), SHUT_WR);
  EXPECT_EQ(Receive(connection, "-"), HttpMessages::BadRequest());
}

// More connections than the server keeps begin a request and do not end it.
TEST_F(HttpServerTest, ManyUnfinishedHeadsKeepNobodyOut) {
  std::vector<codec::OwnedFile> unfinished;
  for (int i = 0; i < 400; ++i) {
    unfinished.push_back(Connect());
    Send(unfinished.back(), "G");
    if (i % 50 != 0) continue;
    EXPECT_TRUE(Ask("/key/").starts_with("HTTP/1.1 200 ")) << i;
  }
  EXPECT_TRUE(Ask("/key/").starts_with("HTTP/1.1 200 "));
  // The oldest one had to go, the newest one has its place.
  char byte;
  EXPECT_LE(recv(unfinished.front().fd(), &byte, 1, 0), 0);
  Send(unfinished.back(), Get("/key/").substr(1));
  EXPECT_TRUE(Receive(unfinished.back(), "page\n").starts_with("HTTP/1.1 200 "));
}

// Refused requests are answered although every thread that answers is busy.
TEST_F(HttpServerTest, RefusalsNeedNoThread) {
  std::vector<codec::OwnedFile> busy;
  for (int i = 0; i < 64; ++i) {
    busy.push_back(Connect());
    Send(busy.back(), Get("/key/wait"));
  }
  EXPECT_TRUE(Ask("/other/").starts_with("HTTP/1.1 403 "));
  GoOn();
  for (const codec::OwnedFile& connection : busy)
    EXPECT_TRUE(Receive(connection, "page\n").starts_with("HTTP/1.1 200 "));
}

// More requests than may wait for a thread: none is lost.
TEST_F(HttpServerTest, ManyRequestsWaitForTheirTurn) {
  std::vector<codec::OwnedFile> waiting;
  for (int i = 0; i < 400; ++i) {
    waiting.push_back(Connect());
    Send(waiting.back(), Get("/key/wait"));
  }
  GoOn();
  for (const codec::OwnedFile& connection : waiting)
    EXPECT_TRUE(Receive(connection, "page\n").starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, TheKernelTellsTheUser) {
  const codec::OwnedFile listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listening.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listening.fd(), 1), 0);
  ASSERT_EQ(getsockname(listening.fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const codec::OwnedFile theirs(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(theirs.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
  const codec::OwnedFile ours(accept(listening.fd(), nullptr, nullptr));
  PeerUser users;
  const std::optional<uid_t> user = users.Of(ours.fd());
  if (!user.has_value()) GTEST_SKIP() << "this kernel does not tell";
  EXPECT_EQ(*user, geteuid());
  EXPECT_EQ(users.Of(listening.fd()), std::nullopt);
}

}  // namespace
}  // namespace gpuprof::launcher
