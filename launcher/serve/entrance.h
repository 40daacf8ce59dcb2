// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The names and paths that lead to the page of `gpuprof serve`: its own address, and those of a
// tunnel or a proxy. The user names these. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::launcher {

class Entrance {
 public:
  // Takes names with commas between them: "hub.example.org,localhost:9000". A name without a port
  // is allowed with every port. Returns empty, or what is wrong.
  std::string AllowHosts(std::string_view names);
  // Takes the path under which a proxy shows the server: "/user/me/proxy/8001". Returns empty, or
  // what is wrong.
  std::string SetPrefix(std::string_view prefix);

  // Returns whether the header Host names this server. `port`: the server's own.
  bool IsHost(std::string_view host, uint16_t port) const;
  // Returns whether the header Origin is of a page of this server.
  bool IsOrigin(std::string_view origin, uint16_t port) const;
  // Returns a path without the prefix. Proxies may take it away, so a path without it stays.
  std::string_view WithoutPrefix(std::string_view path) const;

  const std::string& prefix() const { return prefix_; }
  const std::vector<std::string>& hosts() const { return hosts_; }

 private:
  bool IsAllowed(std::string_view host) const;

  std::vector<std::string> hosts_;  // in small letters
  std::string prefix_;              // without a slash at its end; empty: none
};

}  // namespace gpuprof::launcher
