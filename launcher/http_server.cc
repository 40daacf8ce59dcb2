// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See http_server.h. Without the library this file has no server, and Lacks says so.

#include "launcher/http_server.h"

#ifdef GPUPROF_WITH_HTTP

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <httplib.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace gpuprof::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kHeadBytes = 16 << 10;  // of a request: its first line and its headers
constexpr seconds kHeadTime(10);         // for the whole of them
constexpr seconds kIdleTime(5);          // between two requests
constexpr seconds kWriteTime(20);        // for an answer, and more for what was taken
constexpr size_t kWriteRate = 16 << 10;  // bytes a second that a client must take
constexpr int kMostRequests = 1000;      // of a connection
constexpr size_t kPiece = 1 << 20;

// The bytes of one connection. Reads and writes fail when their time is over, when a request has
// too many bytes, and when the server stops.
class Connection : public httplib::Stream {
 public:
  Connection(int fd, int stop) : fd_(fd), stop_(stop) {
    // The library sends the head and the body apart: neither shall wait for the other's receipt.
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  // Waits for the next request. While `is_crowded` holds, others need the thread more.
  bool AwaitRequest(const std::atomic<int>& busy) {
    head_left_ = kHeadBytes;
    const Clock::time_point end = Clock::now() + kIdleTime;
    while (begin_ == end_) {
      if (Wait(POLLIN, std::min(end, Clock::now() + milliseconds(100)))) break;
      if (has_failed_ || Clock::now() >= end || (has_answered_ && busy >= kHttpConnections))
        return false;
    }
    deadline_ = Clock::now() + kHeadTime;
    return true;
  }

  void BeginAnswer() {
    has_answered_ = true;
    written_ = 0;
    answer_begin_ = Clock::now();
  }

  // Says the end and takes what still comes: closing at once would destroy the answer on its way.
  void Finish() {
    shutdown(fd_, SHUT_WR);
    const Clock::time_point end = Clock::now() + seconds(1);
    std::array<char, 4096> rest;
    while (Wait(POLLIN, end) && recv(fd_, rest.data(), rest.size(), MSG_DONTWAIT) > 0) continue;
  }

  ssize_t read(char* bytes, size_t size) override {
    if (begin_ == end_ && !Fill()) return -1;
    const size_t count = std::min({size, end_ - begin_, head_left_});
    if (count == 0) return -1;
    std::memcpy(bytes, buffer_.data() + begin_, count);
    begin_ += count;
    head_left_ -= count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, size_t size) override {
    for (;;) {
      const ssize_t sent = send(fd_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) {
        written_ += static_cast<uint64_t>(sent);
        return sent;
      }
      if (errno == EINTR) continue;
      const seconds more(written_ / kWriteRate);
      if (errno != EAGAIN || !Wait(POLLOUT, answer_begin_ + kWriteTime + more)) {
        has_failed_ = true;
        return -1;
      }
    }
  }

  bool is_readable() const override { return !has_failed_; }
  bool is_writable() const override { return !has_failed_; }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    get_remote_ip_and_port(ip, port);
  }
  socket_t socket() const override { return fd_; }

 private:
  bool Fill() {
    while (Wait(POLLIN, deadline_)) {
      const ssize_t got = recv(fd_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) break;
      begin_ = 0;
      end_ = static_cast<size_t>(got);
      return true;
    }
    has_failed_ = true;
    return false;
  }

  // Returns whether the socket is ready before `end`.
  bool Wait(short what, Clock::time_point end) {
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
      std::array<pollfd, 2> both = {{{fd_, what, 0}, {stop_, POLLIN, 0}}};
      const int ready =
          poll(both.data(), both.size(), static_cast<int>(std::max<int64_t>(left, 0)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready > 0 && both[1].revents != 0) has_failed_ = true;
      return ready > 0 && !has_failed_;
    }
  }

  const int fd_, stop_;
  std::array<char, 4096> buffer_;
  size_t begin_ = 0, end_ = 0, head_left_ = 0;
  Clock::time_point deadline_, answer_begin_ = Clock::now();
  uint64_t written_ = 0;
  bool has_failed_ = false, has_answered_ = false;
};

// Sends a part of a file piece by piece. Returns false if the file has become shorter.
bool SendFile(const HttpAnswer& answer, size_t done, httplib::DataSink* sink) {
  std::string piece(std::min<uint64_t>(kPiece, answer.length - done), '\0');
  ssize_t got;
  do {
    got = pread(answer.file->fd(), piece.data(), piece.size(),
                static_cast<off_t>(answer.offset + done));
  } while (got < 0 && errno == EINTR);
  return got > 0 && sink->write(piece.data(), static_cast<size_t>(got));
}

