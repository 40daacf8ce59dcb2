// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Who may call the agent, and for whose processes. The protocol has no user and no password, and
// TensorFlow's and xprof's clients can send no token. So a client of this machine is asked for by
// the kernel, and a client of another machine must be on a list, or bring the token.
//
// One thread.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "launcher/agent/addresses.h"
#include "launcher/base/peer_user.h"

namespace gpuprof::launcher {

class Doorkeeper {
 public:
  // Reads the token that clients bring from a file of this user's, which others may not read.
  // Returns empty, or cause and fix.
  std::string ReadToken(const std::string& path);
  std::string AllowPeers(std::string_view list) { return peers_.Parse(list); }
  bool HasToken() const { return !token_.empty(); }
  bool HasPeers() const { return !peers_.is_empty(); }

  struct Visitor {
    bool is_refused = false;
    std::string words;          // why
    bool needs_token = false;   // each call must bring it
    std::optional<uid_t> user;  // whose processes it may capture; none: all of the agent's
  };
  // Looks at a new connection.
  Visitor Look(int connection, const SocketAddress& peer);
  // Returns whether the header authorization of a call holds the token.
  bool HoldsToken(std::string_view authorization) const;

 private:
  std::string token_;
  PeerList peers_;
  PeerUser kernel_;
};

}  // namespace gpuprof::launcher
