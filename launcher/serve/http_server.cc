// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See http_server.h.

#include "launcher/serve/http_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "launcher/serve/http_desk.h"

namespace gpuprof::launcher {
namespace {

constexpr int kThreads = 64;  // that answer

}  // namespace

struct HttpServer::Work {
  codec::OwnedFile listening;
  uint16_t port = 0;
  std::unique_ptr<HttpDesk> desk;
  std::vector<std::thread> threads;
};

HttpServer::HttpServer() : work_(std::make_unique<Work>()) {}

HttpServer::~HttpServer() { Stop(); }

std::string HttpServer::Bind(uint16_t port) {
  work_->listening =
      codec::OwnedFile(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int fd = work_->listening.fd();
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  const int on = 1;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
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

std::string HttpServer::Start(HttpHandlers handlers) {
  work_->desk = std::make_unique<HttpDesk>(work_->listening.fd(), std::move(handlers));
  if (std::string fault = work_->desk->Open(); !fault.empty()) return fault;
  work_->threads.emplace_back([this] { work_->desk->Run(); });
  for (int i = 0; i < kThreads; ++i) work_->threads.emplace_back([this] { work_->desk->Answer(); });
  return "";
}

void HttpServer::Stop() {
  if (work_->threads.empty()) return;
  work_->desk->Stop();
  for (std::thread& thread : work_->threads) thread.join();
  work_->threads.clear();
  work_->desk = nullptr;
}

}  // namespace gpuprof::launcher
