// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The port of `gpuprof agent`: its connections and their limits. A connection that does nothing
// useful goes, as any user of the machine can connect. One thread; answers come from any.

#pragma once

#include <memory>
#include <string>

#include "launcher/agent/addresses.h"
#include "launcher/agent/doorkeeper.h"
#include "launcher/agent/rpc_call.h"

namespace gpuprof::launcher {

class AgentServer {
 public:
  static constexpr size_t kMostConnections = 64;

  // Both must outlive the server.
  AgentServer(Doorkeeper* doorkeeper, RpcService* service);
  ~AgentServer();
  AgentServer(const AgentServer&) = delete;
  AgentServer& operator=(const AgentServer&) = delete;

  // Binds to an address. Returns empty, or cause and fix.
  std::string Listen(const SocketAddress& address);
  // Returns the address that clients name.
  std::string Text() const;
  // Answers until `end` can be read. Then all clients are gone.
  void Run(int end);

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace gpuprof::launcher
