// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See addresses.h.

#include "launcher/agent/addresses.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace gpuprof::launcher {
namespace {

constexpr size_t kAddressBytes = 16;
constexpr int kMappedBits = 96;  // in front of an IPv4 address that is written as IPv6

// Reads an address of numbers as 16 bytes. Returns the bits that stand before it; -1: it is none.
int ReadAddress(const std::string& text, std::string* bytes) {
  in_addr four = {};
  in6_addr six = {};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) {
    *bytes = std::string(10, '\0') + "\xff\xff";
    bytes->append(reinterpret_cast<const char*>(&four), sizeof four);
    return kMappedBits;
  }
  if (inet_pton(AF_INET6, text.c_str(), &six) != 1) return -1;
  bytes->assign(reinterpret_cast<const char*>(&six), sizeof six);
  return 0;
}

std::string BytesOf(const SocketAddress& address) {
  std::string bytes;
  if (address.storage.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address.storage);
    bytes.assign(reinterpret_cast<const char*>(&six.sin6_addr), kAddressBytes);
  } else if (address.storage.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address.storage);
    bytes = std::string(10, '\0') + "\xff\xff";
    bytes.append(reinterpret_cast<const char*>(&four.sin_addr), sizeof four.sin_addr);
  }
  return bytes;
}

bool HasPrefix(const std::string& bytes, const std::string& prefix, int bits) {
  const auto whole = static_cast<size_t>(bits / 8);
  if (bytes.size() != prefix.size() || bytes.compare(0, whole, prefix, 0, whole) != 0) return false;
  if (bits % 8 == 0) return true;
  const int shift = 8 - bits % 8;
  return static_cast<unsigned char>(bytes[whole]) >> shift ==
         static_cast<unsigned char>(prefix[whole]) >> shift;
}

}  // namespace

std::string HostPort::Text() const {
  const bool is_six = host.find(':') != std::string::npos;
  return (is_six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string ParseHostPort(std::string_view text, HostPort* address) {
  constexpr std::string_view kScheme = "grpc://";
  const std::string whole(text);
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  const std::string form = "'" + whole + "' is not HOST:PORT; write node7:9012, or [::1]:9012";
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return form;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address->port);
  if (error != std::errc() || end != port.data() + port.size() || host.empty()) return form;
  if (!is_bracketed && host.find(':') != std::string_view::npos) return form;
  for (const char c : host) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' || c == ':' ||
                          c == '%';
    if (!is_plain) return form;
  }
  address->host = host;
  return "";
}

bool SocketAddress::IsLoopback() const {
  const std::string bytes = BytesOf(*this);
  if (bytes.empty()) return false;
  const bool is_four = HasPrefix(
      bytes, std::string(10, '\0') + "\xff\xff\x7f" + std::string(3, '\0'), kMappedBits + 8);
  return is_four || bytes == std::string(kAddressBytes - 1, '\0') + '\1';
}

std::string SocketAddress::Text() const {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getnameinfo(get(), size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  const bool is_six = std::strchr(host, ':') != nullptr;
  return (is_six ? "[" + std::string(host) + "]" : std::string(host)) + ":" + port;
}

std::string FindAddresses(const HostPort& name, std::vector<SocketAddress>* addresses) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(name.host.c_str(), std::to_string(name.port).c_str(), &hints, &found);
  if (error != 0) return "the name " + name.host + " leads nowhere: " + gai_strerror(error);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress address;
    if (each->ai_addrlen > sizeof address.storage) continue;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
    addresses->push_back(address);
  }
  freeaddrinfo(found);
  return addresses->empty() ? "the name " + name.host + " has no address" : "";
}

std::string PeerList::Parse(std::string_view text) {
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string item(text.substr(at, comma - at));
    at = comma + 1;
    const size_t slash = item.find('/');
    Network network;
    const int before = ReadAddress(item.substr(0, slash), &network.bytes);
    int bits = before == 0 ? 128 : 32;
    bool is_number = true;
    if (slash != std::string::npos) {
      const char* last = item.data() + item.size();
      int given = 0;
      const auto [end, error] = std::from_chars(item.data() + slash + 1, last, given);
      is_number = error == std::errc() && end == last && given >= 0 && given <= bits;
      bits = given;
    }
    if (before < 0 || !is_number)
      return "'" + item + "' is not an address or a network; write 10.1.2.3 or 10.1.0.0/16";
    network.bits = before + bits;
    networks_.push_back(std::move(network));
  }
  return "";
}

bool PeerList::Holds(const SocketAddress& peer) const {
  const std::string bytes = BytesOf(peer);
  for (const Network& network : networks_) {
    if (HasPrefix(bytes, network.bytes, network.bits)) return true;
  }
  return false;
}

}  // namespace gpuprof::launcher
