// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers of processes in other namespaces. A process in a container names itself by its number
// there, in the name of its socket and of its files. gpuprof shows the number that the process has
// for the caller, and then the other one. For control_client.cc and dormant.cc.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/control/control_client.h"

namespace gpuprof::launcher {

// Returns the number of a process in the innermost namespace that it belongs to; `pid` if /proc
// does not tell.
int32_t OwnNumberOf(int32_t pid);

// Gives each socket the number, for this caller, of the process that listens there. The kernel
// tells that of the listener; the socket's name proves nothing. A second name of one socket is
// dropped.
void FindListeners(std::vector<Endpoint>* sockets);

// Returns the other folders that processes, or one process, see as /tmp. Each comes once.
std::vector<std::string> OtherTemporaryFolders();
std::vector<std::string> OtherTemporaryFolders(int32_t pid);

}  // namespace gpuprof::launcher
