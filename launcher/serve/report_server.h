// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The door of `gpuprof serve`: who may ask. Each address begins with a secret token, because every
// user of the machine can reach the port. Requests that a foreign page has made are refused.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "launcher/serve/entrance.h"
#include "launcher/serve/http_server.h"

namespace gpuprof::launcher {

// What lies behind the token. Asked on the threads of connections.
class Served {
 public:
  virtual ~Served() = default;
  // Answers a request. `rest`: its path behind the token and the slash.
  virtual HttpAnswer Answer(const std::string& rest, const HttpRequest& request) = 0;
  // Ends all waits within Answer. Returns false if work goes on that cannot be interrupted.
  virtual bool Stop() = 0;
};

// Returns the answer to a POST where there is nothing to be changed.
HttpAnswer RefusePost();

class ReportServer {
 public:
  // Serves an object that outlives this one. `entrance`: by which names and path it is reached.
  ReportServer(Served* served, Entrance entrance)
      : served_(served), entrance_(std::move(entrance)) {}

  // Begins to answer on a port of 127.0.0.1. Returns empty, or cause and fix.
  std::string Start(uint16_t port);
  // Returns the address of the page, with the token.
  std::string Address() const;
  // Returns where the page is behind a proxy: its path, with the token. Empty: no name, no path.
  std::string ProxiedPath() const;
  // Ends all answers. Returns false if work goes on that cannot be interrupted: then the process
  // must end without a further step.
  bool Stop();

 private:
  bool HasToken(std::string_view path) const;
  HttpAnswer Answer(const HttpRequest& request);
  std::optional<HttpAnswer> RefusalOf(const HttpRequest& request) const;

  Served* const served_;
  const Entrance entrance_;
  std::string token_;
  HttpServer server_;
};

}  // namespace gpuprof::launcher
