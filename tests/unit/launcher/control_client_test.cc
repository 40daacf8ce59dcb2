// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The control client against a real socket.

#include "launcher/control/control_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "launcher/control/conversation.h"
#include "launcher/control/process_json.h"

namespace gpuprof::launcher {
namespace {

// Ends what hangs: on a busy machine an answer takes long.
constexpr int kPatienceMs = 600'000;

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ControlTest : public testing::Test {
 protected:
  ControlTest() : root_(testing::TempDir() + "gpc-" + std::to_string(getpid())) {
    folder_ = root_ + "/gpuprof-" + std::to_string(geteuid());
    fs::create_directories(folder_);
  }
  ~ControlTest() override {
    if (server_.joinable()) server_.join();
    for (const int client : clients_) close(client);
    fs::remove_all(root_);
  }

  std::string Listen(const std::string& name) {
    const std::string path = folder_ + "/" + name;
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    return path;
  }

  static std::string Own(const std::string& start) {
    return std::to_string(getpid()) + "-" + start + ".sock";
  }

  static int ListenAbstract(const std::string& name) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    const size_t bytes = offsetof(sockaddr_un, sun_path) + 1 + name.size();
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), static_cast<socklen_t>(bytes)),
              0);
    EXPECT_EQ(listen(listener, 1), 0);
    return listener;
  }

  void FillQueue(int listener) {
    sockaddr_un address = {};
    socklen_t bytes = sizeof address;
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &bytes);
    for (int i = 0; i < 8; ++i) {
      const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
      clients_.push_back(client);
      if (connect(client, reinterpret_cast<sockaddr*>(&address), bytes) != 0) return;
    }
    FAIL() << "the queue is not full";
  }

  // Answers one request. With `holds` the connection stays open until the client leaves.
  std::string Serve(const std::string& name, const std::string& answer, bool holds = false) {
    const std::string path = Listen(name);
    server_ = std::thread([this, listener = listener_, answer, holds] {
      const int peer = accept(listener, nullptr, nullptr);
      char buffer[256];
      const ssize_t got = read(peer, buffer, sizeof buffer);
      if (got > 0) request_.assign(buffer, static_cast<size_t>(got));
      EXPECT_EQ(write(peer, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
      while (holds && read(peer, buffer, sizeof buffer) > 0) {}
      close(peer);
      close(listener);
    });
    return path;
  }

  // A byte at a time, until all is sent or the client has left.
  void Dribble(const std::string& name, const std::string& answer) {
    Listen(name);
    server_ = std::thread([this, listener = listener_, answer] {
      const int peer = accept(listener, nullptr, nullptr);
      for (size_t i = 0; i < answer.size() && !was_left_; ++i) {
        was_left_ = send(peer, &answer[i], 1, MSG_NOSIGNAL) != 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      close(peer);
      close(listener);
    });
  }

  std::vector<Endpoint> Find() { return FindSockets({root_}, "/nonexistent"); }

  std::string root_, folder_, request_;
  int listener_ = -1;
  std::vector<int> clients_;
  bool was_left_ = false;  // by the client, before it had the whole answer
  std::thread server_;
};

TEST(ControlNames, Parse) {
  Endpoint endpoint;
  ASSERT_TRUE(ParseEndpointName("12-5f3a.sock", &endpoint));
  EXPECT_EQ(endpoint.pid, 12);
  EXPECT_EQ(endpoint.start_id, 0x5f3au);
  EXPECT_TRUE(ParseEndpointName("12-5f3a", &endpoint));
  for (const char* bad : {"", "12.sock", "12-.sock", "x-1.sock", "0-1.sock", "12-g.sock", "-1-2"}) {
    EXPECT_FALSE(ParseEndpointName(bad, &endpoint)) << bad;
  }
}

TEST_F(ControlTest, AsksAndParses) {
  Serve(Own("1a"), "result=ok\npid=77\nstate=capturing\nevents=12\nbundle=/a=b\n");
  const auto found = Find();
  ASSERT_THAT(found, SizeIs(1));
  const Answer answer = Ask(found[0], "status", kPatienceMs);
  server_.join();
  EXPECT_EQ(request_, "status\n");
  EXPECT_EQ(answer.kind, Answer::Kind::kOk);
  EXPECT_EQ(answer.Get("state"), "capturing");
  EXPECT_EQ(answer.Get("bundle"), "/a=b");
  const auto json = ProcessesJson({answer});
  EXPECT_EQ(json["processes"][0]["events"], 12);
  EXPECT_EQ(json["processes"][0]["state"], "capturing");
}

TEST_F(ControlTest, RefusalsAndNonsenseAreTold) {
  Serve(Own("1a"), "result=error\nerror=no disk; free some\nstate=failed\n");
  Answer answer = Ask(Find()[0], "start", kPatienceMs);
  server_.join();
  EXPECT_EQ(answer.kind, Answer::Kind::kRefused);
  EXPECT_EQ(answer.error, "no disk; free some");
  EXPECT_EQ(answer.Get("state"), "failed");
  Serve(Own("2b"), "hello");
  answer = Ask(Find()[0], "start", kPatienceMs);
  server_.join();
  EXPECT_EQ(answer.kind, Answer::Kind::kUnreachable);
}

TEST_F(ControlTest, OneThatEndsBeforeItAnswersIsNobody) {
  Serve(Own("1a"), "");
  const Answer answer = Ask(Find()[0], "status", kPatienceMs);
  server_.join();
  EXPECT_EQ(answer.kind, Answer::Kind::kNobody);
}

TEST_F(ControlTest, AHungProcessIsNotWaitedForForever) {
  Serve(Own("1a"), "", true);
  const Answer answer = Ask(Find()[0], "status", 100);
  EXPECT_EQ(answer.kind, Answer::Kind::kUnreachable);
  EXPECT_THAT(answer.error, HasSubstr("did not answer"));
  EXPECT_EQ(answer.peer, getpid()) << "it lives, whatever its socket is called";
}

// Each byte comes in time, and the whole would be an answer; but not within what was allowed for
// it.
TEST_F(ControlTest, OneThatAnswersByteByByteIsNotWaitedForForever) {
  Dribble(Own("1a"), "result=ok\nstate=" + std::string(3000, 'x') + "\n");
  const Answer answer = Ask(Find()[0], "status", 300);
  EXPECT_EQ(answer.kind, Answer::Kind::kUnreachable);
  EXPECT_THAT(answer.error, HasSubstr("did not answer"));
  server_.join();
  EXPECT_TRUE(was_left_) << "the whole answer was taken";
}

TEST_F(ControlTest, NoWordOfAnAnswerIsACommandToATerminal) {
  Serve(Own("1a"),
        "result=error\nerror=no\x1b]0;title\x07\npid=$(id)\nstate=\xc2\x9b"
        "2J\nprogram=caf\xe9\r\n\x1b[2J=1\n");
  const Answer answer = Ask(Find()[0], "status", kPatienceMs);
  EXPECT_EQ(answer.error, "no\\x1b]0;title\\x07");
  EXPECT_EQ(answer.Get("pid"), std::to_string(getpid()));
  EXPECT_EQ(answer.Get("state"), "\\u009b2J");
  EXPECT_EQ(answer.Get("program"), "caf\xef\xbf\xbd\\x0d");
  EXPECT_EQ(answer.Get("\\x1b[2J"), "1");
}

TEST_F(ControlTest, LiveProcessesAreThoseThatRecordIntoTheBundle) {
  Serve(Own("1a"), "result=ok\nstate=dormant\nbundle=/tmp/caf\xe9\n");
  EXPECT_THAT(LiveProcesses(Find(), "/tmp/caf\xe9"), ElementsAre(getpid()));
}

// One of theirs could keep the end of root's command waiting.
TEST_F(ControlTest, OtherUsersAreNotAskedForLiveProcesses) {
  Listen("77-1a.sock");
  auto found = Find();
  ASSERT_THAT(found, SizeIs(1));
  found[0].uid = geteuid() + 1;
  EXPECT_THAT(LiveProcesses(found, "/tmp/b"), IsEmpty());
  pollfd waiting = {listener_, POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0) << "somebody connected";
  close(listener_);
}

TEST_F(ControlTest, LeftoversOfTheDeadAreRemoved) {
  const std::string path = Listen("4194300-1a.sock");
  close(listener_);
  EXPECT_EQ(Ask(Find()[0], "status", kPatienceMs).kind, Answer::Kind::kNobody);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(folder_)) << "it was the last";
}

// Any user can choose the name of a socket.
TEST_F(ControlTest, NothingIsSentToAnotherProcess) {
  Listen(std::to_string(getppid()) + "-1a.sock");
  EXPECT_EQ(Ask(Find()[0], "start", kPatienceMs).kind, Answer::Kind::kForeign);
  const int peer = accept(listener_, nullptr, nullptr);
  char byte = 0;
  EXPECT_EQ(read(peer, &byte, 1), 0);
  close(peer);
  close(listener_);
}

TEST_F(ControlTest, ANameThatFailsIsPassedOver) {
  Endpoint dead, foreign;
  ASSERT_TRUE(ParseEndpointName(Own("3c"), &dead));
  dead.uid = foreign.uid = geteuid();
  dead.address = folder_ + "/" + Own("3c");
  foreign.pid = getppid();
  foreign.address = Listen(Own("2b"));
  const int other = listener_;
  Serve(Own("1a"), "result=ok\nstate=dormant\n");
  Endpoint own = Find().back();
  const Answer answer = AskTogether({{dead, foreign, own}}, "status", kPatienceMs).front();
  EXPECT_EQ(answer.kind, Answer::Kind::kOk);
  close(other);
}

TEST_F(ControlTest, AFullQueueHoldsNobodyUp) {
  Endpoint own, abstract;
  ASSERT_TRUE(ParseEndpointName(Own("1a"), &own));
  own.uid = geteuid();
  abstract = own;
  abstract.is_abstract = true;
  own.address = Listen(Own("1a"));
  const int first = listener_;
  abstract.address = "gpc-test-" + std::to_string(getpid());
  const int second = ListenAbstract(abstract.address);
  for (const int listener : {first, second}) FillQueue(listener);
  const std::vector<Answer> answers = AskTogether({{own}, {abstract}, {own}}, "status", 700);
  EXPECT_EQ(answers[0].kind, Answer::Kind::kUnreachable);
  EXPECT_THAT(answers[0].error, HasSubstr("did not answer"));
  EXPECT_EQ(answers[1].kind, Answer::Kind::kForeign) << "who filled it cannot be known";
  EXPECT_EQ(answers[2].kind, Answer::Kind::kUnreachable);
  for (const int fd : {first, second}) close(fd);
}

TEST(ControlNames, AreProvedByTheListener) {
  const auto is_named = [](int32_t name, uint32_t name_uid, int32_t pid, uint32_t uid) {
    Endpoint endpoint;
    endpoint.pid = name;
    endpoint.uid = name_uid;
    return IsNamedProcess(endpoint, {pid, uid, uid});
  };
  const uint32_t us = geteuid(), other = us + 1;
  EXPECT_TRUE(is_named(getpid(), us, getpid(), us));
  EXPECT_FALSE(is_named(getpid(), us, getppid(), us)) << "another process";
  EXPECT_FALSE(is_named(getpid(), us, getpid(), other)) << "of another user";
  EXPECT_FALSE(is_named(getpid(), other, getpid(), other)) << "the number was used again";
  EXPECT_TRUE(is_named(getpid(), 0, getpid(), 0)) << "a server that gave up root's rights";
  EXPECT_FALSE(is_named(4194300, us, getpid(), us)) << "not its number in any namespace";
  EXPECT_TRUE(is_named(4194300, us, 0, us)) << "in a namespace that is not to be seen";
  EXPECT_FALSE(is_named(getpid(), us, 0, us));
}

TEST_F(ControlTest, ForeignFoldersAndTheAbstractTable) {
  if (geteuid() == 0) {
    // Named after one user, owned by another: nobody's.
    const std::string foreign = root_ + "/gpuprof-12345";
    fs::create_directories(foreign);
    std::ofstream(foreign + "/5-1.sock") << "";
    EXPECT_TRUE(Find().empty());
  }
  const std::string table = root_ + "/unix";
  std::ofstream(table) << "Num RefCount Protocol Flags Type St Inode Path\n"
                       << "0000: 00000002 00000000 00010000 0001 01 1234 @gpuprof-" << geteuid()
                       << "/55-ab\n"
                       << "0000: 00000002 00000000 00010000 0001 01 1235 @other/55-ab\n"
                       << "0000: 00000002 00000000 00010000 0001 01 1236 /run/x.sock\n";
  const auto found = FindSockets({}, table);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_TRUE(found[0].is_abstract);
  EXPECT_EQ(found[0].pid, 55);
}

TEST_F(ControlTest, NewestImageFirst) {
  std::ofstream(folder_ + "/9-1.sock") << "";
  std::ofstream(folder_ + "/9-2.sock") << "";
  const auto found = Find();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].start_id, 2u);
}

}  // namespace
}  // namespace gpuprof::launcher
