// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See entrance.h.

#include "launcher/serve/entrance.h"

#include <algorithm>

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostHosts = 32, kLongestHost = 260, kLongestPrefix = 512;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// Returns the part of a host before its port.
std::string_view NameOf(std::string_view host) {
  const size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && colon + 1 < host.size() &&
      std::all_of(host.begin() + static_cast<long>(colon) + 1, host.end(), IsDigit);
  return has_port ? host.substr(0, colon) : host;
}

// Returns whether a text is a name or an address of a machine, with or without a port.
bool IsHostName(std::string_view host) {
  const std::string_view name = NameOf(host);
  if (name.empty() || host.size() > kLongestHost || host.size() - name.size() > 6) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return IsDigit(c) || IsLetter(c) || c == '.' || c == '-' || c == '_';
  });
}

}  // namespace

std::string Entrance::AllowHosts(std::string_view names) {
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    const std::string_view name = names.substr(0, comma);
    names.remove_prefix(std::min(comma + 1, names.size()));
    if (!IsHostName(name))
      return "--allow-host takes names such as hub.example.org or localhost:9000, without http:// "
             "and without a path";
    if (hosts_.size() >= kMostHosts) return "--allow-host takes at most 32 names";
    hosts_.push_back(Lower(name));
  }
  return "";
}

std::string Entrance::SetPrefix(std::string_view prefix) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (prefix.empty()) return "";
  const bool is_plain = std::all_of(prefix.begin(), prefix.end(), [](char c) {
    return IsDigit(c) || IsLetter(c) ||
           std::string_view("/-._~@").find(c) != std::string_view::npos;
  });
  const bool is_path = prefix.starts_with('/') && prefix.find("//") == std::string_view::npos &&
                       prefix.find("/.") == std::string_view::npos;
  if (!is_plain || !is_path || prefix.size() > kLongestPrefix)
    return "--url-prefix takes a path such as /user/me/proxy/8001, without the name of the machine";
  prefix_ = prefix;
  return "";
}

bool Entrance::IsAllowed(std::string_view host) const {
  if (!IsHostName(host)) return false;
  const std::string whole = Lower(host);
  const std::string_view name = NameOf(whole);
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& allowed) {
    const bool has_port = NameOf(allowed).size() != allowed.size();
    return has_port ? allowed == whole : allowed == name;
  });
}

// A foreign page can give its own name this machine's address, but it cannot choose this header.
bool Entrance::IsHost(std::string_view host, uint16_t port) const {
  const std::string own = ":" + std::to_string(port);
  return host == "127.0.0.1" + own || host == "localhost" + own || IsAllowed(host);
}

// A browser sends the origin of the page that asks. A proxy may speak HTTPS to it.
bool Entrance::IsOrigin(std::string_view origin, uint16_t port) const {
  constexpr std::string_view kPlain = "http://", kSecure = "https://";
  if (origin.starts_with(kPlain)) return IsHost(origin.substr(kPlain.size()), port);
  return origin.starts_with(kSecure) && IsAllowed(origin.substr(kSecure.size()));
}

std::string_view Entrance::WithoutPrefix(std::string_view path) const {
  const bool has_prefix = !prefix_.empty() && path.starts_with(prefix_) &&
                          path.size() > prefix_.size() && path[prefix_.size()] == '/';
  return has_prefix ? path.substr(prefix_.size()) : path;
}

}  // namespace gpuprof::launcher
