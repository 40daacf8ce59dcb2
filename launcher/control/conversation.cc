// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See conversation.h.

#include "launcher/control/conversation.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "launcher/base/read_file.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostAnswer = 64 * 1024;
constexpr size_t kMostFiles = 2;

std::string Status(int32_t pid) {
  return ReadFile("/proc/" + std::to_string(pid) + "/status").value_or("");
}

// Returns the numbers of one line of a status file.
std::vector<uint64_t> NumbersOf(const std::string& status, const std::string& key) {
  std::vector<uint64_t> numbers;
  const size_t at = status.find("\n" + key + ":");
  if (at == std::string::npos) return numbers;
  const size_t begin = at + key.size() + 2;
  std::istringstream line(status.substr(begin, status.find('\n', begin) - begin));
  for (uint64_t number = 0; line >> number;) numbers.push_back(number);
  return numbers;
}

bool Holds(const std::vector<uint64_t>& numbers, uint64_t wanted) {
  return std::find(numbers.begin(), numbers.end(), wanted) != numbers.end();
}

// Returns whether the process runs for this user. A number may have been used again since a socket
// began to listen.
bool IsUsers(int32_t pid, uint32_t uid) { return Holds(NumbersOf(Status(pid), "Uid"), uid); }

bool IsThere(int32_t pid) { return access(("/proc/" + std::to_string(pid)).c_str(), F_OK) == 0; }

}  // namespace

bool IsNamedProcess(const Endpoint& name, const ucred& peer) {
  if (peer.uid != name.uid) return false;
  // A server that gave up root's rights began to listen before.
  const bool is_trusted = peer.uid == 0 || peer.uid == geteuid();
  if (peer.pid == name.pid) return is_trusted || IsUsers(name.pid, peer.uid);
  // It lives in a namespace that is not to be seen from here, and has no number here. The number
  // that it has there must not be another user's process here.
  return peer.pid == 0 && peer.uid == geteuid() && !IsThere(name.pid);
}

namespace {

// Connects to a name. Returns the socket, or -1 and errno. ENAMETOOLONG: no socket has such a name.
int Connect(const Endpoint& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t lead = name.is_abstract ? 1 : 0;
  if (name.address.size() + lead >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address.sun_path + lead, name.address.data(), name.address.size());
  const size_t bytes =
      offsetof(sockaddr_un, sun_path) + lead + name.address.size() + (name.is_abstract ? 0 : 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(bytes)) == 0)
    return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

int FindPeer(const Endpoint& name, ucred* peer) {
  const int fd = Connect(name);
  if (fd < 0) return errno;
  socklen_t size = sizeof *peer;
  const int error = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) == 0 ? 0 : errno;
  close(fd);
  return error;
}

Conversation::Conversation(const std::vector<Endpoint>& names, const std::string& verb)
    : names_(names), line_(verb + "\n") {}

Conversation::~Conversation() { Close(); }

void Conversation::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool Conversation::Send(const std::vector<int>& files) const {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostFiles * sizeof(int))] = {};
  iovec part = {const_cast<char*>(line_.data()), line_.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!files.empty() && files.size() <= kMostFiles) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    memcpy(CMSG_DATA(header), files.data(), files.size() * sizeof(int));
  }
  return sendmsg(fd_, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(line_.size());
}

Conversation::Attempt Conversation::Ask(const Endpoint& name) {
  fd_ = Connect(name);
  error_ = fd_ < 0 ? errno : 0;
  if (error_ == EMFILE || error_ == ENFILE) return Attempt::kBusy;
  const bool is_connected = fd_ >= 0;
  ucred peer = {};
  socklen_t size = sizeof peer;
  Attempt result = Attempt::kFailed;
  if (error_ == ECONNREFUSED || error_ == ENOENT) {
    result = Attempt::kNobody;
  } else if (error_ == EAGAIN || error_ == EINTR) {
    // The queue of a process that is not the user's is not waited for.
    result = IsUsers(name.pid, name.uid) ? Attempt::kBusy : Attempt::kForeign;
  } else if (error_ == EACCES || error_ == EPERM) {
    result = Attempt::kForeign;
  } else if (is_connected) {
    const bool is_known = getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    result = is_known && IsNamedProcess(name, peer) ? Attempt::kAsked : Attempt::kForeign;
  }
  if (result == Attempt::kAsked) {
    answer_.peer = peer.pid;
    if (Send(name.given_files)) return result;
    error_ = errno;
    result = error_ == EPIPE || error_ == ECONNRESET ? Attempt::kNobody : Attempt::kFailed;
  }
  const int error = error_;
  Close();
  error_ = error;
  return result;
}

