// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads all clocks at one moment, for the Clocks table. Drain thread.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/ticks.h"

namespace gpuprof::tracer {

// Appends a serialized Clocks message with one snapshot: of several tries the one with the
// narrowest bracket.
void AppendClockSnapshot(proto::ClockKind kind, std::vector<uint8_t>* out);

}  // namespace gpuprof::tracer