// The library's reader and writer of messages. It never listens itself.
class Messages : public httplib::Server {
 public:
  Messages(int listening, HttpHandler handler) : handler_(std::move(handler)) {
    svr_sock_ = listening;  // the library ends an answer when it has no socket
    set_keep_alive_max_count(kMostRequests);
    set_keep_alive_timeout(kIdleTime.count());
    set_default_headers({{"Cache-Control", "no-store"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"X-Frame-Options", "DENY"},
                         {"Referrer-Policy", "no-referrer"},
                         {"Cross-Origin-Resource-Policy", "same-origin"}});
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      Answer(request, &response);
      return HandlerResponse::Handled;
    });
  }

  // Reads a request and answers. Returns whether the connection may go on.
  bool Serve(Connection* connection, bool is_last) {
    bool was_understood = false, is_closed = false, has_body = false;
    const bool is_whole =
        process_request(*connection, is_last, is_closed, [&](httplib::Request& request) {
          was_understood = true;
          has_body = (request.method != "GET" && request.method != "HEAD") ||
                     request.has_header("Content-Length") ||
                     request.has_header("Transfer-Encoding");
          // A body is not read: what follows on this connection would be no request.
          if (has_body) request.set_header("Connection", "close");
          // Ranges are the handler's, and nothing is packed: it would cost more than the way.
          request.ranges.clear();
          request.headers.erase("Accept-Encoding");
          connection->BeginAnswer();
        });
    return is_whole && was_understood && !is_closed && !has_body;
  }

 private:
  static std::string Single(const httplib::Request& request, const char* name) {
    return request.get_header_value_count(name) == 1 ? request.get_header_value(name) : "";
  }

  void Answer(const httplib::Request& request, httplib::Response* response) const {
    const bool is_post = request.method == "POST";
    if (!is_post && request.method != "GET" && request.method != "HEAD") {
      response->status = 405;
      response->set_header("Allow", "GET, HEAD");
      response->set_content("This server only answers GET and HEAD.\n",
                            "text/plain; charset=utf-8");
      return;
    }
    std::optional<std::string> origin;
    if (request.has_header("Origin")) origin = Single(request, "Origin");
    auto answer = std::make_shared<HttpAnswer>(
        handler_({is_post, request.path, Single(request, "Host"), Single(request, "Range"),
                  Single(request, "If-Range"), origin, Single(request, "X-Gpuprof")}));
    response->status = answer->status;
    for (const auto& [name, value] : answer->headers) response->set_header(name, value);
    if (answer->file == nullptr || answer->length == 0) {
      response->set_content(answer->body, answer->type);
      return;
    }
    response->set_content_provider(answer->length, answer->type,
                                   [answer](size_t done, size_t, httplib::DataSink& sink) {
                                     return SendFile(*answer, done, &sink);
                                   });
  }

  const HttpHandler handler_;
};

}  // namespace

struct HttpServer::Work {
  // Serves one connection after the other. Each of kHttpConnections threads does.
  void Run() {
    for (;;) {
      const codec::OwnedFile socket(accept4(listening.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (socket.fd() < 0) {
        // The socket that listens was shut down.
        if (is_stopping || errno == EINVAL) return;
        // Descriptors may be short for a while.
        if (errno != EINTR && errno != ECONNABORTED) std::this_thread::sleep_for(milliseconds(50));
        continue;
      }
      ++busy;
      Connection connection(socket.fd(), stop.fd());
      for (int i = 1; connection.AwaitRequest(busy); ++i) {
        if (!messages->Serve(&connection, i == kMostRequests)) break;
      }
      connection.Finish();
      --busy;
    }
  }

  codec::OwnedFile listening, stop;
  uint16_t port = 0;
  std::atomic<int> busy = 0;
  std::atomic<bool> is_stopping = false;
  std::unique_ptr<Messages> messages;
  std::vector<std::thread> threads;
};

HttpServer::HttpServer() : work_(std::make_unique<Work>()) {}

HttpServer::~HttpServer() { Stop(); }

std::string HttpServer::Lacks() { return ""; }

std::string HttpServer::Bind(uint16_t port) {
  work_->listening = codec::OwnedFile(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  work_->stop = codec::OwnedFile(eventfd(0, EFD_CLOEXEC));
  const int fd = work_->listening.fd();
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  const int on = 1;
  if (fd < 0 || work_->stop.fd() < 0 ||
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd, SOMAXCONN) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return "port " + std::to_string(port) +
           " of 127.0.0.1 cannot be listened on: " + std::strerror(errno) +
           "; --port 0 takes any free one";
  }
  work_->port = ntohs(address.sin_port);
  return "";
}

uint16_t HttpServer::port() const { return work_->port; }

void HttpServer::Start(HttpHandler handler) {
  work_->messages = std::make_unique<Messages>(work_->listening.fd(), std::move(handler));
  for (int i = 0; i < kHttpConnections; ++i) work_->threads.emplace_back([this] { work_->Run(); });
}

void HttpServer::Stop() {
  if (work_->threads.empty()) return;
  work_->is_stopping = true;
  shutdown(work_->listening.fd(), SHUT_RD);
  // It stays readable, for all threads.
  eventfd_write(work_->stop.fd(), 1);
  for (std::thread& thread : work_->threads) thread.join();
  work_->threads.clear();
}

}  // namespace gpuprof::launcher

#else

namespace gpuprof::launcher {

struct HttpServer::Work {};

HttpServer::HttpServer() = default;
HttpServer::~HttpServer() = default;
std::string HttpServer::Lacks() {
  return "this gpuprof was built without a server; install cpp-httplib (on Debian and Ubuntu: "
         "libcpp-httplib-dev) and build gpuprof again. 'gpuprof report' writes the same page as a "
         "file";
}
std::string HttpServer::Bind(uint16_t) { return Lacks(); }
uint16_t HttpServer::port() const { return 0; }
void HttpServer::Start(HttpHandler) {}
void HttpServer::Stop() {}

}  // namespace gpuprof::launcher

#endif
