// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A small HTTP server for this machine alone: it binds to 127.0.0.1 and takes GET, HEAD and POST. A
// body of a request is not read. The library understands requests and writes answers
// (http_messages.h). Connections, their number and their limits of time and size are the server's
// own, because any user of the machine can connect.
//
// One thread waits for the heads of all requests, and answers those that have no key
// (http_desk.h). Requests with a key are answered on other threads.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

struct HttpRequest {
  bool is_post = false;  // otherwise GET or HEAD
  std::string path;      // decoded, without a query; begins with a slash
  std::string host;      // of the header Host; empty if the header is missing, or comes twice
  std::string range;     // of the header Range; empty: all is wanted
  std::string if_range;  // of the header If-Range
  // The header Origin. None: the header is missing. Empty: it comes twice.
  std::optional<std::string> origin;
  std::string mark;  // of the header X-Gpuprof, which no form of a foreign page can send
  // Returns whether the client has hung up. Null: nobody can tell. Valid while it is answered.
  std::function<bool()> is_gone = nullptr;
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  // A part of a file goes out in place of `body`.
  std::shared_ptr<const codec::OwnedFile> file = nullptr;
  uint64_t offset = 0, length = 0;
};

// Returns an answer of one sentence for people.
inline HttpAnswer Refuse(int status, const std::string& words) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = words + "\n";
  return answer;
}

using HttpHandler = std::function<HttpAnswer(const HttpRequest& request)>;

// Who answers, and whom.
struct HttpHandlers {
  // Returns whether the target of a request, as it was sent, begins with the key.
  std::function<bool(std::string_view target)> has_key;
  // Answers a request with the key. It may take long.
  HttpHandler answer;
  // Answers a request without the key. It must not wait: all others do meanwhile.
  HttpHandler refuse;
};

class HttpServer {
 public:
  HttpServer();
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Binds to a port of 127.0.0.1; 0: any free one. Returns empty, or cause and fix.
  std::string Bind(uint16_t port);
  uint16_t port() const;
  // Begins to answer. Returns empty, or cause and fix.
  std::string Start(HttpHandlers handlers);
  // Ends all connections and waits for their threads. The handlers must not wait any more.
  void Stop();

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace gpuprof::launcher
