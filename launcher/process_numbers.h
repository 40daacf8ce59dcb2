// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers of processes in other namespaces. A process in a container names itself by its number
// there, in the name of its socket and of its files. gpuprof speaks of a process by the number that
// it has for the caller, and of the other number only beside. For control_client.cc and dormant.cc.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/control_client.h"

namespace gpuprof::launcher {

// Returns the number of a process in the innermost namespace that it belongs to; `pid` if /proc
// does not tell.
int32_t OwnNumberOf(int32_t pid);

// Gives each socket the number, for this caller, of the process that listens there. The kernel
// tells that of the listener; the socket's name proves nothing. Of two names for one socket one
// stays.
void FindListeners(std::vector<Endpoint>* sockets);

// Returns /tmp as processes see it that have another one there, each once. Of one process, or of
// all.
std::vector<std::string> OtherTemporaryFolders();
std::vector<std::string> OtherTemporaryFolders(int32_t pid);

}  // namespace gpuprof::launcher
