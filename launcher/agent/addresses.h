// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Addresses as people write them: HOST:PORT of a server, and lists of peers. Any thread.

#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::launcher {

struct HostPort {
  std::string host;  // without the brackets of an IPv6 address
  uint16_t port = 0;
  // Returns HOST:PORT, with brackets where they are needed.
  std::string Text() const;
};
// Reads "node7:9012", "10.0.0.1:9012", "[::1]:9012", with or without "grpc://". Returns empty, or
// cause and fix.
std::string ParseHostPort(std::string_view text, HostPort* address);

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  bool IsLoopback() const;
  // Returns HOST:PORT as numbers.
  std::string Text() const;
};
// Looks a name up. Waits for the name server. Returns empty, or cause and fix.
std::string FindAddresses(const HostPort& name, std::vector<SocketAddress>* addresses);

// Networks and single machines: "10.1.0.0/16,192.168.7.3,fd00::/8".
class PeerList {
 public:
  // Returns empty, or cause and fix.
  std::string Parse(std::string_view text);
  bool Holds(const SocketAddress& peer) const;
  bool is_empty() const { return networks_.empty(); }

 private:
  struct Network {
    std::string bytes;  // 16, IPv4 as part of IPv6
    int bits = 0;       // of them that count
  };
  std::vector<Network> networks_;
};

}  // namespace gpuprof::launcher
