// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See http_connection.h.

#include "launcher/serve/http_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace gpuprof::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kWriteTime(20);        // for an answer, and more for what was taken
constexpr size_t kWriteRate = 16 << 10;  // bytes a second that a client must take

}  // namespace

HttpConnection::HttpConnection(codec::OwnedFile socket, int stop)
    : socket_(std::move(socket)), stop_(stop) {
  // The library sends the head and the body apart: neither shall wait for the other's receipt.
  const int on = 1;
  setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool HttpConnection::Take() {
  std::array<char, 4096> bytes;
  for (;;) {
    const size_t room =
        is_ending_ ? bytes.size() : kHeadBytes - std::min(kHeadBytes, input_.size());
    // More is taken when the head is answered.
    if (room == 0 || head_bytes_ != 0) return true;
    const ssize_t got = recv(fd(), bytes.data(), std::min(room, bytes.size()), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    if (is_ending_) return true;
    // The end of a head may lie in both parts.
    const size_t from = input_.size() - std::min<size_t>(input_.size(), 2);
    input_.append(bytes.data(), static_cast<size_t>(got));
    const size_t length = HttpMessages::HeadLength(std::string_view(input_).substr(from));
    if (length != 0) head_bytes_ = from + length;
  }
}

void HttpConnection::DropHead() {
  input_.erase(0, head_bytes_);
  head_bytes_ = HttpMessages::HeadLength(input_);
}

void HttpConnection::BeginAnswer() {
  written_ = 0;
  answer_begin_ = HttpClock::now();
}

bool HttpConnection::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      written_ += static_cast<uint64_t>(sent);
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EINTR && (errno != EAGAIN || !AwaitRoom())) {
      return false;
    }
  }
  return true;
}

// Waits until the client takes bytes. Returns false if its time is over, or the server stops.
bool HttpConnection::AwaitRoom() {
  const HttpClock::time_point end =
      answer_begin_ + kWriteTime + seconds(static_cast<int64_t>(written_ / kWriteRate));
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(end - HttpClock::now()).count();
    std::array<pollfd, 2> both = {{{fd(), POLLOUT, 0}, {stop_, POLLIN, 0}}};
    const int ready = poll(both.data(), both.size(), static_cast<int>(std::max<int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && both[1].revents == 0;
  }
}

bool HttpConnection::IsGone() {
  pollfd end = {fd(), POLLRDHUP, 0};
  return poll(&end, 1, 0) > 0;
}

void HttpConnection::End(std::string_view last) {
  if (!last.empty()) send(fd(), last.data(), last.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(fd(), SHUT_WR);
  input_.clear();
  head_bytes_ = 0;
  is_ending_ = true;
}

}  // namespace gpuprof::launcher
