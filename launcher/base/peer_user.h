// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Asks the kernel whose a connection of this machine is. One thread for an object.

#pragma once

#include <sys/types.h>

#include <optional>

#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

class PeerUser {
 public:
  PeerUser();
  // Returns the user who opened the other end of a connection of this machine, of
  // 127.0.0.1 or ::1. None: the kernel does
  // not tell, or the other end is closed.
  std::optional<uid_t> Of(int connection);

 private:
  codec::OwnedFile kernel_;
};

}  // namespace gpuprof::launcher