void Conversation::Drop(size_t at, Attempt why) {
  if (why == Attempt::kNobody) RemoveStale(names_[at]);
  was_foreign_ = was_foreign_ || why == Attempt::kForeign;
  names_.erase(names_.begin() + static_cast<long>(at));
}

void Conversation::Try(bool gives_up_on_abstract) {
  int failure = 0;
  for (size_t at = 0; at < names_.size();) {
    Attempt attempt = Ask(names_[at]);
    asked_ = at;
    if (attempt == Attempt::kAsked) return;
    // Who filled the queue of an abstract name cannot be known.
    if (attempt == Attempt::kBusy && names_[at].is_abstract && gives_up_on_abstract)
      attempt = Attempt::kForeign;
    if (attempt == Attempt::kFailed) failure = error_;
    if (attempt == Attempt::kBusy) {
      ++at;
    } else {
      Drop(at, attempt);
    }
  }
  if (!names_.empty()) return;  // their queues are full
  if (failure != 0) return Fail(failure);
  is_done_ = true;
  answer_.kind = was_foreign_ ? Answer::Kind::kForeign : Answer::Kind::kNobody;
  answer_.error = was_foreign_
                      ? "belongs to another user; ask as that user or as root. If the process is "
                        "yours, other users have taken the names of its socket"
                      : "is not listening any more; it may have ended";
}

void Conversation::Receive() {
  char buffer[4096];
  const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
  const int error = got < 0 ? errno : 0;
  if (error == EINTR || error == EAGAIN) return;
  if (got > 0) {
    text_.append(buffer, static_cast<size_t>(got));
    if (text_.size() >= kMostAnswer) Fail(EMSGSIZE);
    return;
  }
  Close();
  // The process ended, or became another program, with the request in its queue.
  if (error == EPIPE || error == ECONNRESET || (error == 0 && text_.empty())) {
    Drop(asked_, Attempt::kNobody);
    return Try(false);
  }
  if (error != 0) return Fail(error);
  is_done_ = true;
  ParseAnswer(text_, names_[asked_], &answer_);
}

void Conversation::LookWhetherStopped() {
  if (!is_done_ && IsStopped(is_asked() ? answer_.peer : names_.front().pid)) Fail(ECANCELED);
}

void Conversation::GiveUp(int timeout_ms) {
  timeout_ms_ = timeout_ms;
  if (!is_done_) Fail(EAGAIN);
}

void Conversation::Fail(int error) {
  Close();
  is_done_ = true;
  answer_.kind = Answer::Kind::kUnreachable;
  // Its queue is full of requests that nobody takes, so it is not known who listens. The name of a
  // file in the user's own folder says it then.
  if (answer_.peer == 0 && !names_.empty() && !names_.front().is_abstract)
    answer_.peer = names_.front().pid;
  if (error == ECANCELED) {
    answer_.error =
        "did not answer, because it is stopped; after kill -CONT it may still carry out the "
        "request";
  } else if (error == EAGAIN) {
    answer_.error = "did not answer within " + std::to_string(timeout_ms_ / 1000) +
                    " s; if it is stopped, continue it (kill -CONT) and try again; it may also "
                    "hang";
  } else {
    answer_.error = std::string("could not be asked: ") + strerror(error);
  }
}

}  // namespace gpuprof::launcher
