// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A result that a process of its own computes: what this process is asked for, and its work. It
// reads all rows, as `gpuprof stats` does, and takes memory accordingly. So the server stays small,
// and the work can be ended at any time.

#pragma once

#include <functional>
#include <string>

#include "launcher/reading/comparison.h"
#include "launcher/serve/page_results.h"

namespace gpuprof::launcher {

// The first word of the command line by which the process is started.
inline constexpr char kPageOrderWord[] = "__page";

// Runs the process and waits for it. `is_wanted` is asked several times a second: if it says no,
// the process is ended, and the answer says so. Any thread, which ends no sooner than the process.
PageAnswer RunPageOrder(const PlacedInput& input, const std::string& name,
                        const std::function<bool()>& is_wanted);

// Has such a process find the steps of a recording, and returns them packed. `fault`: why not.
std::string RunStepsOrder(const PlacedInput& input, std::string* fault);

// Does the work of the process: takes the order from descriptor 0, and writes the result to 1. What
// went wrong goes to 2. Returns the exit status.
int CarryOutPageOrder();

}  // namespace gpuprof::launcher
