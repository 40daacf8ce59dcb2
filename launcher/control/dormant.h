// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Processes that carry gpuprof, but do not have its thread and its socket yet (inject/dormant.h).
// They are found in /proc, and a signal wakes them.

#pragma once

#include <cstdint>
#include <string>

#include "launcher/control/control_client.h"

namespace gpuprof::launcher {

// Returns the number of the signal that wakes the process, or 0 if it is not dormant. `proc` is
// its folder in /proc. A program that has taken the signal's handler away is not dormant: the
// signal would end it.
int WakeUpSignal(const std::string& proc);

// Finds this user's dormant processes; as root, those of every user.
std::vector<Endpoint> FindDormant();

// Carries out a request to a dormant process. Only a request that begins a capture wakes it.
Answer AskDormant(const Endpoint& endpoint, const std::string& verb, int timeout_ms);

}  // namespace gpuprof::launcher
