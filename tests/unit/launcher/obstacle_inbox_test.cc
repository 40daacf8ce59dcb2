// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Each cause has its own words and remedy; processes with the same cause are told of together.

#include "launcher/record/obstacle_inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>

namespace gpuprof::launcher {
namespace {

using proto::Obstacle;
using proto::ObstacleReport;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ObstacleReport Report(int pid, const char* program, Obstacle obstacle, int error, uint32_t user = 7,
                      uint32_t owner = 7) {
  ObstacleReport report;
  report.facts = {obstacle, error, user, owner, 0, 0};
  report.pid = pid;
  strncpy(report.program, program, sizeof report.program - 1);
  return report;
}

std::string Line(const ObstacleReport& report) { return ObstacleLines({report}).front(); }

TEST(Obstacles, AnotherUserIsNamedWithTheOwner) {
  ObstacleReport report = Report(1, "nginx", Obstacle::kFile, EACCES, 61001, 0);
  EXPECT_EQ(Line(report),
            "cannot record 1 process (nginx): user 61001 may not write into the bundle, which "
            "belongs to user 0; start gpuprof itself as user 61001");
  report.facts.has_changed_user = 1;
  EXPECT_THAT(Line(report), AllOf(HasSubstr("before the program changes its user"),
                                  HasSubstr("as root with 'gpuprof ctl start'")));
  report.facts.was_asked = 1;
  EXPECT_THAT(Line(report), Not(HasSubstr("ctl start"))) << "it was tried";
  report.facts.owner = proto::kUnknownUser;
  EXPECT_THAT(Line(report), Not(HasSubstr("belongs")));
  report.facts.obstacle = Obstacle::kWrite;
  EXPECT_THAT(Line(report), HasSubstr("the trace of 1 process (nginx) cannot be written: user"));
}

TEST(Obstacles, TheOwnersOwnLackOfRightsIsNoChangeOfUser) {
  EXPECT_THAT(Line(Report(1, "x", Obstacle::kFile, EACCES)), HasSubstr("permission denied"));
  EXPECT_THAT(Line(Report(1, "x", Obstacle::kFile, EPERM, 0, 5)), HasSubstr("permission denied"));
}

TEST(Obstacles, EachErrorOfAFileHasItsOwnWords) {
  std::set<std::string> words;
  const int errors[] = {EACCES,  EROFS,        ENOSPC, EDQUOT, EFBIG,  EMFILE, ENFILE, ENOENT,
                        ENOTDIR, ENAMETOOLONG, EEXIST, EIO,    ENOMEM, EIDRM,  ESTALE, ENXIO};
  for (const int error : errors) {
    EXPECT_TRUE(words.insert(proto::FileCause(error).words).second) << error;
    EXPECT_EQ(std::string(proto::FileCause(error).words).find("disk") != std::string::npos,
              error == ENOSPC || error == EDQUOT)
        << error;
  }
  EXPECT_THAT(Line(Report(1, "x", Obstacle::kFile, EFBIG)), HasSubstr("ulimit -f"));
  EXPECT_THAT(Line(Report(1, "x", Obstacle::kFile, EMFILE)), HasSubstr("ulimit -n"));
  EXPECT_THAT(Line(Report(1, "x", Obstacle::kGone, EIDRM)), HasSubstr("removed or renamed"));
}

TEST(Obstacles, EachErrorOfAThreadHasItsOwnWords) {
  std::set<std::string> words;
  for (const int error : {EAGAIN, ENOMEM, EINVAL, EPERM, ENXIO})
    EXPECT_TRUE(words.insert(proto::ThreadCause(error).words).second) << error;
  EXPECT_THAT(Line(Report(1, "x", Obstacle::kThread, EINVAL)),
              AllOf(HasSubstr("PID namespace"), Not(HasSubstr("limit"))));
  EXPECT_THAT(Line(Report(1, "x", Obstacle::kThread, EAGAIN)), HasSubstr("ulimit -u"));
  EXPECT_THAT(Line(Report(1, "x", Obstacle::kThread, ENOMEM)), HasSubstr("ulimit -v"));
}

TEST(Obstacles, ProcessesOfOneCauseAreCountedTogether) {
  const auto lines = ObstacleLines(
      {Report(1, "a", Obstacle::kFile, EACCES, 5, 0), Report(2, "b", Obstacle::kFile, EACCES, 5, 0),
       Report(2, "b", Obstacle::kFile, EACCES, 5, 0), Report(3, "a", Obstacle::kFile, EACCES, 6, 0),
       Report(4, "c\x1b[2J", Obstacle::kThread, EAGAIN)});
  EXPECT_THAT(lines, ElementsAre(HasSubstr("cannot record 2 processes (a, b): user 5 "),
                                 HasSubstr("cannot record 1 process (a): user 6 "),
                                 AllOf(HasSubstr("1 process"), Not(HasSubstr("\x1b")))));
}

class Sender {
 public:
  explicit Sender(const std::string& value) {
    address_.sun_family = AF_UNIX;
    const std::string name = proto::kReportsAddress + value.substr(0, 16);
    memcpy(address_.sun_path + 1, name.data(), name.size());
    bytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  }
  ~Sender() { close(fd_); }
  bool Send(const void* data, size_t bytes) const {
    return sendto(fd_, data, bytes, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&address_),
                  bytes_) == static_cast<ssize_t>(bytes);
  }

 private:
  sockaddr_un address_ = {};
  socklen_t bytes_ = 0;
  int fd_ = -1;
};

TEST(ObstacleInbox, BelievesThoseThatKnowTheToken) {
  ObstacleInbox inbox;
  const std::string value = inbox.Open();
  ASSERT_NE(value, "");
  const Sender sender(value);
  ObstacleReport report = Report(9, "x", Obstacle::kFile, EACCES);
  ASSERT_TRUE(sender.Send(&report, sizeof report)) << "without the token";
  ASSERT_TRUE(sender.Send("short", 5));
  report.token = std::stoull(value.substr(17, 16), nullptr, 16);
  ASSERT_TRUE(sender.Send(&report, sizeof report));
  inbox.Take();
  ASSERT_EQ(inbox.Reports().size(), 1u);
  EXPECT_EQ(inbox.Reports()[0].pid, 9);
}

}  // namespace
}  // namespace gpuprof::launcher
