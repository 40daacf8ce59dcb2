// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reports why this process cannot record: to `gpuprof run` if that listens, else to `gpuprof ctl`
// if that has asked, else on stderr. So a service's own log gets a line only in the last case.

#pragma once

#include "proto/obstacle.h"

namespace gpuprof::inject {

// Reads the address and the number of the `gpuprof run` that has started the process, and the user
// that the program began as. Constructor only.
void ReadLauncher() noexcept;

// Returns the number of `gpuprof run`. 0: the process was started otherwise.
int LauncherPid() noexcept;

// Reports the obstacle. Any thread; takes a descriptor for a moment.
void CannotRecord(proto::Obstacle obstacle, int error) noexcept;

// While one lives, `gpuprof ctl` waits for an answer that says what is wrong.
class AnswersControl {
 public:
  AnswersControl() noexcept;
  ~AnswersControl() noexcept;
};

// Returns why no capture could begin, for the answer to `gpuprof ctl`.
const char* WhyNotCaptured() noexcept;

}  // namespace gpuprof::inject
