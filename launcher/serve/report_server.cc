// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See report_server.h.

#include "launcher/serve/report_server.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace gpuprof::launcher {
namespace {

constexpr size_t kTokenBytes = 16;

// Returns the token in hexadecimal digits; empty: the kernel gives no random bytes.
std::string MakeToken() {
  std::array<uint8_t, kTokenBytes> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string token;
  for (const uint8_t byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

// Compares in a time that does not depend on where the texts differ.
bool IsSame(std::string_view token, std::string_view given) {
  unsigned difference = token.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < token.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(token[i] ^ other);
  }
  return difference == 0;
}

HttpAnswer NoToken() {
  return Refuse(403, "The address lacks the token that 'gpuprof serve' printed.");
}

}  // namespace

HttpAnswer RefusePost() {
  HttpAnswer answer = Refuse(405, "This address only answers GET and HEAD.");
  answer.headers = {{"Allow", "GET, HEAD"}};
  return answer;
}

std::string ReportServer::Start(uint16_t port) {
  token_ = MakeToken();
  if (token_.empty())
    return std::string("the kernel gives no random bytes: ") + std::strerror(errno);
  if (std::string fault = server_.Bind(port); !fault.empty()) return fault;
  HttpHandlers handlers;
  handlers.has_key = [this](std::string_view target) { return HasToken(target); };
  handlers.answer = [this](const HttpRequest& request) { return Answer(request); };
  // The token in other letters of an address ("%61") is none: nobody makes such an address.
  handlers.refuse = [this](const HttpRequest& request) {
    return RefusalOf(request).value_or(NoToken());
  };
  return server_.Start(std::move(handlers));
}

std::string ReportServer::Address() const {
  return "http://127.0.0.1:" + std::to_string(server_.port()) + "/" + token_ + "/";
}

std::string ReportServer::ProxiedPath() const {
  if (entrance_.hosts().empty() && entrance_.prefix().empty()) return "";
  return entrance_.prefix() + "/" + token_ + "/";
}

bool ReportServer::Stop() {
  if (!served_->Stop()) return false;
  server_.Stop();
  return true;
}

// Returns whether the first part of a path is the token.
bool ReportServer::HasToken(std::string_view path) const {
  path = entrance_.WithoutPrefix(path);
  if (!path.starts_with('/')) return false;
  path.remove_prefix(1);
  return IsSame(token_, path.substr(0, path.find_first_of("/?#")));
}

// Returns the answer to a request that may not enter.
std::optional<HttpAnswer> ReportServer::RefusalOf(const HttpRequest& request) const {
  if (!entrance_.IsHost(request.host, server_.port())) {
    return Refuse(
        403, "The address must begin with http://127.0.0.1:" + std::to_string(server_.port()) +
                 "/. Behind a proxy, or a tunnel with another port, start 'gpuprof serve' with "
                 "--allow-host NAME, for example --allow-host hub.example.org or --allow-host "
                 "localhost:9000.");
  }
  if (request.origin.has_value() && !entrance_.IsOrigin(*request.origin, server_.port()))
    return Refuse(403, "Another site's page asked for this.");
  if (!HasToken(request.path)) return NoToken();
  return std::nullopt;
}

HttpAnswer ReportServer::Answer(const HttpRequest& request) {
  if (std::optional<HttpAnswer> refusal = RefusalOf(request)) return *refusal;
  const std::string path(entrance_.WithoutPrefix(request.path));
  const size_t slash = path.find('/', 1);
  if (slash == std::string::npos) return Refuse(404, "The page's address ends with a slash.");
  return served_->Answer(path.substr(slash + 1), request);
}

}  // namespace gpuprof::launcher
