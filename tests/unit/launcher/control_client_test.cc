// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The control client against a real socket.

#include "launcher/control_client.h"

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

#include "launcher/process_json.h"

namespace gpuprof::launcher {
namespace {

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

  // Answers one request; an empty answer leaves the client waiting until `hold_ms` have passed.
  std::string Serve(const std::string& name, const std::string& answer, int hold_ms = 0) {
    const std::string path = Listen(name);
    server_ = std::thread([this, listener = listener_, answer, hold_ms] {
      const int peer = accept(listener, nullptr, nullptr);
      char buffer[256];
      const ssize_t got = read(peer, buffer, sizeof buffer);
      if (got > 0) request_.assign(buffer, static_cast<size_t>(got));
      EXPECT_EQ(write(peer, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
      std::this_thread::sleep_for(std::chrono::milliseconds(hold_ms));
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
  Serve("77-1a.sock", "result=ok\npid=77\nstate=capturing\nevents=12\nbundle=/a=b\n");
  const auto found = Find();
  ASSERT_THAT(found, SizeIs(1));
  const Answer answer = Ask(found[0], "status", 5000);
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
  Serve("77-1a.sock", "result=error\nerror=no disk; free some\nstate=failed\n");
  Answer answer = Ask(Find()[0], "start", 5000);
  server_.join();
  EXPECT_EQ(answer.kind, Answer::Kind::kRefused);
  EXPECT_EQ(answer.error, "no disk; free some");
  EXPECT_EQ(answer.Get("state"), "failed");
  Serve("78-1a.sock", "hello");
  answer = Ask(Find()[1], "start", 5000);
  server_.join();
  EXPECT_EQ(answer.kind, Answer::Kind::kUnreachable);
}

TEST_F(ControlTest, OneThatEndsBeforeItAnswersIsNobody) {
  Serve("77-1a.sock", "");
  const Answer answer = Ask(Find()[0], "status", 5000);
  server_.join();
  EXPECT_EQ(answer.kind, Answer::Kind::kNobody);
}

TEST_F(ControlTest, AHungProcessIsNotWaitedForForever) {
  Serve("77-1a.sock", "", 400);
  const Answer answer = Ask(Find()[0], "status", 100);
  EXPECT_EQ(answer.kind, Answer::Kind::kUnreachable);
  EXPECT_THAT(answer.error, HasSubstr("did not answer"));
  EXPECT_EQ(answer.peer, getpid()) << "it lives, whatever its socket is called";
}

// Each byte comes in time, and the whole would be an answer; but not within what was allowed for
// it.
TEST_F(ControlTest, OneThatAnswersByteByByteIsNotWaitedForForever) {
  Dribble("77-1a.sock", "result=ok\nstate=" + std::string(300, 'x') + "\n");
  const Answer answer = Ask(Find()[0], "status", 300);
  EXPECT_EQ(answer.kind, Answer::Kind::kUnreachable);
  EXPECT_THAT(answer.error, HasSubstr("did not answer"));
  server_.join();
  EXPECT_TRUE(was_left_) << "the whole answer was taken";
}

TEST_F(ControlTest, NoWordOfAnAnswerIsACommandToATerminal) {
  Serve("77-1a.sock",
        "result=error\nerror=no\x1b]0;title\x07\npid=$(id)\nstate=\xc2\x9b"
        "2J\nprogram=caf\xe9\r\n\x1b[2J=1\n");
  const Answer answer = Ask(Find()[0], "status", 5000);
  EXPECT_EQ(answer.error, "no\\x1b]0;title\\x07");
  EXPECT_EQ(answer.Get("pid"), "77");
  EXPECT_EQ(answer.Get("state"), "\\u009b2J");
  EXPECT_EQ(answer.Get("program"), "caf\xef\xbf\xbd\\x0d");
  EXPECT_EQ(answer.Get("\\x1b[2J"), "1");
}

TEST_F(ControlTest, LiveProcessesAreThoseThatRecordIntoTheBundle) {
  Serve("77-1a.sock", "result=ok\nstate=dormant\nbundle=/tmp/caf\xe9\n");
  EXPECT_THAT(LiveProcesses(Find(), "/tmp/caf\xe9"), ElementsAre(77));
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
  const std::string path = Serve("4194300-1a.sock", "result=ok\n");
  Ask(Find()[0], "status", 1000);
  server_.join();
  const Endpoint endpoint = Find()[0];
  EXPECT_EQ(Ask(endpoint, "status", 1000).kind, Answer::Kind::kNobody);
  RemoveStale(endpoint);
  EXPECT_FALSE(fs::exists(path));
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
