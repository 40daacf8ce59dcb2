// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See doorkeeper.h.

#include "launcher/agent/doorkeeper.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "launcher/agent/token_file.h"

namespace gpuprof::launcher {

std::string Doorkeeper::ReadToken(const std::string& path) { return ReadTokenFile(path, &token_); }

Doorkeeper::Visitor Doorkeeper::Look(int connection, const SocketAddress& peer) {
  Visitor visitor;
  if (peers_.Holds(peer)) return visitor;
  if (peer.IsLoopback()) {
    const std::optional<uid_t> user = kernel_.Of(connection);
    if (user && (*user == geteuid() || *user == 0)) return visitor;
    if (user && geteuid() == 0) {
      visitor.user = user;
      return visitor;
    }
    if (!HasToken()) {
      visitor.is_refused = true;
      visitor.words = user ? "the client belongs to user " + std::to_string(*user) +
                                 ", and the agent to another one"
                           : "the kernel does not tell whose client it is";
      return visitor;
    }
  }
  if (HasToken()) {
    visitor.needs_token = true;
    return visitor;
  }
  visitor.is_refused = true;
  visitor.words = "its address is not on the list of --allow-peers";
  return visitor;
}

bool Doorkeeper::HoldsToken(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (token_.empty() || !authorization.starts_with(kScheme)) return false;
  authorization.remove_prefix(kScheme.size());
  // Takes the same time for every wrong token of the right length.
  if (authorization.size() != token_.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < token_.size(); ++i)
    difference |= static_cast<unsigned char>(authorization[i] ^ token_[i]);
  return difference == 0;
}

}  // namespace gpuprof::launcher
